-- Nobody may call a function or touch the log but whom audit/access/database_roles.py names: it is applied after every
-- migrate, and makes the roles. Here is what it does not see: PostgreSQL lets everybody call a new function, and the
-- partitions of the log, which later ones take their owner from their parent, belong to cabochon_owner.
--
-- What makes and protects partitions stays with the role that migrates, so that the owner cannot change it. Where the
-- server refuses, the log belongs to the role that migrates, and `manage.py check --deploy --database default` says so.

revoke all on schema log from public;
revoke all on all functions in schema log from public;

do $$
declare
  ours     regprocedure;
  relation regclass;
begin
  for ours in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname like 'audit\_%' loop
    execute format('revoke all on function %s from public', ours);
  end loop;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    raise notice 'log: only a superuser can hand the tables to cabochon_owner; % stays their owner', current_user;
    return;
  end if;
  begin
    create role cabochon_owner nologin;
  exception when duplicate_object or unique_violation then  -- another database of this server has it
    null;
  end;
  for relation in select c.oid from pg_class c where c.relnamespace = 'log'::regnamespace and c.relkind in ('r', 'p') loop
    execute format('alter table %s owner to cabochon_owner', relation);
  end loop;
end $$;
