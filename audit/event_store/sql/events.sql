-- Events, and the one function that appends them: log.append.
--
-- (stream_id, seq) is a true unique key although the tables are partitioned by month, because a month is a range of
-- stream ids. When a batch was received never goes back: not in a stream, and not behind what is sealed.
--
--   log.append    received_at = the latest of: the host's clock, the batch before in the stream, log.clock
--   log.seal      log.clock   = the newest received_at of what is sealed
--
-- cabochon_writer calls log.append and log.append_named, and writes the tables in no other way; cabochon_reader reads
-- them. log.ensure_month is called by the owner, through the functions that open a stream.

create table log.event (
  stream_id   bigint      not null,
  seq         bigint      not null check (seq between 1 and 9007199254740991),
  occurred_at timestamptz not null,
  envelope    json        not null,                    -- json, not jsonb: the very bytes that were hashed are kept
  primary key (stream_id, seq)
) partition by range (stream_id);

-- One row for each accepted request. The signature is the table system's, if it signs; it is in the batch's leaf, too.
create table log.batch (
  stream_id   bigint      not null,
  first_seq   bigint      not null,
  last_seq    bigint      not null check (last_seq >= first_seq),
  next_seq    bigint      not null check (next_seq > last_seq),
  count       integer     not null check (count > 0),
  root        bytea       not null check (length(root) = 32),
  chain       bytea       not null check (length(chain) = 32),
  key_id      bigint      not null,
  received_at timestamptz not null default clock_timestamp(),
  signature   bytea       check (length(signature) = 64),
  primary key (stream_id, first_seq)
) partition by range (stream_id);

select log.protect('log.event'), log.protect('log.batch');


-- Committed, not yet sequenced. No evidence, so it may be emptied. The sequencer seals in the order of received_at: the
-- index costs something, and saves reading all of the outbox to find the oldest.
create table log.outbox (
  stream_id   bigint not null,
  first_seq   bigint not null,
  received_at timestamptz,
  primary key (stream_id, first_seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index outbox_received on log.outbox (received_at, stream_id, first_seq);

-- A batch of a sandbox is never sealed, so it does not wait for it.
create function log.leave_unsealed() returns trigger language plpgsql as $$
begin
  return null;
end $$;

create trigger not_of_sandbox before insert on log.outbox for each row
  when (new.stream_id >= 2251799813685248) execute function log.leave_unsealed();
alter table log.outbox enable always trigger not_of_sandbox;


-- The log's own clock: the newest instant that is sealed, and what is appended is never before it. The clock of the
-- database's host may be set back. Verification holds the leaves from since on to this.
create table log.clock (
  is_the_only boolean     primary key default true check (is_the_only),
  since       bigint      not null check (since >= 0),
  began_at    timestamptz not null,
  received_at timestamptz not null check (received_at >= began_at));

insert into log.clock (since, began_at, received_at) select 0, at, at from (select clock_timestamp()) now (at);

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


-- Partitions --------------------------------------------------------------------------------------------------------

-- Make sure that the month of `day` has its partitions, protected. Two callers at once make them once. A partition is
-- made beside its parent and then attached, which lets others write to the parent meanwhile.
create function log.ensure_month(day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  first   date   := date_trunc('month', day)::date;
  low     bigint := (first - date '2020-01-01')::bigint << 32;
  high    bigint := ((first + interval '1 month')::date - date '2020-01-01')::bigint << 32;
  guarded bigint;
  parent  text;
  child   text;
begin
  if to_regclass('log.batch' || to_char(first, '_YYYYMM')) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('log.ensure_month'));
  -- By the table itself: a name that was looked up in vain stays unknown to this session until it locks something.
  if exists (select from pg_catalog.pg_class c where c.relnamespace = 'log'::regnamespace
             and c.relname = 'batch' || to_char(first, '_YYYYMM')) then
    return;
  end if;
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values (format('ensure_month %s', first)) returning id into guarded;
  end if;
  foreach parent in array array['event', 'batch'] loop
    child := parent || to_char(first, '_YYYYMM');
    execute format('create table log.%I (like log.%I including all)', child, parent);
    execute (select format('alter table log.%I owner to %I', child, r.rolname)
             from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
             where c.oid = format('log.%I', parent)::regclass);
    execute format('alter table log.%I attach partition log.%I for values from (%s) to (%s)', parent, child, low, high);
    perform log.protect(format('log.%I', child)::regclass);
  end loop;
  if guarded is not null then
    update log_guard.maintenance set closed_at = clock_timestamp() where id = guarded;
  end if;
end $$;

-- This month and the two after it; any other is made when its first stream opens.
select log.ensure_month((current_date + make_interval(months => m))::date) from generate_series(0, 2) m;


-- Appending ---------------------------------------------------------------------------------------------------------

-- Append events if the stream stands at p_first. Returns whether it did, and where the stream stands now.
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

-- The same in one round trip for a request that is as it should be: find the stream, check that the key may write it,
-- append. If anything is in the way, nothing is appended, and the caller looks closer.
create function log.append_named(
  p_casino bigint, p_name text, p_tables bigint[], p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[],
  out stream_id bigint, out appended boolean, out chain bytea, out received_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select s.stream_id into append_named.stream_id from log.stream s
    where s.casino_id = p_casino and s.name = p_name and not s.is_of_desk
      and (p_tables is null or s.table_id = any (p_tables));
  if not found then
    appended := false;
    return;
  end if;
  select a.appended, a.chain, a.received_at into append_named.appended, append_named.chain, append_named.received_at
    from log.append(append_named.stream_id, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes) a;
end $$;
