-- API keys: made, rotated and revoked by functions alone, each with its entry: see audit/event_store/sql/entries.sql.
-- At the desk by whoever keeps the casino, else by a command. The secret is the digest of the key's, in hexadecimal.

-- The id that the entry of a new key says.
create function audit_next_key_id() returns bigint
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select nextval(pg_get_serial_sequence('public.audit_apikey', 'id'))
$$;

create function audit_demand_key_keeper(envelope jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'door' = 'desk' then
    perform audit_demand_keeper_at(
      (audit_active_officer(envelope ->> 'actor')).id, (envelope ->> 'casino_id')::bigint);
  else
    perform audit_demand_command(envelope);
  end if;
end $$;

-- data: id, prefix, named, created, scopes, the codes of tables, expires ("" for never), public_key in base64 or none.
create function audit_begin_key(envelope jsonb, secret text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data    jsonb       := envelope -> 'data';
  key     bigint      := (data ->> 'id')::bigint;
  casino  bigint      := (envelope ->> 'casino_id')::bigint;
  created timestamptz := (data ->> 'created')::timestamptz;
begin
  perform audit_demand_key_keeper(envelope);
  if key is null or key not between 1 and pg_sequence_last_value(pg_get_serial_sequence('public.audit_apikey', 'id'))
     or data ->> 'prefix' !~ '^[0-9a-f]{12}$' or secret is null or secret !~ '^[0-9a-f]{64}$'
     or created is null or abs(extract(epoch from (envelope ->> 'occurred_at')::timestamptz - created)) > 60
     or exists (select from audit_apikey k where k.id = key or k.prefix = data ->> 'prefix') then
    raise exception 'not-a-key' using errcode = 'ES403';
  end if;
  insert into audit_apikey (id, casino_id, name, prefix, digest, public_key, scopes, created_at, expires_at)
    overriding system value
    values (key, casino, data ->> 'named', data ->> 'prefix', decode(secret, 'hex'),
      decode(data ->> 'public_key', 'base64'), array(select jsonb_array_elements_text(data -> 'scopes')),
      created, nullif(data ->> 'expires', '')::timestamptz);
  insert into audit_apikey_tables (apikey_id, gamingtable_id)
    select key, t.id from audit_gamingtable t where t.casino_id = casino and data -> 'tables' ? t.code;
  if (select count(*) from audit_apikey_tables t where t.apikey_id = key) <> jsonb_array_length(data -> 'tables') then
    raise exception 'not-its-tables' using errcode = 'ES403';
  end if;
end $$;

create function audit_act_key_made(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_begin_key(envelope, secret);
  return null;
end $$;

-- data: as of a key that is made; until when the key is valid that it follows, which is of the same casino and active.
create function audit_act_key_rotated(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  until timestamptz := (envelope #>> '{data,until}')::timestamptz;
begin
  perform audit_begin_key(envelope, secret);
  update audit_apikey k set expires_at = until
    where k.casino_id = (envelope ->> 'casino_id')::bigint and k.prefix = envelope #>> '{data,follows}'
      and k.id <> (envelope #>> '{data,id}')::bigint
      and audit_key_is_active(k.revoked_at, k.expires_at, clock_timestamp())
      and until <= coalesce(k.expires_at, 'infinity');
  if not found then
    raise exception 'not-active' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- data: id, prefix. A key is revoked now, once, and never again valid.
create function audit_act_key_revoked(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_key_keeper(envelope);
  update audit_apikey k set revoked_at = clock_timestamp()
    where k.id = (envelope #>> '{data,id}')::bigint and k.prefix = envelope #>> '{data,prefix}'
      and k.casino_id = (envelope ->> 'casino_id')::bigint and k.revoked_at is null;
  if not found then
    raise exception 'not-active' using errcode = 'ES403';
  end if;
  return null;
end $$;

revoke all on function audit_next_key_id from public;
revoke all on function audit_demand_key_keeper from public;
revoke all on function audit_begin_key from public;
revoke all on function audit_act_key_made from public;
revoke all on function audit_act_key_rotated from public;
revoke all on function audit_act_key_revoked from public;
