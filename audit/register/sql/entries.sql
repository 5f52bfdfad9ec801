-- The house register: an entry is proposed by one officer who keeps it and approved by another, each by a function that
-- an entry of the audit trail names: see audit/event_store/sql/entries.sql.
--
-- ``audit/register/entries.py`` names the entries, and says the code of a refusal in words. Whether the law allows a
-- value is for the engine to say, before anybody proposes or approves it; here no value gets in that the engine cannot
-- read.

-- Second officers and directors keep the register of their casino, superusers that of every one. Of
-- audit/access/capabilities.py; a test compares.
create function audit_keeps_register(p_actor bigint, p_casino bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from audit_officer o
      where o.id = p_actor and o.is_active
        and (o.is_superuser or exists (
          select from audit_officer_casinos m
            where m.officer_id = o.id and m.casino_id = p_casino and m.role in ('second', 'director'))))
$$;

create function audit_is_integer(p_value jsonb, p_least bigint) returns boolean
language sql immutable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case when jsonb_typeof(p_value) = 'number' and p_value::text ~ '^[0-9]{1,16}$'
    then p_value::text::bigint between p_least and 9007199254740991 else false end
$$;

-- Whether the engine can read a value of a reading; null takes back what an earlier entry decided. Of
-- audit/register/readings.py; a test compares. Thresholds of money per person are amounts by currency; the shifts of a
-- casino are the hour when each begins, by its name.
create function audit_reading_is_readable(p_reading text, p_value jsonb) returns boolean
language sql immutable security definer set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(case
    when p_reading not in ('payout_unit', 'commission_unit', 'throw_delay_s', 'call_tolerance_ms', 'seat_limit',
        'commission_rounding', 'commission_refunded_on_withdrawal', 'zero_rule', 'release_value', 'minimum', 'maximum',
        'double_table', 'families', 'still_played_by', 'identification_from', 'reportable_cash_from',
        'shifts') then false
    when p_value = 'null'::jsonb then true
    when p_reading in ('payout_unit', 'commission_unit') then audit_is_integer(p_value, 1)
    when p_reading in ('throw_delay_s', 'call_tolerance_ms', 'seat_limit', 'minimum') then audit_is_integer(p_value, 0)
    when p_reading in ('commission_refunded_on_withdrawal', 'double_table') then jsonb_typeof(p_value) = 'boolean'
    when p_reading = 'commission_rounding' then p_value in ('"ceil"', '"floor"', '"nearest"')
    when p_reading = 'zero_rule' then p_value in ('"choice"', '"half"', '"lose"')
    when p_reading = 'release_value' then p_value in ('"halving"', '"full"')
    when p_reading = 'maximum' then jsonb_typeof(p_value) = 'object' and p_value <> '{}'::jsonb
      and not exists (select from jsonb_each(case jsonb_typeof(p_value) when 'object' then p_value else '{}' end) e
                      where e.key !~ '^[a-z0-9_]{1,40}$' or not audit_is_integer(e.value, 0))
    when p_reading in ('identification_from', 'reportable_cash_from') then
      jsonb_typeof(p_value) = 'object' and p_value <> '{}'::jsonb
      and not exists (select from jsonb_each(case jsonb_typeof(p_value) when 'object' then p_value else '{}' end) e
                      where e.key !~ '^[A-Z]{3}$' or not audit_is_integer(e.value, 1))
    when p_reading = 'shifts' then
      jsonb_typeof(p_value) = 'object' and p_value <> '{}'::jsonb
      and (select count(*) <= 12 and count(*) = count(distinct e.value) and bool_and(
             e.key ~ '^[A-Za-z0-9À-ÖØ-öø-ÿŒœ]([A-Za-z0-9À-ÖØ-öø-ÿŒœ ''’.-]{0,38}[A-Za-z0-9À-ÖØ-öø-ÿŒœ])?$'
             and jsonb_typeof(e.value) = 'string' and e.value #>> '{}' ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$')
           from jsonb_each(case jsonb_typeof(p_value) when 'object' then p_value else '{}' end) e)
    when p_reading = 'families' then jsonb_typeof(p_value) = 'array' and p_value <> '[]'::jsonb
      and not exists (
        select from jsonb_array_elements(case jsonb_typeof(p_value) when 'array' then p_value else '[]' end) e
          where jsonb_typeof(e) <> 'string' or e #>> '{}' !~ '^[a-z_]{1,40}$')
    when p_reading = 'still_played_by' then jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~ '\S'
      and length(p_value #>> '{}') <= 500
  end, false)
$$;

alter table audit_registerentry
  add constraint register_entry_is_readable check (audit_reading_is_readable(reading, coalesce(value, 'null'))),
  add constraint register_entry_has_gaming_days check (
    first_day between '1990-01-01' and '2100-12-31' and coalesce(last_day, first_day) <= '2100-12-31');

-- An entry is decided once, by two people if it is approved, and what is decided is what was proposed.
create function audit_guard_register_entry() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'an entry of the register is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'waiting' then
      raise exception 'an entry of the register begins with waiting' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if old.state <> 'waiting' then
    raise exception 'an entry of the register is decided once' using errcode = 'check_violation';
  end if;
  if (old.id, old.casino_id, old.table_id, old.ruleset, old.reading, old.value, old.first_day, old.last_day, old.reason,
      old.proposed_by_id, old.proposed_at)
     is distinct from (new.id, new.casino_id, new.table_id, new.ruleset, new.reading, new.value, new.first_day,
      new.last_day, new.reason, new.proposed_by_id, new.proposed_at) then
    raise exception 'what is decided is what was proposed' using errcode = 'check_violation';
  end if;
  if new.state = 'approved' and audit_same_hands(new.proposed_by_id, new.decided_by_id) then
    raise exception 'an entry of the register takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_register_entry before insert or update or delete on audit_registerentry
  for each row execute function audit_guard_register_entry();

-- data: reading, value (JSON, as text), ruleset and table ("" for every one), first_day, last_day ("" for none),
-- reason.
create function audit_act_register_proposed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor   bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino  bigint := (envelope ->> 'casino_id')::bigint;
  at      bigint;
  added   bigint;
begin
  if not audit_keeps_register(actor, casino) then
    raise exception 'not-keeper' using errcode = 'ES403';
  end if;
  if envelope #>> '{data,table}' <> '' then
    select t.id into at from audit_gamingtable t
      where t.casino_id = casino and t.code = envelope #>> '{data,table}';
    if not found then
      raise exception 'no-such-table' using errcode = 'ES403';
    end if;
  end if;
  insert into audit_registerentry
      (casino_id, table_id, ruleset, reading, value, first_day, last_day, reason, state, proposed_by_id, proposed_at,
       decision_reason)
    values (casino, at, envelope #>> '{data,ruleset}', envelope #>> '{data,reading}',
            nullif((envelope #>> '{data,value}')::jsonb, 'null'::jsonb), (envelope #>> '{data,first_day}')::date,
            nullif(envelope #>> '{data,last_day}', '')::date, trim(coalesce(envelope #>> '{data,reason}', '')),
            'waiting', actor, (envelope ->> 'occurred_at')::timestamptz, '')
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'waiting-already' using errcode = 'ES403';
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- data: id, and what was proposed, as above, and by whom. Who proposed an entry withdraws it; another approves or
-- declines.
create function audit_decide_register_entry(envelope jsonb, p_state text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor    bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino   bigint := (envelope ->> 'casino_id')::bigint;
  proposed jsonb  := envelope -> 'data';
  next     bigint;
  entry    audit_registerentry;
  proposer audit_officer;
begin
  if not audit_keeps_register(actor, casino) then
    raise exception 'not-keeper' using errcode = 'ES403';
  end if;
  perform from audit_casino c where c.id = casino for no key update;  -- versions are counted one after the other
  select * into entry from audit_registerentry e
    where e.id = (proposed ->> 'id')::bigint and e.casino_id = casino for update;
  select * into proposer from audit_officer o where o.id = entry.proposed_by_id;
  if entry.id is null
     or (entry.reading, coalesce(entry.value, 'null'), entry.ruleset, entry.first_day, proposer.username)
        is distinct from (proposed ->> 'reading', (proposed ->> 'value')::jsonb, proposed ->> 'ruleset',
          (proposed ->> 'first_day')::date, proposed ->> 'proposed_by')
     or entry.last_day is distinct from nullif(proposed ->> 'last_day', '')::date
     or coalesce((select t.code from audit_gamingtable t where t.id = entry.table_id), '')
        is distinct from proposed ->> 'table' then
    raise exception 'no-such-entry' using errcode = 'ES403';
  end if;
  if entry.state <> 'waiting' then
    raise exception 'decided' using errcode = 'ES403';
  end if;
  if p_state = 'withdrawn' and entry.proposed_by_id <> actor then
    raise exception 'not-own-proposal' using errcode = 'ES403';
  end if;
  if p_state <> 'withdrawn' and entry.proposed_by_id = actor then
    raise exception 'own-proposal' using errcode = 'ES403';
  end if;
  if p_state = 'approved' then
    if audit_same_hands(entry.proposed_by_id, actor) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
    if not audit_keeps_register(entry.proposed_by_id, casino) then
      raise exception 'proposer-left' using errcode = 'ES403';
    end if;
    select coalesce(max(e.version), 0) + 1 into next from audit_registerentry e where e.casino_id = casino;
  end if;
  update audit_registerentry
    set state = p_state, version = next, decided_by_id = actor, decided_at = (envelope ->> 'occurred_at')::timestamptz,
        decision_reason = trim(coalesce(proposed ->> 'reason', ''))
    where id = entry.id;
  return jsonb_build_object('id', entry.id, 'version', next);
end $$;

-- register.approved, register.declined, register.withdrawn.
do $$
declare
  state text;
begin
  foreach state in array array['approved', 'declined', 'withdrawn'] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_decide_register_entry(envelope, %L) $f$',
      'audit_act_register_' || state, state);
  end loop;
end $$;
