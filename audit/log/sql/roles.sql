-- Who may do what, where this server lets us make roles: the owner never signs in, a writer may only call the
-- functions, a reader only reads. Where it does not, `manage.py check --database default` says so.

do $$
begin
  if not (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    raise notice 'log: no right to create roles, the owner of the log is %', current_user;
    return;
  end if;
  begin create role cabochon_owner nologin; exception when duplicate_object then null; end;
  begin create role cabochon_writer nologin; exception when duplicate_object then null; end;
  begin create role cabochon_reader nologin; exception when duplicate_object then null; end;

  revoke all on all functions in schema log from public;
  grant usage on schema log to cabochon_writer, cabochon_reader;
  grant execute on function log.append, log.open_stream, log.ensure_month to cabochon_writer;
  grant select on all tables in schema log to cabochon_reader, cabochon_writer;
  -- Partitions are made later, by the owner.
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter default privileges for role cabochon_owner in schema log grant select on tables to cabochon_reader, cabochon_writer;
    grant create on schema log to cabochon_owner;
    declare
      r record;
    begin
      for r in select c.oid::regclass as relation from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'log' and c.relkind in ('r', 'p') loop
        execute format('alter table %s owner to cabochon_owner', r.relation);
      end loop;
      for r in select p.oid::regprocedure as routine from pg_proc p join pg_namespace n on n.oid = p.pronamespace
               where n.nspname = 'log' loop
        execute format('alter function %s owner to cabochon_owner', r.routine);
      end loop;
    end;
    alter schema log owner to cabochon_owner;
  end if;
end $$;
