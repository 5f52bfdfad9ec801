-- What opens a case, whose case a question joins, and by when a case is to be closed.
--
-- Information opens no case: an officer reads and signs it once a night (audit/casework/information.py). It opens one
-- where the money stands out, or where the ledger has a question. Cases that information opened before stay as they are.

create or replace function audit_opens_case(p_rule text, p_severity text)
returns boolean language sql immutable parallel safe as $$
  select p_severity <> 'info' or p_rule in (
    'dice-fairness', 'wheel-fairness', 'hold-outside-interval', 'payout-errors-one-sided',
    'wheel-signature', 'void-call-bias', 'shooter-fairness', 'table-luck', 'player-luck', 'payout-error-rate',
    'croupier-luck', 'concentration', 'accounting-drift')
$$;

-- Whether a finding for information is about money that was given away, from the casino's amount on.
create function audit_money_stands_out(p_casino bigint, p_rule text, p_recorded jsonb, p_currency text)
returns boolean language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case when p_rule = 'goodwill-paid' and jsonb_typeof(p_recorded) = 'number'
    then (p_recorded #>> '{}')::numeric
      >= (select c.priority_threshold::numeric * audit_minor_units(p_currency) from audit_casino c where c.id = p_casino)
    else false end
$$;

-- The open case of a question about the same person: luck is one question, whatever the ledger compares it with.
create function audit_case_of_person(p_casino bigint, p_rule text, p_player text, p_croupier text)
returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  luck     text[] := array['player-luck', 'croupier-luck'];
  rules    text[] := case when p_rule = any (luck) then luck else array[p_rule] end;
  found_id bigint;
begin
  if p_player = '' and p_croupier = '' or not audit_opens_case(p_rule, 'info') then
    return null;
  end if;
  select c.id into found_id from audit_finding f join audit_case c on c.id = f.case_id
    where f.casino_id = p_casino and f.status = 'standing' and f.rule = any (rules) and c.rule = any (rules)
      and c.state <> 'closed'
      and case when p_player <> '' then f.player = p_player else f.croupier = p_croupier end
    order by c.id limit 1;
  perform from audit_case c where c.id = found_id and c.state <> 'closed' for update;
  if not found then
    return null;
  end if;
  return found_id;
end $$;

-- The days for which the casino keeps its video: set to CABOCHON_VIDEO_DAYS with each migrate.
create function audit_video_days() returns integer language sql immutable parallel safe as $$ select 7 $$;

-- A deadline is a day before the end of the video, where that is sooner. Video that is gone already changes nothing.
create function audit_before_video_ends(
  p_deadline timestamptz, p_opened timestamptz, p_occurred timestamptz, p_table bigint)
returns timestamptz language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case when p_table is null or v.ends <= p_opened then p_deadline
    else least(p_deadline, greatest(v.ends - interval '1 day', p_opened)) end
  from (select p_occurred + make_interval(days => audit_video_days()) as ends) v
$$;

drop function audit_case_of(bigint, bigint, text, text, bigint, text, timestamptz);

-- The case of a finding's identity, which is opened if there is none. What happened at a table, p_table, was filmed.
create function audit_case_of(
  p_stream bigint, p_seq bigint, p_rule text, p_wager text, p_casino bigint, p_severity text, p_opened timestamptz,
  p_occurred timestamptz, p_table bigint)
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
        'new', p_opened,
        audit_before_video_ends(audit_deadline_of(p_casino, p_severity, p_opened), p_opened, p_occurred, p_table),
        '', '')
      on conflict do nothing;
  end loop;
end $$;

create or replace function audit_incident_case(
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
    select f.id, f.seq, f.rule, f.wager, f.severity, f.causes, f.occurred_at, f.table_id into head from audit_finding f
      where f.stream_id = p_stream and f.seq = (chain -> 0 ->> 'seq')::bigint and f.rule = chain -> 0 ->> 'rule'
        and f.wager = coalesce(chain -> 0 ->> 'wager', '') and f.status in ('pending', 'standing')
      order by f.id desc limit 1;
    if not found then
      return null;
    end if;
    chain := head.causes;
  end loop;
  if p_opens or audit_opens_case(head.rule, head.severity) then
    found_id := audit_case_of(
      p_stream, head.seq, head.rule, head.wager, p_casino, head.severity, p_opened, head.occurred_at, head.table_id);
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

create or replace function audit_open_case() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  opened timestamptz := greatest(new.opened_at, coalesce(new.stood_at, new.opened_at));
  opens boolean := audit_opens_case(new.rule, new.severity)
    or audit_money_stands_out(new.casino_id, new.rule, new.recorded, new.currency);
begin
  if new.status = 'standing' and new.case_id is null then
    if jsonb_array_length(new.causes) > 0 then
      new.case_id := audit_incident_case(new.stream_id, new.casino_id, new.causes, new.severity, opened, opens);
    end if;
    if new.case_id is null and new.severity = 'info' then
      new.case_id := audit_case_of_person(new.casino_id, new.rule, new.player, new.croupier);
    end if;
    if new.case_id is null and opens then
      new.case_id := audit_case_of(
        new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity, opened, new.occurred_at,
        new.table_id);
    elsif new.case_id is null then
      select c.id into new.case_id from audit_case c
        where c.stream_id = new.stream_id and c.seq = new.seq and c.rule = new.rule and c.wager = new.wager;
    end if;
  end if;
  return new;
end $$;

-- A question joins the case of another session, so its event and rule alone do not name a case.
create or replace function audit_head_of_case() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.heads_case := new.case_id is not null and exists (
    select from audit_case c
      where c.id = new.case_id and c.stream_id = new.stream_id and c.seq = new.seq and c.rule = new.rule
        and c.wager = new.wager);
  return new;
end $$;
