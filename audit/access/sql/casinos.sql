-- Casinos and tables: added and changed by functions alone, each with its entry: see audit/event_store/sql/entries.sql.
-- A superuser or a command adds a casino. Its keepers set its hours and its tables; a superuser sets all else.
--
-- data: id, and every setting as audit/access/casino_settings.py says it: "" for nothing, 1 for yes.

-- The id that the entry of a new row says.
create function audit_next_id(p_of text) returns bigint
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select nextval(pg_get_serial_sequence('public.audit_' || p_of, 'id'))
    where p_of in ('casino', 'gamingtable', 'webhook')
$$;

create function audit_demand_next_id(p_of text, p_id bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if p_id is null or p_id not between 1
     and coalesce(pg_sequence_last_value(pg_get_serial_sequence('public.audit_' || p_of, 'id')), 0) then
    raise exception 'not-given-out' using errcode = 'ES403';
  end if;
end $$;

create function audit_settings_of(envelope jsonb) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select '{"name": ""}' || jsonb_object_agg(d.key, d.value) || jsonb_build_object('casino_id', envelope -> 'casino_id')
    from jsonb_each(envelope -> 'data') d where d.value <> '""'
$$;

create function audit_set_casino(envelope jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  stated audit_casino;
  is_all boolean := envelope ->> 'door' = 'command' or (audit_active_officer(envelope ->> 'actor')).is_superuser;
begin
  perform audit_demand_key_keeper(envelope);  -- nobody but a superuser keeps one that is not there yet
  stated := jsonb_populate_record(null::audit_casino, audit_settings_of(envelope));
  if stated.id is distinct from (envelope ->> 'casino_id')::bigint
     or stated.code !~ '^[A-Za-z0-9._:-]{1,100}$' or stated.time_zone !~ '^[A-Za-z0-9._/+-]{1,64}$'
     or stated.priority_threshold < 1 or stated.false_questions not between 0.01 and 12 then
    raise exception 'not-a-casino' using errcode = 'ES403';
  end if;
  if envelope ->> 'type' = 'casino.added' then
    perform audit_demand_next_id('casino', stated.id);
    insert into audit_casino select stated.*;
  else
    update audit_casino c
      set name = stated.name, time_zone = stated.time_zone, cutoff = stated.cutoff,
          priority_threshold = stated.priority_threshold, false_questions = stated.false_questions,
          reports_from = stated.reports_from, reports_until = stated.reports_until,
          silent_after_min = stated.silent_after_min
      where c.id = stated.id and (c.code, c.is_sandbox) = (stated.code, stated.is_sandbox)
        and (is_all or (c.name, c.time_zone, c.priority_threshold, c.false_questions)
          = (stated.name, stated.time_zone, stated.priority_threshold, stated.false_questions));
    if not found then
      raise exception 'not-allowed' using errcode = 'ES403';
    end if;
  end if;
  return null;
exception when data_exception or integrity_constraint_violation then
  raise exception 'not-a-casino' using errcode = 'ES403';
end $$;

create function audit_set_table(envelope jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  stated audit_gamingtable;
begin
  perform audit_demand_key_keeper(envelope);
  stated := jsonb_populate_record(null::audit_gamingtable, audit_settings_of(envelope));
  if envelope ->> 'type' = 'gamingtable.added' and stated.code ~ '^[A-Za-z0-9._:-]{1,100}$' then
    perform audit_demand_next_id('gamingtable', stated.id);
    insert into audit_gamingtable select stated.*;
  else
    update audit_gamingtable t set name = stated.name, does_not_report = stated.does_not_report
      where (t.id, t.casino_id, t.code) = (stated.id, stated.casino_id, stated.code);
    if not found then
      raise exception 'not-a-table' using errcode = 'ES403';
    end if;
  end if;
  return null;
exception when data_exception or integrity_constraint_violation then
  raise exception 'not-a-table' using errcode = 'ES403';
end $$;

revoke all on function audit_next_id from public;
revoke all on function audit_demand_next_id from public;
revoke all on function audit_settings_of from public;
revoke all on function audit_set_casino from public;
revoke all on function audit_set_table from public;

-- casino.added, casino.changed, gamingtable.added, gamingtable.changed.
do $$
declare
  subject text;
  act     text;
begin
  foreach subject in array array['casino', 'gamingtable'] loop
    foreach act in array array['added', 'changed'] loop
      execute format(
        'create function %1$I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
        ' set search_path = pg_catalog, public, pg_temp as $f$ select %2$I(envelope) $f$;'
        ' revoke all on function %1$I from public',
        format('audit_act_%s_%s', subject, act), 'audit_set_' || replace(subject, 'gaming', ''));
    end loop;
  end loop;
end $$;
