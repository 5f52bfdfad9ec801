-- The walls inside the database: what changes power or is signed is written by functions of the owner's, each of which
-- writes the entry of the audit trail in the same statement. No role may write these rows in another way.
--
--   audit_perform_act(append…, secret)       for the desk: the actor is an officer who is active
--   audit_perform_command(append…, secret)   for commands: the actor is an account of the machine
--        └─► log.append, then audit_act_<type, dots as underscores>(envelope, seq, secret)
--
-- An effect reads the envelope and nothing else, so a row cannot differ from its entry. The envelope comes with
-- "casino_id", of the desk stream that it is in, and "door", desk or command. An effect may return a JSON object for
-- the caller. ES403 refuses: its message is a code. The secret, a password's hash, never enters the log.
--
-- Who may call what is in audit/access/database_roles.py, which every migrate applies.

create function audit_perform(
  p_door text, p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_secret text,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz, out result jsonb)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  of_desk  log.stream;
  envelope jsonb := p_envelopes[1]::jsonb;
  effect   text  := 'audit_act_' || replace(envelope ->> 'type', '.', '_');
begin
  select * into of_desk from log.stream s where s.stream_id = p_stream and s.is_of_desk;
  if not found or cardinality(p_envelopes) <> 1 or p_key <> 0
     or envelope ->> 'stream' is distinct from of_desk.name
     or (envelope ->> 'seq')::bigint is distinct from p_first
     or p_root is distinct from sha256('\x00'::bytea || convert_to(p_envelopes[1], 'UTF8')) then
    raise exception 'not-an-entry' using errcode = 'ES403';
  end if;
  if envelope ->> 'type' !~ '^[a-z_]+([.][a-z_]+)+$'
     or to_regprocedure(format('public.%I(jsonb, bigint, text)', effect)) is null then
    raise exception 'no-effect' using errcode = 'ES403';
  end if;
  select a.appended, a.next_seq, a.chain, a.received_at into appended, next_seq, chain, received_at
    from log.append(p_stream, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes) a;
  if not appended then
    return;
  end if;
  if p_door = 'desk' then
    perform audit_active_officer(envelope ->> 'actor');
  end if;
  envelope := envelope || jsonb_build_object('casino_id', of_desk.casino_id, 'door', p_door);
  execute format('select public.%I($1, $2, $3)', effect) into result using envelope, p_first, p_secret;
end $$;

create function audit_perform_act(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_secret text,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz, out result jsonb)
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select * from audit_perform(
    'desk', p_stream, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes, p_secret)
$$;

create function audit_perform_command(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_secret text,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz, out result jsonb)
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select * from audit_perform(
    'command', p_stream, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes, p_secret)
$$;


-- Officers ----------------------------------------------------------------------------------------------------------

create function audit_active_officer(p_name text) returns audit_officer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
begin
  select * into officer from audit_officer o where o.username = p_name and o.is_active;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return officer;
end $$;

-- At the desk only a superuser touches a superuser, and nobody gives himself a power.
create function audit_check_power(envelope jsonb, p_officer text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'door' = 'desk' and not (audit_active_officer(envelope ->> 'actor')).is_superuser
     and (envelope ->> 'actor' = p_officer
          or exists (select from audit_officer o where o.username = p_officer and o.is_superuser)) then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
end $$;

-- data: named. The secret is the hash of the password.
create function audit_act_officer_added(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added bigint;
begin
  insert into audit_officer
      (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
    values (envelope #>> '{data,named}', coalesce(secret, '!'), false, true, true, '', '', '',
            (envelope ->> 'occurred_at')::timestamptz)
    returning id into added;
  return jsonb_build_object('id', added);
end $$;

-- data: named. At the desk another superuser does it; the first is made by a command.
create function audit_act_officer_made_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'door' = 'desk' and not (audit_active_officer(envelope ->> 'actor')).is_superuser then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  update audit_officer set is_superuser = true, is_staff = true where username = envelope #>> '{data,named}';
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return null;
end $$;

create function audit_act_officer_unmade_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_check_power(envelope, envelope #>> '{data,named}');
  update audit_officer set is_superuser = false where username = envelope #>> '{data,named}';
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- data: named. The secret is the new hash. Of one's own password, too.
create function audit_act_officer_password_changed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'actor' is distinct from envelope #>> '{data,named}' then
    perform audit_check_power(envelope, envelope #>> '{data,named}');
  end if;
  update audit_officer set password = secret where username = envelope #>> '{data,named}' and secret is not null;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- data: officer, role. The casino is that of the stream.
create function audit_act_membership_added(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added bigint;
begin
  perform audit_check_power(envelope, envelope #>> '{data,officer}');
  insert into audit_officer_casinos (officer_id, casino_id, role)
    select o.id, (envelope ->> 'casino_id')::bigint, envelope #>> '{data,role}'
    from audit_officer o where o.username = envelope #>> '{data,officer}'
    returning id into added;
  if added is null then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return jsonb_build_object('id', added);
end $$;

-- data: officer, role.
create function audit_act_membership_changed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_check_power(envelope, envelope #>> '{data,officer}');
  update audit_officer_casinos m set role = envelope #>> '{data,role}'
    from audit_officer o
    where o.id = m.officer_id and o.username = envelope #>> '{data,officer}'
      and m.casino_id = (envelope ->> 'casino_id')::bigint;
  if not found then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- data: officer, role.
create function audit_act_membership_removed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_check_power(envelope, envelope #>> '{data,officer}');
  delete from audit_officer_casinos m
    using audit_officer o
    where o.id = m.officer_id and o.username = envelope #>> '{data,officer}'
      and m.casino_id = (envelope ->> 'casino_id')::bigint and m.role = envelope #>> '{data,role}';
  if not found then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  return null;
end $$;


-- Nights ------------------------------------------------------------------------------------------------------------

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

-- The second signature, by another officer.
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


-- Findings that rest on stored bytes ------------------------------------------------------------------------------

-- Store a finding of integrity: of the sequencer, that stored events are not those that were accepted; of ingestion,
-- that another event was sent under a stored number. p_finding has a value for each column that is not left to the
-- database. Idempotent.
create function audit_report_integrity(p_finding jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  columns text;
begin
  if p_finding ->> 'rule' not in ('log-tampered', 'sequence-conflict')
     or p_finding ->> 'run_id' is not null or p_finding ->> 'status' is distinct from 'standing'
     or not exists (select from log.stream s
                    where s.stream_id = (p_finding ->> 'stream_id')::bigint and not s.is_of_desk
                      and s.casino_id = (p_finding ->> 'casino_id')::bigint
                      and s.gaming_day = (p_finding ->> 'gaming_day')::date) then
    raise exception 'not-of-the-log' using errcode = 'ES403';
  end if;
  select string_agg(quote_ident(a.attname), ', ') into columns
    from pg_attribute a
    where a.attrelid = 'public.audit_finding'::regclass and a.attnum > 0 and not a.attisdropped
      and a.attname not in ('id', 'case_id', 'superseded_at', 'superseded_by_run_id', 'content') and p_finding ? a.attname;
  execute format(
    'insert into public.audit_finding (%1$s) select %1$s from jsonb_populate_record(null::public.audit_finding, $1)'
    ' on conflict do nothing', columns) using p_finding;
end $$;


-- What a finding is about never changes, nor what one of a run says: the run that finds something else adds another.
create function audit_keep_finding() returns trigger language plpgsql as $$
begin
  if (old.stream_id, old.seq, old.rule, old.wager, old.casino_id, old.opened_at)
       is distinct from (new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.opened_at)
     or old.run_id is not null
       and (old.severity, old.evidence, old.expected, old.recorded, old.provision, old.facts, old.after_loss,
            old.occurred_at)
         is distinct from (new.severity, new.evidence, new.expected, new.recorded, new.provision, new.facts,
            new.after_loss, new.occurred_at) then
    raise exception 'what a finding says does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger keep_finding before update on audit_finding for each row execute function audit_keep_finding();


-- A case is opened by the database, whoever finds something: the finder needs no power over cases.
do $$
declare
  opener regprocedure;
begin
  for opener in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname in ('audit_open_case', 'audit_case_of') loop
    execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', opener);
  end loop;
end $$;

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname like 'audit\_%' loop
    execute format('revoke all on function %s from public', ours);
  end loop;
end $$;
