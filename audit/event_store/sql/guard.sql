-- The guard refuses DDL that would weaken the log: dropped triggers, detached partitions, new grants. A superuser can
-- switch it off, and that is all it can be: what a superuser changes is detected, by roots and chains, not prevented.
--
-- A later migration of the log opens maintenance first, for its own transaction, and leaves a trace:
--   insert into log_guard.maintenance (reason) values ('why');

do $guard$
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    raise notice 'log: only a superuser can make event triggers; DDL on the log is not guarded';
    return;
  end if;

  create schema log_guard;
  revoke all on schema log_guard from public;

  create table log_guard.maintenance (
    id          bigint      generated always as identity primary key,
    reason      text        not null,
    opened_by   text        not null default session_user,
    opened_at   timestamptz not null default clock_timestamp(),
    closed_at   timestamptz,
    transaction xid8        not null default pg_current_xact_id());

  create index maintenance_open on log_guard.maintenance (transaction) where closed_at is null;

  -- Maintenance is closed when its transaction commits, whoever opened it: a migration, a partition, a person.
  -- is_open() compares transaction ids, and in a cluster that a dump is restored into the ids of old ones are still to
  -- come: a transaction that reached one would find the guard open.
  --
  -- Security definer: at commit it runs as whoever opened a stream, who may not touch the table.
  create function log_guard.close_maintenance() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $function$
  begin
    update log_guard.maintenance set closed_at = clock_timestamp() where id = new.id and closed_at is null;
    return null;
  end $function$;

  -- Deferred to the commit; "set constraints all immediate" closes earlier, which is safe. Always: it fires under
  -- session_replication_role = replica too.
  create constraint trigger close_at_commit after insert on log_guard.maintenance
    deferrable initially deferred for each row execute function log_guard.close_maintenance();
  alter table log_guard.maintenance enable always trigger close_at_commit;

  -- Who may do what beyond the owner and what audit/access/database_roles.py gives. A grant carries no name of what it is
  -- on, so what it leaves behind is looked at.
  create view log_guard.foreign_grant as
    select grantee, privilege_type
    from (
      select c.relowner as owner, a.grantee, a.privilege_type
        from pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
        where c.relnamespace = 'log'::pg_catalog.regnamespace
      union all
      select c.relowner, a.grantee, a.privilege_type
        from pg_catalog.pg_class c join pg_catalog.pg_attribute t on t.attrelid = c.oid,
             pg_catalog.aclexplode(t.attacl) a
        where c.relnamespace = 'log'::pg_catalog.regnamespace
      union all
      select n.nspowner, a.grantee, a.privilege_type
        from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
        where n.nspname = 'log'
      union all
      select p.proowner, a.grantee, a.privilege_type
        from pg_catalog.pg_proc p, pg_catalog.aclexplode(p.proacl) a
        where p.pronamespace = 'log'::pg_catalog.regnamespace
      union all
      select 0, d.defaclrole, 'default'
        from pg_catalog.pg_default_acl d where d.defaclnamespace = 'log'::pg_catalog.regnamespace
    ) granted
    where grantee <> owner
      and privilege_type <> 'USAGE'
      and (grantee = 0 or (pg_catalog.pg_get_userbyid(grantee), privilege_type) not in (
        ('cabochon_reader', 'SELECT'), ('cabochon_writer', 'EXECUTE'), ('cabochon_owner', 'EXECUTE'),
        ('cabochon_sequencer', 'EXECUTE')));

  -- What was moved out of the log: a thing that is elsewhere now cannot be told by its identity.
  create view log_guard.misplaced as
    select wanted.name
    from unnest(array['stream', 'stream_head', 'event', 'batch', 'outbox', 'leaf', 'subtree', 'checkpoint', 'key'])
      as wanted (name)
    where not exists (
      select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'log' and c.relname = wanted.name)
    union all
    select wanted.name
    from unnest(array['refuse', 'refuse_step_back', 'protect', 'ensure_month', 'open_stream', 'append', 'seal',
                      'register_key', 'open_desk', 'hold']) as wanted (name)
    where not exists (
      select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'log' and p.proname = wanted.name)
    union all
    select child.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class parent on parent.oid = i.inhparent
    join pg_catalog.pg_class child on child.oid = i.inhrelid
    join pg_catalog.pg_namespace n on n.oid = parent.relnamespace
    where n.nspname = 'log' and child.relnamespace <> parent.relnamespace;

  create function log_guard.is_open() returns boolean
  language sql stable set search_path = pg_catalog, pg_temp as $$
    select exists (select from log_guard.maintenance where transaction = pg_current_xact_id() and closed_at is null)
  $$;

  -- By identity, not by the text of the command: a text is got round by search_path.
  create function log_guard.is_of_log(schema_name text, object_type text, object_identity text) returns boolean
  language sql immutable set search_path = pg_catalog, pg_temp as $$
    select schema_name is not distinct from 'log'
        or (object_type = 'schema' and object_identity = 'log')
        or object_identity ~ '(^| on | for | of )log\.'
  $$;

  create function log_guard.refuse_change() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    command record;
  begin
    for command in select * from pg_event_trigger_ddl_commands() loop
      if (log_guard.is_of_log(command.schema_name, command.object_type, command.object_identity)
          or exists (select from log_guard.misplaced)
          or (command.command_tag in ('GRANT', 'REVOKE', 'ALTER DEFAULT PRIVILEGES')
              and exists (select from log_guard.foreign_grant)))
         and not log_guard.is_open() then
        raise exception 'log: % on % outside maintenance', command.command_tag, coalesce(command.object_identity, 'log')
          using errcode = 'ES002';
      end if;
    end loop;
  end $$;

  create function log_guard.refuse_drop() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    dropped record;
  begin
    for dropped in select * from pg_event_trigger_dropped_objects() loop
      if dropped.schema_name is not distinct from 'log_guard' or dropped.object_identity = 'log_guard' then
        raise exception 'log: drop of %; drop the event triggers first', dropped.object_identity using errcode = 'ES002';
      end if;
      if log_guard.is_of_log(dropped.schema_name, dropped.object_type, dropped.object_identity)
         and not log_guard.is_open() then
        raise exception 'log: drop of % outside maintenance', dropped.object_identity using errcode = 'ES002';
      end if;
    end loop;
  end $$;

  create event trigger log_no_change on ddl_command_end execute function log_guard.refuse_change();
  create event trigger log_no_drop on sql_drop execute function log_guard.refuse_drop();
  alter event trigger log_no_change enable always;
  alter event trigger log_no_drop enable always;
end $guard$;
