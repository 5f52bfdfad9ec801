-- A casino is also set to the days that it keeps the sum of a person not found, and has a code for its references, which
-- never changes. Otherwise the function is that of casinos.sql.
create or replace function audit_set_casino(envelope jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  stated audit_casino;
  is_all boolean := envelope ->> 'door' = 'command' or (audit_active_officer(envelope ->> 'actor')).is_superuser;
begin
  perform audit_demand_key_keeper(envelope);  -- nobody but a superuser keeps one that is not there yet
  stated := jsonb_populate_record(null::audit_casino, audit_settings_of(envelope));
  -- A web server of the version before does not say these.
  select coalesce(stated.unclaimed_days, c.unclaimed_days, 365), coalesce(stated.reference_code, c.reference_code)
    into stated.unclaimed_days, stated.reference_code
    from (select) one left join audit_casino c on c.id = stated.id;
  if stated.id is distinct from (envelope ->> 'casino_id')::bigint
     or stated.code !~ '^[A-Za-z0-9._:-]{1,100}$' or stated.time_zone !~ '^[A-Za-z0-9._/+-]{1,64}$'
     or stated.priority_threshold < 1 or stated.false_questions not between 0.01 and 12
     or stated.unclaimed_days not between 1 and 36500 then
    raise exception 'not-a-casino' using errcode = 'ES403';
  end if;
  if envelope ->> 'type' = 'casino.added' then
    perform audit_demand_next_id('casino', stated.id);
    insert into audit_casino select stated.*;
  else
    update audit_casino c
      set name = stated.name, time_zone = stated.time_zone, cutoff = stated.cutoff,
          priority_threshold = stated.priority_threshold, false_questions = stated.false_questions,
          unclaimed_days = stated.unclaimed_days,
          reports_from = stated.reports_from, reports_until = stated.reports_until,
          silent_after_min = stated.silent_after_min
      where c.id = stated.id and (c.code, c.is_sandbox, c.reference_code)
          = (stated.code, stated.is_sandbox, stated.reference_code)
        and (is_all or (c.name, c.time_zone, c.priority_threshold, c.false_questions, c.unclaimed_days)
          = (stated.name, stated.time_zone, stated.priority_threshold, stated.false_questions, stated.unclaimed_days));
    if not found then
      raise exception 'not-allowed' using errcode = 'ES403';
    end if;
  end if;
  return null;
exception when data_exception or integrity_constraint_violation then
  raise exception 'not-a-casino' using errcode = 'ES403';
end $$;
