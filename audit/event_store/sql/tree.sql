-- The tree: one leaf for each batch, in the order in which one sequencer met them after their commit. Gapless, because
-- a leaf's number is the leaf count before it, and two sequencers cannot both use one number.
--
-- cabochon_sequencer calls log.seal and log.register_key; cabochon_reader reads the tables.

create table log.leaf (
  log_index bigint primary key check (log_index >= 0),
  stream_id bigint not null,
  first_seq bigint not null,
  hash      bytea  not null check (length(hash) = 32),
  unique (stream_id, first_seq));

-- The roots of full subtrees of 256, 65,536, … leaves, so that a proof reads hundreds of hashes and not all of them.
create table log.subtree (
  height smallint not null check (height > 0 and height % 8 = 0),
  index  bigint   not null check (index >= 0),
  hash   bytea    not null check (length(hash) = 32),
  primary key (height, index));

-- C2SP tlog-checkpoint, as a signed note: one for each round of leaves, numbered, so that none can be missing.
create table log.checkpoint (
  number bigint primary key check (number > 0),
  size   bigint not null unique check (size >= number),
  root   bytea  not null check (length(root) = 32),
  note   text   not null);

-- Public keys: what signed a checkpoint or a receipt, and from when on. A key is valid until the next of its purpose.
create table log.key (
  key_id     bytea       primary key check (length(key_id) = 4),
  name       text        not null check (name ~ '^[^[:space:]+]+$'),
  purpose    text        not null check (purpose in ('checkpoint', 'receipt')),
  public_key bytea       not null unique check (length(public_key) = 32),
  valid_from timestamptz not null,
  reason     text        not null,
  unique (purpose, valid_from));

select log.protect('log.leaf'), log.protect('log.subtree'), log.protect('log.checkpoint'), log.protect('log.key');


-- Append the leaves of batches to a tree of p_size leaves with its new checkpoint, and take the batches out of the
-- outbox. A second sequencer finds a larger tree, or waits for the number of the leaf and finds it taken.
create function log.seal(
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

-- Register a public key. It is valid from p_valid_from on, which is not past, and its forerunner until then.
create function log.register_key(
  p_key_id bytea, p_name text, p_purpose text, p_public bytea, p_valid_from timestamptz, p_reason text)
returns timestamptz language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into log.key (key_id, name, purpose, public_key, valid_from, reason)
    values (p_key_id, p_name, p_purpose, p_public, greatest(p_valid_from, clock_timestamp()), p_reason)
    returning valid_from
$$;
