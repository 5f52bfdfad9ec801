-- The register takes ``chips_from_elsewhere_from`` and ``chips_outstanding_from``, from which the questions about chips ask.
-- Otherwise the function is that of result_slip.sql. Of audit/register/readings.py; a test compares.
create or replace function audit_reading_is_readable(p_reading text, p_value jsonb) returns boolean
language sql immutable security definer set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(case
    when p_reading not in ('payout_unit', 'commission_unit', 'throw_delay_s', 'call_tolerance_ms', 'seat_limit',
        'result_slip_s', 'commission_rounding', 'commission_refunded_on_withdrawal', 'zero_rule', 'release_value', 'minimum', 'maximum',
        'double_table', 'families', 'still_played_by', 'identification_from', 'reportable_cash_from',
        'chips_from_elsewhere_from', 'chips_outstanding_from', 'shifts') then false
    when p_value = 'null'::jsonb then true
    when p_reading in ('payout_unit', 'commission_unit') then audit_is_integer(p_value, 1)
    when p_reading in ('throw_delay_s', 'call_tolerance_ms', 'result_slip_s', 'seat_limit', 'minimum') then audit_is_integer(p_value, 0)
    when p_reading in ('commission_refunded_on_withdrawal', 'double_table') then jsonb_typeof(p_value) = 'boolean'
    when p_reading = 'commission_rounding' then p_value in ('"ceil"', '"floor"', '"nearest"')
    when p_reading = 'zero_rule' then p_value in ('"choice"', '"half"', '"lose"')
    when p_reading = 'release_value' then p_value in ('"halving"', '"full"')
    when p_reading = 'maximum' then jsonb_typeof(p_value) = 'object' and p_value <> '{}'::jsonb
      and not exists (select from jsonb_each(case jsonb_typeof(p_value) when 'object' then p_value else '{}' end) e
                      where e.key !~ '^[a-z0-9_]{1,40}$' or not audit_is_integer(e.value, 0))
    when p_reading in ('identification_from', 'reportable_cash_from', 'chips_from_elsewhere_from',
        'chips_outstanding_from') then
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
