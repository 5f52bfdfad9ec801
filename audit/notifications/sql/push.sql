-- Browsers that officers let notify them: subscribed and ended by functions alone, each with its entry in the
-- installation's trail: see audit/event_store/sql/entries.sql. A row of a browser that is not the officer's own would
-- tell a stranger the references of incidents.

-- data: named (the actor), host, address (the SHA-256 of the endpoint), public_key (that of the key). The secret is a
-- JSON object: endpoint, public_key, auth, language, browser. A browser notifies one officer: the last who subscribed.
create function audit_act_push_subscribed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor bigint := audit_demand_own_push(envelope);
  given jsonb  := secret::jsonb;
begin
  if envelope #>> '{data,address}' is distinct from encode(sha256(convert_to(given ->> 'endpoint', 'UTF8')), 'hex')
     or envelope #>> '{data,public_key}' is distinct from encode(sha256(convert_to(given ->> 'public_key', 'UTF8')), 'hex')
     or (given ->> 'public_key' ~ '^[A-Za-z0-9_-]{87}$' and given ->> 'auth' ~ '^[A-Za-z0-9_-]{22}$') is not true then
    raise exception 'not-a-subscription' using errcode = 'ES403';
  end if;
  perform from audit_officer o where o.id = actor for no key update;  -- two at once do not pass by the number
  perform audit_delete_push(s.id) from audit_pushsubscription s where s.endpoint = given ->> 'endpoint';
  if (select count(*) from audit_pushsubscription s where s.officer_id = actor) >= 10 then
    raise exception 'too-many' using errcode = 'ES403';
  end if;
  insert into audit_pushsubscription (officer_id, endpoint, public_key, auth, language, browser, created_at)
    values (actor, given ->> 'endpoint', given ->> 'public_key', given ->> 'auth', given ->> 'language',
            given ->> 'browser', clock_timestamp());
  return null;
exception when data_exception or integrity_constraint_violation then
  raise exception 'not-a-subscription' using errcode = 'ES403';
end $$;

-- data: named (the actor), address.
create function audit_act_push_ended(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor bigint := audit_demand_own_push(envelope);
  ended bigint;
begin
  select s.id into ended from audit_pushsubscription s
    where s.officer_id = actor
      and encode(sha256(convert_to(s.endpoint, 'UTF8')), 'hex') = envelope #>> '{data,address}';
  if ended is null then
    raise exception 'not-a-subscription' using errcode = 'ES403';
  end if;
  perform audit_delete_push(ended);
  return null;
end $$;

-- The actor, who is the officer that the entry names, in the installation's trail.
create function audit_demand_own_push(envelope jsonb) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'door' is distinct from 'desk' or envelope ->> 'actor' is distinct from envelope #>> '{data,named}' then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  if (envelope ->> 'casino_id')::bigint <> 0 then
    raise exception 'not-its-trail' using errcode = 'ES403';
  end if;
  return (audit_active_officer(envelope ->> 'actor')).id;
end $$;

create function audit_delete_push(p_subscription bigint) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  delete from audit_pushmessage where subscription_id = p_subscription;
  delete from audit_pushsubscription where id = p_subscription;
$$;

-- Of an account that is deactivated no browser is left.
create function audit_end_push() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_delete_push(s.id) from audit_pushsubscription s where s.officer_id = new.id;
  return null;
end $$;

create trigger end_push after update of is_active on audit_officer for each row
  when (old.is_active and not new.is_active) execute function audit_end_push();

revoke all on function audit_act_push_subscribed from public;
revoke all on function audit_act_push_ended from public;
revoke all on function audit_demand_own_push from public;
revoke all on function audit_delete_push from public;
revoke all on function audit_end_push from public;
