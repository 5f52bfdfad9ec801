-- A session whose table system is gone never gets its session.closed. One officer proposes to close it, with the float
-- as counted; another approves, and the function appends the closing to the session in the same statement. Each is an
-- entry of the audit trail: see audit/event_store/sql/entries.sql.
--
-- ``audit/casework/session_closing.py`` names the entries, and says the code of a refusal in words. The roles are those
-- of corrections: audit/corrections/sql/decisions.sql.

-- A proposal is decided once, by two people if it is approved, and what is decided is what was proposed.
create function audit_guard_session_closing() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'the closing of a session is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'waiting' then
      raise exception 'the closing of a session begins with waiting' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if old.state <> 'waiting' then
    raise exception 'the closing of a session is decided once' using errcode = 'check_violation';
  end if;
  if (old.id, old.casino_id, old.stream_id, old.next_seq, old.float_minor, old.reason, old.proposed_by_id,
      old.proposed_at)
     is distinct from (new.id, new.casino_id, new.stream_id, new.next_seq, new.float_minor, new.reason,
      new.proposed_by_id, new.proposed_at) then
    raise exception 'what is decided is what was proposed' using errcode = 'check_violation';
  end if;
  if new.state = 'approved' and audit_same_hands(new.proposed_by_id, new.decided_by_id) then
    raise exception 'the closing of a session takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_session_closing before insert or update or delete on audit_sessionclosing
  for each row execute function audit_guard_session_closing();

-- The session of a casino that takes p_next next, and is of a table and of no sandbox; null if there is none.
create function audit_session_to_close(p_casino bigint, p_name text, p_next bigint) returns bigint
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  of_stream bigint;
  stands_at bigint;
begin
  select s.stream_id, h.next_seq into of_stream, stands_at
    from log.stream s join log.stream_head h using (stream_id)
    where s.casino_id = p_casino and s.name = p_name and not s.is_of_desk and s.table_id is not null
      and s.stream_id < 2251799813685248;
  if of_stream is null then
    raise exception 'no-such-session' using errcode = 'ES403';
  end if;
  if exists (select from log.event e where e.stream_id = of_stream and e.envelope ->> 'type' = 'session.closed') then
    raise exception 'closed' using errcode = 'ES403';
  end if;
  if stands_at is distinct from p_next then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  return of_stream;
end $$;

-- data: session (the name of a stream), next_seq (the number of its closing), float_minor, reason.
create function audit_act_session_closing_proposed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor     bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino    bigint := (envelope ->> 'casino_id')::bigint;
  about     jsonb  := envelope -> 'data';
  of_stream bigint;
  added     bigint;
begin
  if not audit_decides_corrections(actor, casino, true) then
    raise exception 'not-decider' using errcode = 'ES403';
  end if;
  of_stream := audit_session_to_close(casino, about ->> 'session', (about ->> 'next_seq')::bigint);
  insert into audit_sessionclosing
      (casino_id, stream_id, next_seq, float_minor, reason, state, proposed_by_id, proposed_at, decision_reason)
    values (casino, of_stream, (about ->> 'next_seq')::bigint, (about ->> 'float_minor')::bigint,
            trim(coalesce(about ->> 'reason', '')), 'waiting', actor, (envelope ->> 'occurred_at')::timestamptz, '')
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'waiting-already' using errcode = 'ES403';
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- data: session, next_seq, float_minor and proposed_by, as proposed; reason; of an approval event, the closing as the
-- session takes it. Its proposer withdraws a proposal; another officer approves or declines it.
create function audit_decide_session_closing(envelope jsonb, p_state text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor     bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino    bigint := (envelope ->> 'casino_id')::bigint;
  about     jsonb  := envelope -> 'data';
  of_stream bigint;
  closing   audit_sessionclosing;
  proposer  audit_officer;
  event     jsonb;
  is_added  boolean;
begin
  select s.stream_id into of_stream from log.stream s
    where s.casino_id = casino and s.name = about ->> 'session' and not s.is_of_desk;
  select * into closing from audit_sessionclosing c
    where c.stream_id = of_stream order by c.id desc limit 1 for update;
  select * into proposer from audit_officer o where o.id = closing.proposed_by_id;
  if closing.id is null
     or (closing.next_seq, closing.float_minor, proposer.username)
        is distinct from ((about ->> 'next_seq')::bigint, (about ->> 'float_minor')::bigint, about ->> 'proposed_by') then
    raise exception 'no-such-closing' using errcode = 'ES403';
  end if;
  if not audit_decides_corrections(actor, casino, p_state = 'withdrawn') then
    raise exception 'not-decider' using errcode = 'ES403';
  end if;
  if closing.state <> 'waiting' then
    raise exception 'decided' using errcode = 'ES403';
  end if;
  if p_state = 'withdrawn' and closing.proposed_by_id <> actor then
    raise exception 'not-own-proposal' using errcode = 'ES403';
  end if;
  if p_state <> 'withdrawn' and closing.proposed_by_id = actor then
    raise exception 'own-proposal' using errcode = 'ES403';
  end if;
  if p_state = 'approved' then
    if audit_same_hands(closing.proposed_by_id, actor) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
    if not audit_decides_corrections(closing.proposed_by_id, casino, true) then
      raise exception 'proposer-left' using errcode = 'ES403';
    end if;
    perform audit_session_to_close(casino, about ->> 'session', closing.next_seq);
    event := (about ->> 'event')::jsonb;
    if (event ->> 'stream', (event ->> 'seq')::bigint, event ->> 'type', event -> 'data',
        event #>> '{ext,desk,proposed_by}', event #>> '{ext,desk,approved_by}')
       is distinct from (about ->> 'session', closing.next_seq, 'session.closed',
        jsonb_build_object('float', closing.float_minor), proposer.username, envelope ->> 'actor') then
      raise exception 'not-readable' using errcode = 'ES403';
    end if;
    select a.appended into is_added from log.append(
      closing.stream_id, closing.next_seq, closing.next_seq + 1,
      sha256('\x00'::bytea || convert_to(about ->> 'event', 'UTF8')), 0,
      array[closing.next_seq], array[(event ->> 'occurred_at')::timestamptz], array[about ->> 'event']) a;
    if not is_added then  -- the table sent an event just now
      raise exception 'moved-on' using errcode = 'ES403';
    end if;
  end if;
  update audit_sessionclosing
    set state = p_state, decided_by_id = actor, decided_at = (envelope ->> 'occurred_at')::timestamptz,
        decision_reason = trim(coalesce(about ->> 'reason', ''))
    where id = closing.id;
  return jsonb_build_object('id', closing.id);
exception
  when data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- session.closing_approved, session.closing_declined, session.closing_withdrawn.
do $$
declare
  state text;
begin
  foreach state in array array['approved', 'declined', 'withdrawn'] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_decide_session_closing(envelope, %L) $f$',
      'audit_act_session_closing_' || state, state);
  end loop;
end $$;
