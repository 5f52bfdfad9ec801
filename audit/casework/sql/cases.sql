-- Cases: opened with the first finding of their identity that stands, and closed by two officers whatever writes here.
--
-- An incident has one case: that of the cause. A finding that holds only because of another joins the case of the
-- other while that is open; else it opens one of its own, so that nothing new is hidden behind a closed case.
--
-- What is for information opens no case: nobody has to decide anything about a coup that was put right in time. The
-- rules that put a question to the casino do, of whatever severity: somebody has to answer them. A case that is open
-- stays open, and a finding that joins it is in it: by its cause, or by its own identity where it said something graver
-- before.

-- Hours until a case is overdue; a casino may set its own.
insert into audit_deadline (severity, hours) values ('critical', 24), ('major', 72), ('minor', 168), ('info', 720);


-- Opening -----------------------------------------------------------------------------------------------------------

-- Whether a finding of a rule and severity opens a case.
create function audit_opens_case(p_rule text, p_severity text)
returns boolean language sql immutable parallel safe as $$
  select p_severity <> 'info' or p_rule in (
    'dice-fairness', 'wheel-fairness', 'hold-outside-interval', 'payout-errors-one-sided',
    'wheel-signature', 'void-call-bias', 'shooter-fairness', 'table-luck', 'player-luck', 'payout-error-rate',
    'accounting-drift', 'goodwill-paid', 'dice-replaced-during-point-series-with-cause')
$$;

-- A case's deadline is that of its casino, or the installation's where the casino has none of its own.
create function audit_deadline_of(p_casino bigint, p_severity text, p_from timestamptz) returns timestamptz
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_from + make_interval(hours => coalesce(
    (select d.hours from audit_deadline d
      where d.severity = p_severity and (d.casino_id = p_casino or d.casino_id is null)
      order by d.casino_id nulls last limit 1), 24))
$$;

-- The case of a finding's identity, which is opened if there is none.
create function audit_case_of(
  p_stream bigint, p_seq bigint, p_rule text, p_wager text, p_casino bigint, p_severity text, p_opened timestamptz)
returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
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
        'new', p_opened, audit_deadline_of(p_casino, p_severity, p_opened), '', '')
      on conflict do nothing;
  end loop;
end $$;

-- The open case of the finding that p_causes lead to, made as urgent as a finding of p_severity asks; null if there is
-- none. p_causes are those of one finding: [{"rule", "seq", "wager"}, …], the earliest first. Where the cause is for
-- information and has no case, p_opens says whether this finding opens the case of their incident.
create function audit_incident_case(
  p_stream bigint, p_casino bigint, p_causes jsonb, p_severity text, p_opened timestamptz, p_opens boolean)
returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  head record;
  chain jsonb := p_causes;
  found_id bigint;
begin
  for step in 1..10 loop
    exit when jsonb_array_length(chain) = 0;
    select f.id, f.seq, f.rule, f.wager, f.severity, f.causes into head from audit_finding f
      where f.stream_id = p_stream and f.seq = (chain -> 0 ->> 'seq')::bigint and f.rule = chain -> 0 ->> 'rule'
        and f.wager = coalesce(chain -> 0 ->> 'wager', '') and f.status in ('pending', 'standing')
      order by f.id desc limit 1;
    if not found then
      return null;
    end if;
    chain := head.causes;
  end loop;
  if p_opens or audit_opens_case(head.rule, head.severity) then
    found_id := audit_case_of(p_stream, head.seq, head.rule, head.wager, p_casino, head.severity, p_opened);
    update audit_finding set case_id = found_id where id = head.id and status = 'standing' and case_id is null;
  else
    select c.id into found_id from audit_case c
      where c.stream_id = p_stream and c.seq = head.seq and c.rule = head.rule and c.wager = head.wager;
  end if;
  perform from audit_case c where c.id = found_id and c.state <> 'closed' for update;
  if not found then
    return null;
  end if;
  update audit_case c set
      weight = least(c.weight, coalesce(array_position(array['critical', 'major', 'minor', 'info'], p_severity), 5) - 1),
      deadline = least(c.deadline, audit_deadline_of(p_casino, p_severity, p_opened))
    where c.id = found_id
      and (c.weight > coalesce(array_position(array['critical', 'major', 'minor', 'info'], p_severity), 5) - 1
           or c.deadline > audit_deadline_of(p_casino, p_severity, p_opened));
  return found_id;
end $$;

-- A case is opened by the database, whoever finds something: the finder needs no power over cases.
create function audit_open_case() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  opened timestamptz := greatest(new.opened_at, coalesce(new.stood_at, new.opened_at));
  opens boolean := audit_opens_case(new.rule, new.severity);
begin
  if new.status = 'standing' and new.case_id is null then
    if jsonb_array_length(new.causes) > 0 then
      new.case_id := audit_incident_case(new.stream_id, new.casino_id, new.causes, new.severity, opened, opens);
    end if;
    if new.case_id is null and opens then
      new.case_id := audit_case_of(
        new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity, opened);
    elsif new.case_id is null then
      select c.id into new.case_id from audit_case c
        where c.stream_id = new.stream_id and c.seq = new.seq and c.rule = new.rule and c.wager = new.wager;
    end if;
  end if;
  return new;
end $$;

-- A finding of a sandbox opens no case: nobody has to decide anything about an exercise.
create trigger open_case before insert or update of status on audit_finding for each row
  when (new.stream_id < 2251799813685248) execute function audit_open_case();

-- Which finding a case is of, beside the finding itself: counting the open incidents reads an index of them alone.
create function audit_head_of_case() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.heads_case := new.case_id is not null and exists (
    select from audit_case c
      where c.id = new.case_id and c.seq = new.seq and c.rule = new.rule and c.wager = new.wager);
  return new;
end $$;

-- Triggers fire in the order of their names: open_case gives the case.
create trigger set_head_of_case before insert or update of case_id, status, heads_case on audit_finding
  for each row execute function audit_head_of_case();


-- Working on one ----------------------------------------------------------------------------------------------------

-- What a case is about does not change; only its incident may become more urgent. Its state goes as
-- audit/casework/state_machine.py draws it.
create function audit_guard_case() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a case is never deleted' using errcode = 'check_violation';
  end if;
  if (old.stream_id, old.seq, old.rule, old.wager, old.casino_id, old.opened_at)
     is distinct from (new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.opened_at)
     or new.weight > old.weight then
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

create function audit_guard_case_hands() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.state = 'closed' and old.state <> 'closed' and audit_same_hands(new.proposed_by_id, new.approved_by_id) then
    raise exception 'a case is closed by two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_case_hands before update on audit_case for each row execute function audit_guard_case_hands();
