-- Officers decide about what a ruleset's own type voids, too: its name ends in ".voided". Otherwise the function is that
-- of decisions.sql.

-- data: session (the name of a stream), correction (the seq of the event that corrects, annuls or voids), reason.
create or replace function audit_decide_correction(envelope jsonb, entry bigint, p_verdict text) returns jsonb
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
     or correction ->> 'type' !~ '^(entry\.(corrected|annulled)|(?!x\.).*\.voided)$' then
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
