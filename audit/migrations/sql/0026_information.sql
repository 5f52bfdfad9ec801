-- What is for information opens no case: nobody has to decide anything about a coup that was put right in time. The rules
-- that put a question to the house do, of whatever severity. A case that is open stays open, and a finding that joins it
-- is in it: by its cause, or by its own identity where it said something graver before.

create function audit_opens_case(p_rule text, p_severity text) returns boolean language sql immutable parallel safe as $$
  select p_severity <> 'info' or p_rule in (
    'dice-fairness', 'wheel-fairness', 'hold-outside-interval', 'payout-errors-one-sided',
    'goodwill-paid', 'dice-replaced-during-point-series-with-cause')
$$;

drop function audit_incident_case(bigint, bigint, jsonb, text, timestamptz);

-- The open case of the finding that p_causes lead to, made as urgent as a finding of p_severity asks; null if there is
-- none. p_causes are those of one finding: [{"rule", "seq", "wager"}, …], the earliest first. Where the cause is for
-- information and has no case, p_opens says whether this finding opens the case of their incident.
create function audit_incident_case(
  p_stream bigint, p_casino bigint, p_causes jsonb, p_severity text, p_opened timestamptz, p_opens boolean)
returns bigint language plpgsql as $$
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

create or replace function audit_open_case() returns trigger language plpgsql as $$
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

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname in ('audit_open_case', 'audit_incident_case', 'audit_opens_case') loop
    execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', ours);
    execute format('revoke all on function %s from public', ours);
  end loop;
end $$;
