-- Webhooks: created, changed, rotated and tested by functions alone, each with its entry: see
-- audit/event_store/sql/entries.sql. The secret is a JSON object of what no entry says: the url, which may have a secret
-- in it, and the secret with which messages are signed.

-- data: id, named, address (the SHA-256 of the url), severities, alerts, and of one that there is active. A new one is
-- sent what becomes known from now on; one that is changed is tried at once. A casino has at most ten that are active.
create function audit_set_webhook(envelope jsonb, p_secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data    jsonb   := envelope -> 'data';
  hook    bigint  := (data ->> 'id')::bigint;
  casino  bigint  := (envelope ->> 'casino_id')::bigint;
  address text    := p_secret::jsonb ->> 'url';
  active  boolean := coalesce(data ->> 'active', '1') = '1';
  wanted  text[]  := array(select jsonb_array_elements_text(data -> 'severities'));
begin
  perform audit_demand_key_keeper(envelope);
  if data ->> 'address' is distinct from encode(sha256(convert_to(address, 'UTF8')), 'hex')
     or not wanted <@ '{critical,major,minor,info}' then
    raise exception 'not-a-webhook' using errcode = 'ES403';
  end if;
  perform from audit_casino c where c.id = casino for no key update;  -- two officers at once do not pass by the number
  if active and (select count(*) from audit_webhook w where w.casino_id = casino and w.is_active and w.id <> hook) >= 10
  then
    raise exception 'too-many' using errcode = 'ES403';
  end if;
  if envelope ->> 'type' = 'webhook.created' then
    perform audit_demand_next_id('webhook', hook);
    insert into audit_webhook
        (id, casino_id, name, url, severities, receives_alerts, is_active, created_at, position, failures, error,
         test_result)
      values (hook, casino, data ->> 'named', address, wanted, data ->> 'alerts' = '1', active, clock_timestamp(),
        coalesce((select max(c.position) from audit_findingchange c where c.casino_id = casino), 0), 0, '', '');
    perform audit_sign_webhook_with(hook, p_secret::jsonb ->> 'secret');
  else
    update audit_webhook w
      set name = data ->> 'named', url = address, severities = wanted,
          receives_alerts = data ->> 'alerts' = '1', is_active = active, next_try_at = null
      where w.id = hook and w.casino_id = casino;
    if not found then
      raise exception 'not-a-webhook' using errcode = 'ES403';
    end if;
  end if;
  return null;
exception when data_exception or integrity_constraint_violation then
  raise exception 'not-a-webhook' using errcode = 'ES403';
end $$;

create function audit_sign_webhook_with(p_webhook bigint, p_secret text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if p_secret is null or p_secret !~ '^whsec_[A-Za-z0-9+/]{43}=$' then
    raise exception 'not-a-secret' using errcode = 'ES403';
  end if;
  insert into audit_webhooksecret (webhook_id, secret, created_at) values (p_webhook, p_secret, clock_timestamp());
end $$;

create function audit_act_webhook_created(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_set_webhook(envelope, secret)
$$;

create function audit_act_webhook_changed(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_set_webhook(envelope, secret)
$$;

create function audit_demand_webhook(envelope jsonb) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  hook bigint;
begin
  perform audit_demand_key_keeper(envelope);
  select w.id into hook from audit_webhook w
    where w.id = (envelope #>> '{data,id}')::bigint and w.casino_id = (envelope ->> 'casino_id')::bigint;
  if hook is null then
    raise exception 'not-a-webhook' using errcode = 'ES403';
  end if;
  return hook;
end $$;

-- data: id, and until when messages are signed with the secret before, too: a day at most.
create function audit_act_webhook_rotated(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  hook  bigint      := audit_demand_webhook(envelope);
  until timestamptz := (envelope #>> '{data,until}')::timestamptz;
begin
  if until is null or until > clock_timestamp() + interval '1 day 1 minute' then
    raise exception 'not-a-secret' using errcode = 'ES403';
  end if;
  update audit_webhooksecret set expires_at = until where webhook_id = hook and expires_at is null;
  perform audit_sign_webhook_with(hook, secret::jsonb ->> 'secret');
  return null;
end $$;

-- data: id.
create function audit_act_webhook_tested(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update audit_webhook set test_requested_at = clock_timestamp() where id = audit_demand_webhook(envelope);
  return null;
end $$;

revoke all on function audit_set_webhook from public;
revoke all on function audit_sign_webhook_with from public;
revoke all on function audit_demand_webhook from public;
revoke all on function audit_act_webhook_created from public;
revoke all on function audit_act_webhook_changed from public;
revoke all on function audit_act_webhook_rotated from public;
revoke all on function audit_act_webhook_tested from public;
