-- Second factors. data: named, the actor, who has none; in the installation's trail. The secret has the id of the
-- device, which a code has confirmed, and the recovery codes.
create function audit_act_officer_second_factor(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor    bigint := (audit_active_officer(envelope ->> 'actor')).id;
  recovery bigint;
begin
  perform from audit_officer o where o.id = actor for no key update;
  if (envelope ->> 'casino_id')::bigint <> 0 then
    raise exception 'not-its-trail' using errcode = 'ES403';
  end if;
  if envelope ->> 'actor' is distinct from envelope #>> '{data,named}'
     or exists (select from otp_totp_totpdevice d where d.user_id = actor and d.confirmed) then
    raise exception 'has-second-factor' using errcode = 'ES403';
  end if;
  update otp_totp_totpdevice set confirmed = true
    where id = (secret::jsonb ->> 'device')::bigint and user_id = actor;
  if not found then
    raise exception 'no-second-factor' using errcode = 'ES403';
  end if;
  delete from otp_static_statictoken t using otp_static_staticdevice d where d.id = t.device_id and d.user_id = actor;
  delete from otp_static_staticdevice where user_id = actor;
  insert into otp_static_staticdevice (user_id, name, confirmed, throttling_failure_count, created_at)
    values (actor, 'paper', true, 0, (envelope ->> 'occurred_at')::timestamptz)
    returning id into recovery;
  insert into otp_static_statictoken (device_id, token)
    select recovery, code from jsonb_array_elements_text(secret::jsonb -> 'codes') code;
  return null;
end $$;

-- A web server counts tries and codes in these rows. Whose a factor is, its secret and whether it is in use never
-- change by its hand; what is in use is put there by the function above. Commands of the operator may.
create function audit_guard_second_factor() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  counted text[] := array['drift', 'last_t', 'last_used_at', 'throttling_failure_timestamp', 'throttling_failure_count'];
begin
  if pg_has_role(current_user, (select c.relowner from pg_class c where c.oid = tg_relid), 'usage')
     or (case when to_regrole('cabochon_operator') is not null
           then pg_has_role(current_user, to_regrole('cabochon_operator'), 'usage') end) then
    return new;
  end if;
  if tg_op = 'INSERT' and new.confirmed
     or tg_op = 'UPDATE' and to_jsonb(old) - counted is distinct from to_jsonb(new) - counted then
    raise exception 'a second factor is put into use and changed by its functions'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger guard_second_factor before insert or update on otp_totp_totpdevice
  for each row execute function audit_guard_second_factor();
create trigger guard_second_factor before insert or update on otp_static_staticdevice
  for each row execute function audit_guard_second_factor();
