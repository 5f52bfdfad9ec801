-- A batch may carry the signature of the table system that sent it. It is kept with the batch, and in its leaf.

do $$
begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('signatures of table systems');
  end if;
end $$;

alter table log.batch add column signature bytea constraint batch_signature_check check (length(signature) = 64);

drop function log.append(bigint, bigint, bigint, bytea, bigint, bigint[], timestamptz[], text[]);

create function log.append(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_signature bytea default null,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  head  log.stream_head;
  n     integer := cardinality(p_seqs);
begin
  select * into head from log.stream_head h where h.stream_id = p_stream for update;  -- serialises this stream only
  if not found then
    raise exception 'log: there is no stream %', p_stream using errcode = 'ES404';
  end if;
  if n = 0 or p_seqs[1] <> p_first or p_next <= p_seqs[n]
     or p_seqs <> (select array_agg(seq order by seq) from unnest(p_seqs) as seq) then
    raise exception 'log: the events of a batch ascend from its first number' using errcode = 'ES422';
  end if;
  if head.next_seq <> p_first then
    appended := false; next_seq := head.next_seq; chain := head.chain;
    return;
  end if;
  chain := sha256(head.chain || p_root || int8send(p_first) || int8send(n::bigint));
  -- No host's clock is wrong by a year: somebody has set the log's, and stops nobody by that.
  received_at := greatest(clock_timestamp(), head.received_at, (
    select c.received_at from log.clock c where c.received_at < clock_timestamp() + interval '1 year'));
  insert into log.event (stream_id, seq, occurred_at, envelope)
    select p_stream, e.seq, e.occurred_at, e.envelope::json
    from unnest(p_seqs, p_occurred, p_envelopes) as e (seq, occurred_at, envelope);
  insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id, received_at, signature)
    values (p_stream, p_first, p_seqs[n], p_next, n, p_root, chain, p_key, received_at, p_signature);
  insert into log.outbox (stream_id, first_seq, received_at) values (p_stream, p_first, append.received_at);
  update log.stream_head h set next_seq = p_next, chain = append.chain, received_at = append.received_at
    where h.stream_id = p_stream;
  appended := true; next_seq := p_next;
end $$;

revoke all on function log.append from public;

do $$
begin
  if (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    grant execute on function log.append to cabochon_writer;
  end if;
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter function log.append owner to cabochon_owner;
  end if;
end $$;

-- The public key of an API key is said when the key is made, and never changes: another one is another API key.
create function audit_keep_public_key() returns trigger language plpgsql as $$
begin
  if new.public_key is distinct from old.public_key then
    raise exception 'the public key of an API key does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

alter table audit_apikey add constraint public_key_of_32_bytes check (length(public_key) = 32);

create trigger keep_public_key before update on audit_apikey for each row execute function audit_keep_public_key();

revoke all on function audit_keep_public_key from public;
