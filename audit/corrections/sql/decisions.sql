-- Decisions on corrections that wait: each is made by a function that an entry of the audit trail names: see
-- audit/event_store/sql/entries.sql.
--
-- ``audit/corrections/decisions.py`` names the entries, and says the code of a refusal in words.

-- Whether an officer may decide: the first of two countersignatures is of somebody who works on cases or approves them;
-- the second, and a refusal, of somebody who approves them. Of audit/access/capabilities.py; a test compares.
create function audit_decides_corrections(p_actor bigint, p_casino bigint, p_begins boolean) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from audit_officer o
      where o.id = p_actor and o.is_active
        and (o.is_superuser or exists (
          select from audit_officer_casinos m
            where m.officer_id = o.id and m.casino_id = p_casino
              and (m.role in ('second', 'director') or p_begins and m.role = 'officer'))))
$$;

-- Decisions are added, one after the other, and never changed: two people's countersignatures, or a refusal.
create function audit_guard_correction_decision() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  before audit_correctiondecision;
begin
  if tg_op <> 'INSERT' then
    raise exception 'a decision on a correction is never changed' using errcode = 'check_violation';
  end if;
  select * into before from audit_correctiondecision d
    where d.stream_id = new.stream_id and d.seq = new.seq order by d.number desc limit 1;
  if coalesce(before.number, 0) + 1 <> new.number or before.verdict = 'refused' then
    raise exception 'a correction is decided once' using errcode = 'check_violation';
  end if;
  if before.id is not null and new.verdict = 'countersigned' and audit_same_hands(before.officer_id, new.officer_id) then
    raise exception 'a correction takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_correction_decision before insert or update or delete on audit_correctiondecision
  for each row execute function audit_guard_correction_decision();

-- data: session (the name of a stream), correction (the seq of the event that corrects, annuls or voids), reason.
create function audit_decide_correction(envelope jsonb, entry bigint, p_verdict text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor      audit_officer := audit_active_officer(envelope ->> 'actor');
  casino     bigint := (envelope ->> 'casino_id')::bigint;
  about      jsonb  := envelope -> 'data';
  of_stream  bigint;
  correction json;
  before     audit_correctiondecision;
  person     text;
  added      bigint;
begin
  perform from audit_casino c where c.id = casino for no key update;  -- of two that decide at once the second waits
  select s.stream_id, e.envelope into of_stream, correction
    from log.stream s join log.event e on e.stream_id = s.stream_id and e.seq = (about ->> 'correction')::bigint
    where s.casino_id = casino and s.name = about ->> 'session' and not s.is_of_desk;
  if of_stream is null
     or correction ->> 'type' not in ('entry.corrected', 'entry.annulled', 'throw.voided', 'spin.voided') then
    raise exception 'no-such-correction' using errcode = 'ES403';
  end if;
  select * into before from audit_correctiondecision d
    where d.stream_id = of_stream and d.seq = (about ->> 'correction')::bigint order by d.number desc limit 1;
  if not audit_decides_corrections(actor.id, casino, p_verdict = 'countersigned' and before.id is null) then
    raise exception 'not-decider' using errcode = 'ES403';
  end if;
  if before.verdict = 'refused' or before.number = 2 then
    raise exception 'decided' using errcode = 'ES403';
  end if;
  if not exists (select from audit_finding f
                 where f.stream_id = of_stream and f.seq = (about ->> 'correction')::bigint and f.status = 'standing'
                   and f.rule in ('entry-corrected', 'entry-annulled') and f.facts ->> 'waits' = 'waits') then
    raise exception 'not-waiting' using errcode = 'ES403';
  end if;
  foreach person in array array[correction ->> 'actor', correction #>> '{data,approved_by}'] loop
    if lower(person) in (lower(actor.username), lower(actor.email)) then
      raise exception 'own-correction' using errcode = 'ES403';
    end if;
  end loop;
  if before.officer_id = actor.id then
    raise exception 'own-decision' using errcode = 'ES403';
  end if;
  if p_verdict = 'countersigned' and before.id is not null and audit_same_hands(before.officer_id, actor.id) then
    raise exception 'same-hands' using errcode = 'ES403';
  end if;
  if trim(coalesce(about ->> 'reason', '')) = '' then
    raise exception 'no-reason' using errcode = 'ES403';
  end if;
  insert into audit_correctiondecision
      (casino_id, stream_id, seq, number, verdict, officer_id, reason, decided_at, entry_stream, entry_seq)
    values (casino, of_stream, (about ->> 'correction')::bigint, coalesce(before.number, 0) + 1, p_verdict, actor.id,
            trim(about ->> 'reason'), (envelope ->> 'occurred_at')::timestamptz, envelope ->> 'stream', entry)
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when data_exception then
    raise exception 'no-such-correction' using errcode = 'ES403';
end $$;

create function audit_act_correction_countersigned(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_decide_correction(envelope, seq, 'countersigned')
$$;

create function audit_act_correction_refused(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_decide_correction(envelope, seq, 'refused')
$$;
