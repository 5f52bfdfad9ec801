-- When a batch was received never goes back: not in a stream, and not behind what is sealed. The clock of the database's
-- host may be set back; the log's own clock is the newest instant that is sealed, and what is appended is never before it.
--
--   log.append    received_at = the latest of: the host's clock, the batch before in the stream, log.clock
--   log.seal      log.clock   = the newest received_at of what is sealed
--
-- Verification holds the leaves from log.clock.since on to this. Those before were appended without it.

do $$
begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('the clock of the log');
  end if;
end $$;

create table log.clock (
  is_the_only boolean     primary key default true check (is_the_only),
  since       bigint      not null check (since >= 0),
  began_at    timestamptz not null,
  received_at timestamptz not null check (received_at >= began_at));

insert into log.clock (since, began_at, received_at)
  select (select coalesce(max(log_index) + 1, 0) from log.leaf) + (select count(*) from log.outbox), at, at
  from (select clock_timestamp()) now (at);

create function log.refuse_earlier() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' or new.since <> old.since or new.began_at <> old.began_at or new.received_at < old.received_at then
    raise exception 'log: % on the log''s clock is not allowed', tg_op using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger forward_only before update or delete on log.clock for each row execute function log.refuse_earlier();
create trigger no_truncate before truncate on log.clock for each statement execute function log.refuse();
alter table log.clock enable always trigger forward_only;
alter table log.clock enable always trigger no_truncate;

alter table log.stream_head add column received_at timestamptz;  -- of the stream's last batch; null before the first

-- The sequencer seals in this order. It costs the outbox an index, and saves reading all of it to find the oldest.
alter table log.outbox add column received_at timestamptz;
update log.outbox o set received_at = b.received_at
  from log.batch b where b.stream_id = o.stream_id and b.first_seq = o.first_seq;
create index outbox_received on log.outbox (received_at, stream_id, first_seq);

create or replace function log.append(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[],
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
  insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id, received_at)
    values (p_stream, p_first, p_seqs[n], p_next, n, p_root, chain, p_key, received_at);
  insert into log.outbox (stream_id, first_seq, received_at) values (p_stream, p_first, append.received_at);
  update log.stream_head h set next_seq = p_next, chain = append.chain, received_at = append.received_at
    where h.stream_id = p_stream;
  appended := true; next_seq := p_next;
end $$;

create or replace function log.seal(
  p_size bigint, p_streams bigint[], p_firsts bigint[], p_hashes bytea[],
  p_heights smallint[], p_indexes bigint[], p_subtrees bytea[], p_root bytea, p_note text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  leaves bigint := coalesce((select max(log_index) + 1 from log.leaf), 0);
begin
  if p_size <> leaves then
    raise exception 'log: the tree has % leaves, not %', leaves, p_size using errcode = 'ES409';
  end if;
  insert into log.leaf (log_index, stream_id, first_seq, hash)
    select p_size + l.place - 1, l.stream_id, l.first_seq, l.hash
    from unnest(p_streams, p_firsts, p_hashes) with ordinality as l (stream_id, first_seq, hash, place);
  insert into log.subtree (height, index, hash)
    select s.height, s.index, s.hash from unnest(p_heights, p_indexes, p_subtrees) as s (height, index, hash);
  insert into log.checkpoint (number, size, root, note)
    select coalesce(max(number), 0) + 1, p_size + cardinality(p_hashes), p_root, p_note from log.checkpoint;
  update log.clock c set received_at = newest.received_at
    from (select max(b.received_at) as received_at
          from unnest(p_streams, p_firsts) as l (stream_id, first_seq) join log.batch b using (stream_id, first_seq)) newest
    where newest.received_at > c.received_at;
  delete from log.outbox o using unnest(p_streams, p_firsts) as l (stream_id, first_seq)
    where o.stream_id = l.stream_id and o.first_seq = l.first_seq;
end $$;

do $$
begin
  if (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    grant select on log.clock to cabochon_reader;
  end if;
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter table log.clock owner to cabochon_owner;
  end if;
end $$;
