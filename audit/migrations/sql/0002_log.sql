-- The log: append-only tables of events, and the one function that writes to them.
--
--   stream_id = (gaming_day - 2020-01-01) << 32 | n, so a month of gaming days is a range of keys:
--   PRIMARY KEY (stream_id, seq) is a true unique key on a table partitioned by month.

create schema log;

-- casino_id and table_id are checked when a stream opens. They are no foreign keys: what refers to the log must never
-- have a say in what the log may keep.
create table log.stream (
  stream_id  bigint      primary key,
  casino_id  bigint      not null,
  table_id   bigint,                                   -- null: a count room reports on every table
  name       text        not null check (name ~ '^[A-Za-z0-9._:-]{1,100}$'),
  gaming_day date        not null check (gaming_day >= '1990-01-01' and gaming_day < '2101-01-01'),
  game       text,                                     -- null: a count
  ruleset    text,
  currency   text        not null,
  opened_at  timestamptz not null default clock_timestamp(),
  unique (casino_id, name),
  check (stream_id >> 32 = gaming_day - date '2020-01-01'));

create index stream_newest on log.stream (casino_id, gaming_day desc, stream_id desc);

-- The only rows that change: a cache of the next number and the chain's value, rebuildable from log.batch.
create table log.stream_head (
  stream_id bigint primary key references log.stream,
  next_seq  bigint not null default 1,
  chain     bytea  not null default decode(repeat('00', 32), 'hex')
) with (fillfactor = 40);

create table log.event (
  stream_id   bigint      not null,
  seq         bigint      not null check (seq between 1 and 9007199254740991),
  occurred_at timestamptz not null,
  envelope    json        not null,                    -- json, not jsonb: the very bytes that were hashed are kept
  primary key (stream_id, seq)
) partition by range (stream_id);

-- One row for each accepted request.
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
  primary key (stream_id, first_seq)
) partition by range (stream_id);

-- Committed, not yet sequenced. No evidence, so it may be emptied.
create table log.outbox (
  stream_id bigint not null,
  first_seq bigint not null,
  primary key (stream_id, first_seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);


-- Immutability ------------------------------------------------------------------------------------------------------

create function log.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'log: % on %.% is not allowed, the log is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'ES001';
end $$;

create function log.protect(relation regclass) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select 1 from pg_catalog.pg_trigger where tgrelid = relation and tgname = 'no_change') then
    execute format('create trigger no_change before update or delete on %s for each row execute function log.refuse()', relation);
  end if;
  -- TRUNCATE triggers are not cloned to partitions: every partition needs its own.
  execute format('create trigger no_truncate before truncate on %s for each statement execute function log.refuse()', relation);
  -- ALWAYS: they fire under session_replication_role = replica too.
  execute format('alter table %s enable always trigger no_change', relation);
  execute format('alter table %s enable always trigger no_truncate', relation);
end $$;

select log.protect('log.stream'), log.protect('log.event'), log.protect('log.batch');

-- A head may only move forward.
create function log.refuse_step_back() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' or new.stream_id <> old.stream_id or new.next_seq <= old.next_seq then
    raise exception 'log: % on a stream''s head is not allowed', tg_op using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger forward_only before update or delete on log.stream_head for each row execute function log.refuse_step_back();
create trigger no_truncate before truncate on log.stream_head for each statement execute function log.refuse();
alter table log.stream_head enable always trigger forward_only;
alter table log.stream_head enable always trigger no_truncate;


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


-- Writing -----------------------------------------------------------------------------------------------------------

-- Open a stream and return its id; the id of the one that is there, if its name is taken.
create function log.open_stream(
  p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day_key bigint := (p_day - date '2020-01-01')::bigint << 32;
  id      bigint;
begin
  perform log.ensure_month(p_day);
  perform pg_advisory_xact_lock(hashtext('log.open_stream'), p_day - date '2020-01-01');
  select coalesce(max(stream_id), day_key) + 1 into id
    from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32);
  -- Waits for another transaction that opens a stream of this name on another day.
  insert into log.stream (stream_id, casino_id, table_id, name, gaming_day, game, ruleset, currency)
    values (id, p_casino, p_table, p_name, p_day, p_game, p_ruleset, p_currency)
    on conflict (casino_id, name) do nothing;
  if not found then
    select stream_id into id from log.stream where casino_id = p_casino and name = p_name;
    return id;
  end if;
  insert into log.stream_head (stream_id) values (id);
  return id;
end $$;

-- Append events if the stream stands at p_first. Returns whether it did, and where the stream stands now.
create function log.append(
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
  received_at := clock_timestamp();
  insert into log.event (stream_id, seq, occurred_at, envelope)
    select p_stream, e.seq, e.occurred_at, e.envelope::json
    from unnest(p_seqs, p_occurred, p_envelopes) as e (seq, occurred_at, envelope);
  insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id, received_at)
    values (p_stream, p_first, p_seqs[n], p_next, n, p_root, chain, p_key, received_at);
  insert into log.outbox (stream_id, first_seq) values (p_stream, p_first);
  update log.stream_head h set next_seq = p_next, chain = append.chain where h.stream_id = p_stream;
  appended := true; next_seq := p_next;
end $$;
