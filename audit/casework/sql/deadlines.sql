-- The hours within which cases are to be closed: an administrator sets those of a casino, a superuser those of the
-- installation, each by a function that an entry of the audit trail names: see audit/event_store/sql/entries.sql.

-- data: severity, hours. The casino is that of the stream; in the trail of the installation it is that of every casino
-- without its own.
create function audit_set_deadline(envelope jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor    audit_officer := audit_active_officer(envelope ->> 'actor');
  casino   bigint        := nullif((envelope ->> 'casino_id')::bigint, 0);
  severity text          := envelope #>> '{data,severity}';
  hours    integer       := (envelope #>> '{data,hours}')::integer;
  written  bigint;
begin
  perform audit_demand_deadline_keeper(actor, casino);
  if severity not in ('critical', 'major', 'minor', 'info') or hours is null or hours not between 1 and 8760 then
    raise exception 'not-a-deadline' using errcode = 'ES403';
  end if;
  insert into audit_deadline (casino_id, severity, hours) values (casino, severity, hours)
    on conflict on constraint one_deadline_a_severity do update set hours = excluded.hours
    returning id into written;
  return jsonb_build_object('id', written);
end $$;

create function audit_demand_deadline_keeper(p_actor audit_officer, p_casino bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if p_casino is not null then
    perform audit_demand_keeper_at(p_actor.id, p_casino);
  elsif not p_actor.is_superuser then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
end $$;

create function audit_act_deadline_added(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_set_deadline(envelope)
$$;

create function audit_act_deadline_changed(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_set_deadline(envelope)
$$;

-- data: severity. A casino returns to the deadline of the installation, which is never deleted.
create function audit_act_deadline_deleted(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor audit_officer := audit_active_officer(envelope ->> 'actor');
begin
  perform audit_demand_keeper_at(actor.id, (envelope ->> 'casino_id')::bigint);
  delete from audit_deadline d
    where d.casino_id = (envelope ->> 'casino_id')::bigint and d.severity = envelope #>> '{data,severity}';
  if not found then
    raise exception 'not-a-deadline' using errcode = 'ES403';
  end if;
  return null;
end $$;

revoke all on function audit_set_deadline from public;
revoke all on function audit_demand_deadline_keeper from public;
revoke all on function audit_act_deadline_added from public;
revoke all on function audit_act_deadline_changed from public;
revoke all on function audit_act_deadline_deleted from public;
