-- Cases: opened with the first finding of their identity, and closed by two officers whatever writes here.

insert into audit_deadline (severity, hours) values ('critical', 24), ('major', 72), ('minor', 168), ('info', 720)
  on conflict do nothing;

create function audit_case_of(
  p_stream bigint, p_seq bigint, p_rule text, p_wager text, p_casino bigint, p_severity text, p_opened timestamptz)
returns bigint language plpgsql as $$
declare
  found_id bigint;
begin
  loop
    select id into found_id from audit_case
      where stream_id = p_stream and seq = p_seq and rule = p_rule and wager = p_wager;
    if found then
      return found_id;
    end if;
    insert into audit_case (stream_id, seq, rule, wager, casino_id, weight, state, opened_at, deadline, outcome, reason)
      values (
        p_stream, p_seq, p_rule, p_wager, p_casino,
        coalesce(array_position(array['critical', 'major', 'minor', 'info'], p_severity), 5) - 1,
        'new', p_opened,
        p_opened + make_interval(hours => coalesce((select d.hours from audit_deadline d where d.severity = p_severity), 24)),
        '', '')
      on conflict do nothing;
  end loop;
end $$;

create function audit_open_case() returns trigger language plpgsql as $$
begin
  new.case_id := audit_case_of(
    new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity, new.opened_at);
  return new;
end $$;

create trigger open_case before insert on audit_finding for each row execute function audit_open_case();

create function audit_guard_case() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a case is never deleted' using errcode = 'check_violation';
  end if;
  if (old.stream_id, old.seq, old.rule, old.wager, old.casino_id, old.opened_at, old.weight)
     is distinct from (new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.opened_at, new.weight) then
    raise exception 'what a case is about does not change' using errcode = 'check_violation';
  end if;
  if old.state <> new.state and (old.state, new.state) not in (
    ('new', 'investigating'), ('investigating', 'new'), ('investigating', 'second'),
    ('second', 'investigating'), ('second', 'closed'), ('closed', 'investigating')) then
    raise exception 'a case does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  if new.state = 'closed' and old.state = 'closed' and row(new.*) is distinct from row(old.*) then
    raise exception 'a closed case is reopened before it is changed' using errcode = 'check_violation';
  end if;
  if new.state = 'closed' and old.state = 'second'
     and (old.proposed_by_id, old.outcome, old.reason)
         is distinct from (new.proposed_by_id, new.outcome, new.reason) then
    raise exception 'what the second officer approves is what the first proposed' using errcode = 'check_violation';
  end if;
  if new.state <> 'closed' and new.approved_by_id is not null then
    raise exception 'only a closed case is approved' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_case before update or delete on audit_case for each row execute function audit_guard_case();

-- Those that were found before there were cases.
update audit_finding set case_id = audit_case_of(stream_id, seq, rule, wager, casino_id, severity, opened_at);
