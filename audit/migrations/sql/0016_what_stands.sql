-- A case opens when a finding comes to stand, never before; and nothing changes its state but by a transition.

create or replace function audit_open_case() returns trigger language plpgsql as $$
begin
  if new.status = 'standing' and new.case_id is null then
    new.case_id := audit_case_of(
      new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity,
      greatest(new.opened_at, coalesce(new.stood_at, new.opened_at)));
  end if;
  return new;
end $$;

drop trigger open_case on audit_finding;
create trigger open_case before insert or update of status on audit_finding
  for each row execute function audit_open_case();

create function audit_guard_finding() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status = 'superseded' then
      raise exception 'a finding begins as pending or as standing' using errcode = 'check_violation';
    end if;
  elsif old.status <> new.status and (old.status, new.status) not in (
    ('pending', 'standing'), ('pending', 'superseded'), ('standing', 'superseded'), ('superseded', 'standing')) then
    raise exception 'a finding does not go from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_finding before insert or update of status on audit_finding
  for each row execute function audit_guard_finding();

create function audit_guard_run() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> 'running' then
      raise exception 'a run begins as running' using errcode = 'check_violation';
    end if;
  elsif old.state <> new.state and (old.state, new.state) not in (
    ('running', 'complete'), ('running', 'failed'), ('complete', 'failed'), ('failed', 'running'),
    ('failed', 'complete'), ('running', 'superseded'), ('failed', 'superseded'), ('complete', 'superseded')) then
    raise exception 'a run does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_run before insert or update of state on audit_adjudicationrun
  for each row execute function audit_guard_run();
