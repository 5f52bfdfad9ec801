-- Who may do what, where this server lets us make roles:
--
--   cabochon_owner   owns the tables and never signs in
--   cabochon_writer  may call append and open_stream, and nothing else: not even read
--   cabochon_reader  reads
--
-- The role that serves requests is granted the last two. What makes and protects partitions stays with the role that
-- migrates, so that the owner cannot change it. Where the server refuses, the log belongs to the role that migrates,
-- and `manage.py check --deploy --database default` says so.

revoke all on schema log from public;
revoke all on all functions in schema log from public;

do $$
declare
  role     text;
  relation regclass;
begin
  if not (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    raise notice 'log: % may not create roles and stays the owner of the log', current_user;
    return;
  end if;
  foreach role in array array['cabochon_owner', 'cabochon_writer', 'cabochon_reader'] loop
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then  -- another database of this server has them
      null;
    end;
  end loop;
  grant usage on schema log to cabochon_owner, cabochon_writer, cabochon_reader;
  grant execute on function log.append, log.open_stream to cabochon_writer;
  grant select on all tables in schema log to cabochon_reader;
  grant execute on function log.ensure_month to cabochon_owner;

  if not (select rolsuper from pg_roles where rolname = current_user) then
    raise notice 'log: only a superuser can hand the tables to cabochon_owner; % stays their owner', current_user;
    return;
  end if;
  for relation in select c.oid from pg_class c where c.relnamespace = 'log'::regnamespace and c.relkind in ('r', 'p') loop
    execute format('alter table %s owner to cabochon_owner', relation);
  end loop;
  alter function log.append owner to cabochon_owner;
  alter function log.open_stream owner to cabochon_owner;
end $$;
