-- Nights: what a report says is never changed, nor a signature, nor a closed report; and it is signed by two people,
-- each signature with its entry of the audit trail (audit/event_store/sql/entries.sql).

create function audit_keep_night() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'night: a report is never deleted' using errcode = 'ES001';
  end if;
  if old.state = 'closed' then
    raise exception 'night: a closed report is never changed' using errcode = 'ES001';
  end if;
  if (new.casino_id, new.gaming_day, new.currency, new.version, new.tree_size, new.tree_root, new.engine_version,
      new.content, new.digest, new.through, new.sheet, new.made_at, new.made_by)
     is distinct from
     (old.casino_id, old.gaming_day, old.currency, old.version, old.tree_size, old.tree_root, old.engine_version,
      old.content, old.digest, old.through, old.sheet, old.made_at, old.made_by) then
    raise exception 'night: what a report says is never changed' using errcode = 'ES001';
  end if;
  if old.reviewed_by_id is not null
     and (new.reviewed_by_id, new.reviewed_at) is distinct from (old.reviewed_by_id, old.reviewed_at) then
    raise exception 'night: a signature is never changed' using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger keep_night before update or delete on audit_nightreport
  for each row execute function audit_keep_night();
alter table audit_nightreport enable always trigger keep_night;

create function audit_keep_reservation() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    raise exception 'night: a reservation is never changed' using errcode = 'ES001';
  end if;
  if exists (select from audit_nightreport where id = new.report_id and state = 'closed') then
    raise exception 'night: a closed report takes no reservation' using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger keep_reservation before insert or update or delete on audit_signoffexception
  for each row execute function audit_keep_reservation();
alter table audit_signoffexception enable always trigger keep_reservation;

create function audit_guard_night_hands() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.closed_by_id is not null and old.closed_by_id is null
     and audit_same_hands(new.reviewed_by_id, new.closed_by_id) then
    raise exception 'a night is signed by two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_night_hands before update on audit_nightreport
  for each row execute function audit_guard_night_hands();


-- Signing -----------------------------------------------------------------------------------------------------------

-- data: gaming_day, currency, version, digest: the very report that the officer has read.
create function audit_report_of(envelope jsonb) returns audit_nightreport
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport;
begin
  select * into report from audit_nightreport n
    where n.casino_id = (envelope ->> 'casino_id')::bigint
      and n.gaming_day = (envelope #>> '{data,gaming_day}')::date
      and n.currency = envelope #>> '{data,currency}'
      and n.version = (envelope #>> '{data,version}')::integer
      and n.digest = envelope #>> '{data,digest}'
    for update;
  if not found then
    raise exception 'no-such-report' using errcode = 'ES403';
  end if;
  if report.state = 'closed' then
    raise exception 'closed' using errcode = 'ES403';
  end if;
  return report;
end $$;

-- Whether a critical case of the night is open is for the use case to say: here every other shortcoming is excepted.
create function audit_report_to_sign(envelope jsonb) returns audit_nightreport
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport := audit_report_of(envelope);
begin
  if exists (select from audit_nightreport n
             where (n.casino_id, n.gaming_day, n.currency) = (report.casino_id, report.gaming_day, report.currency)
               and n.version > report.version) then
    raise exception 'restated' using errcode = 'ES403';
  end if;
  if exists (select from jsonb_array_elements_text(convert_from(report.content, 'UTF8')::jsonb -> 'needs') as need
             where need <> 'critical-open'
               and not exists (select from audit_signoffexception e where e.report_id = report.id and e.code = need)) then
    raise exception 'needs-signoff-exceptions' using errcode = 'ES403';
  end if;
  return report;
end $$;

-- The first signature.
create function audit_act_night_reviewed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport := audit_report_to_sign(envelope);
begin
  if report.reviewed_by_id is not null then
    raise exception 'signed' using errcode = 'ES403';
  end if;
  update audit_nightreport
    set state = 'reviewed', reviewed_by_id = (audit_active_officer(envelope ->> 'actor')).id,
        reviewed_at = (envelope ->> 'occurred_at')::timestamptz
    where id = report.id;
  return null;
end $$;

-- The second signature, by another officer, whose account is in other hands.
create function audit_act_night_closed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport := audit_report_to_sign(envelope);
  signer bigint := (audit_active_officer(envelope ->> 'actor')).id;
begin
  if report.reviewed_by_id is null then
    raise exception 'not-reviewed' using errcode = 'ES403';
  end if;
  if report.reviewed_by_id = signer then
    raise exception 'another-officer' using errcode = 'ES403';
  end if;
  if audit_same_hands(report.reviewed_by_id, signer) then
    raise exception 'same-hands' using errcode = 'ES403';
  end if;
  update audit_nightreport
    set state = 'closed', closed_by_id = signer, closed_at = (envelope ->> 'occurred_at')::timestamptz
    where id = report.id;
  return null;
end $$;

-- A sign-off exception. data: the report's, code, reason.
create function audit_act_night_reserved(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport := audit_report_of(envelope);
  added  bigint;
begin
  insert into audit_signoffexception (report_id, code, reason, officer_id, made_at)
    values (report.id, envelope #>> '{data,code}', envelope #>> '{data,reason}',
            (audit_active_officer(envelope ->> 'actor')).id, (envelope ->> 'occurred_at')::timestamptz)
    on conflict (report_id, code) do nothing
    returning id into added;
  if added is null then
    raise exception 'exception-already-signed' using errcode = 'ES403';
  end if;
  return jsonb_build_object('id', added);
end $$;
