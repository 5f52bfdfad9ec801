-- Maintenance is closed when its transaction commits, whoever opened it: a migration, a partition, a person.
--
-- is_open() compares a stored transaction id with the current one. Migrations left their rows open. That was harmless in
-- the cluster where they ran, because its ids never come back. In a cluster that a dump is restored into they are still
-- to come: the transaction that reached one of them found the guard open.

do $$
begin
  if to_regclass('log_guard.maintenance') is null then  -- no superuser has migrated: there is no guard
    return;
  end if;

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

  update log_guard.maintenance set closed_at = clock_timestamp() where closed_at is null;
end $$;
