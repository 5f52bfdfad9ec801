-- A process says of itself alone that it works, and not of a time to come: a web server that somebody has taken hides no
-- worker, sequencer, export or backup that no longer does.
create function audit_guard_heartbeat() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  writer regrole := to_regrole(case
    when new.name = 'web' then 'cabochon_web'
    when new.name = 'beat' then 'cabochon_beat'
    when new.name in ('sequencer', 'export', 'exported') then 'cabochon_sequencer'
    when new.name = 'backup' then 'cabochon_operator'
    else 'cabochon_worker' end);
begin
  if new.beat_at > clock_timestamp() + interval '1 minute' then
    raise exception 'a heartbeat is not of a time to come' using errcode = 'check_violation';
  end if;
  if not pg_has_role(current_user, (select c.relowner from pg_class c where c.oid = tg_relid), 'usage')
     and (writer is null or not pg_has_role(current_user, writer, 'usage')) then
    raise exception 'the heartbeat of % is written by its process', new.name using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger guard_heartbeat before insert or update on audit_heartbeat
  for each row execute function audit_guard_heartbeat();

-- A run of a night has not ended when it is begun: who may begin one does not say that a night need not be read again.
create function audit_guard_night_run() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'a run of a night begins before it ends' using errcode = 'check_violation';
end $$;

create trigger guard_night_run before insert on audit_nightrun
  for each row when (new.ended_at is not null) execute function audit_guard_night_run();

revoke all on function audit_guard_heartbeat from public;
revoke all on function audit_guard_night_run from public;
