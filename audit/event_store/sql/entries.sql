-- The doors to what changes power or is signed: each change is written by a function of the owner's, in one statement
-- with its entry of the audit trail. No role may write these rows in another way.
--
--   audit_perform_act(append…, secret)       for the desk: the actor is an officer who is active
--   audit_perform_command(append…, secret)   for commands: the actor is an account of the machine
--        └─► log.append, then audit_act_<type, dots as underscores>(envelope, seq, secret)
--
-- An effect reads the envelope and nothing else, so a row cannot differ from its entry. The envelope comes with
-- "casino_id", of the desk stream that it is in, and "door", desk or command. An effect may return a JSON object for
-- the caller. ES403 refuses: its message is a code. The secret, a password's hash, never enters the log.
--
-- The effects are with the packages that name their entries: audit/access, register, corrections, reconciliation,
-- persons, archive and transparency, each in its folder sql. Who may call what is in audit/access/database_roles.py,
-- which every migrate applies.

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
