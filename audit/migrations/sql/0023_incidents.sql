-- An incident has one case: that of the cause. A finding that holds only because of another joins the case of the
-- other while that is open; else it opens one of its own, so that nothing new is hidden behind a closed case.

drop function audit_finding_content(bigint, text, bigint[], jsonb, jsonb, text, jsonb, boolean, timestamptz);

create function audit_deadline_of(p_casino bigint, p_severity text, p_from timestamptz) returns timestamptz
language sql stable as $$
  select p_from + make_interval(hours => coalesce(
    (select d.hours from audit_deadline d
      where d.severity = p_severity and (d.casino_id = p_casino or d.casino_id is null)
      order by d.casino_id nulls last limit 1), 24))
$$;

create or replace function audit_case_of(
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
        'new', p_opened, audit_deadline_of(p_casino, p_severity, p_opened), '', '')
      on conflict do nothing;
  end loop;
end $$;

-- The open case of the finding that p_causes lead to, made as urgent as a finding of p_severity asks; null if there is
-- none. p_causes are those of one finding: [{"rule", "seq", "wager"}, …], the earliest first.
create function audit_incident_case(
  p_stream bigint, p_casino bigint, p_causes jsonb, p_severity text, p_opened timestamptz) returns bigint
language plpgsql as $$
declare
  head record;
  chain jsonb := p_causes;
  found_id bigint;
begin
  for step in 1..10 loop
    exit when jsonb_array_length(chain) = 0;
    select f.seq, f.rule, f.wager, f.severity, f.causes into head from audit_finding f
      where f.stream_id = p_stream and f.seq = (chain -> 0 ->> 'seq')::bigint and f.rule = chain -> 0 ->> 'rule'
        and f.wager = coalesce(chain -> 0 ->> 'wager', '') and f.status in ('pending', 'standing')
      order by f.id desc limit 1;
    if not found then
      return null;
    end if;
    chain := head.causes;
  end loop;
  found_id := audit_case_of(p_stream, head.seq, head.rule, head.wager, p_casino, head.severity, p_opened);
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

create or replace function audit_open_case() returns trigger language plpgsql as $$
declare
  opened timestamptz := greatest(new.opened_at, coalesce(new.stood_at, new.opened_at));
begin
  if new.status = 'standing' and new.case_id is null then
    if jsonb_array_length(new.causes) > 0 then
      new.case_id := audit_incident_case(new.stream_id, new.casino_id, new.causes, new.severity, opened);
    end if;
    new.case_id := coalesce(new.case_id, audit_case_of(
      new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity, opened));
  end if;
  return new;
end $$;

-- What a case is about does not change; only its incident may become more urgent.
create or replace function audit_guard_case() returns trigger language plpgsql as $$
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

-- What a finding is about never changes, nor what one of a run says, but for what was put right since.
create or replace function audit_keep_finding() returns trigger language plpgsql as $$
begin
  if (old.stream_id, old.seq, old.rule, old.wager, old.casino_id, old.opened_at)
       is distinct from (new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.opened_at)
     or old.run_id is not null
       and (old.severity, old.evidence, old.expected, old.recorded, old.provision, old.facts, old.after_loss,
            old.occurred_at, old.player, old.croupier, old.provisions, old.causes)
         is distinct from (new.severity, new.evidence, new.expected, new.recorded, new.provision, new.facts,
            new.after_loss, new.occurred_at, new.player, new.croupier, new.provisions, new.causes) then
    raise exception 'what a finding says does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname in ('audit_open_case', 'audit_case_of', 'audit_deadline_of', 'audit_incident_case') loop
    execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', ours);
    execute format('revoke all on function %s from public', ours);
  end loop;
end $$;
