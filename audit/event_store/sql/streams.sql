-- The log's streams: one for each session of a table, each count, and each casino's and day's acts of officers.
--
--   stream_id = (gaming_day - 2020-01-01) << 32 | n      so a month of gaming days is a range of ids
--   stream_id + (1 << 52)                                of a sandbox: see sandboxes.sql
--
-- The log is append-only: triggers refuse every change, whatever account makes it. No role writes a table of it but
-- through its functions; cabochon_reader reads all of them. audit/access/database_roles.py has the rights, which every
-- migrate applies. cabochon_writer calls log.open_stream, log.open_desk and log.hold.

create schema log;


-- Immutability ------------------------------------------------------------------------------------------------------

-- The one exception is a sandbox that is being emptied.
create function log.refuse() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' and tg_table_name in ('event_sandbox', 'batch_sandbox', 'stream') then
    if old.stream_id >= 1::bigint << 51 and log.is_being_emptied(old.stream_id) then
      return old;
    end if;
  end if;
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


-- Streams -----------------------------------------------------------------------------------------------------------

-- casino_id and table_id are checked when a stream opens. They are no foreign keys: what refers to the log must never
-- have a say in what the log may keep. casino_id 0 is the installation itself.
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
  is_of_desk boolean     not null default false,       -- the acts of officers: one stream a casino and day
  unique (casino_id, name),
  check ((stream_id >> 32) - case when stream_id >= 1::bigint << 51 then 1::bigint << 20 else 0 end
         = gaming_day - date '2020-01-01'));

create index stream_newest on log.stream (casino_id, gaming_day desc, stream_id desc);
create unique index one_desk_stream_a_day on log.stream (casino_id, gaming_day) where is_of_desk;

select log.protect('log.stream');

-- However a stream is opened: one of a sandbox is in the space of sandboxes, and no other is.
create function log.demand_space() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if (new.stream_id >= 1::bigint << 51) <> (not new.is_of_desk and exists (
      select from public.audit_casino c where c.id = new.casino_id and c.is_sandbox)) then
    raise exception 'log: stream % is in the space of %, and its casino is not', new.stream_id,
      case when new.stream_id >= 1::bigint << 51 then 'sandboxes' else 'casinos' end using errcode = 'ES403';
  end if;
  return new;
end $$;

create trigger own_space before insert on log.stream for each row execute function log.demand_space();
alter table log.stream enable always trigger own_space;


-- Where each stream stands: a cache of the next number and the chain's value, rebuildable from log.batch. These are the
-- only rows of a stream that change, and only forward.
create table log.stream_head (
  stream_id   bigint primary key references log.stream,
  next_seq    bigint not null default 1,
  chain       bytea  not null default decode(repeat('00', 32), 'hex'),
  received_at timestamptz                              -- of the stream's last batch; null before the first
) with (fillfactor = 40);

create function log.refuse_step_back() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.stream_id >= 1::bigint << 51 and log.is_being_emptied(old.stream_id) then
      return old;
    end if;
    raise exception 'log: % on a stream''s head is not allowed', tg_op using errcode = 'ES001';
  end if;
  if tg_op <> 'UPDATE' or new.stream_id <> old.stream_id or new.next_seq <= old.next_seq then
    raise exception 'log: % on a stream''s head is not allowed', tg_op using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger forward_only before update or delete on log.stream_head for each row execute function log.refuse_step_back();
create trigger no_truncate before truncate on log.stream_head for each statement execute function log.refuse();
alter table log.stream_head enable always trigger forward_only;
alter table log.stream_head enable always trigger no_truncate;


-- Opening -----------------------------------------------------------------------------------------------------------

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

-- Open the stream of a casino's desk for a day and return its id; the one it has, where it is open already.
create function log.open_desk(p_casino bigint, p_day date)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day_key bigint := (p_day - date '2020-01-01')::bigint << 32;
  wanted  text   := format('desk:%s', p_day);
  id      bigint;
begin
  select stream_id into id from log.stream where casino_id = p_casino and gaming_day = p_day and is_of_desk;
  if found then
    return id;
  end if;
  perform log.ensure_month(p_day);
  perform pg_advisory_xact_lock(hashtext('log.open_stream'), p_day - date '2020-01-01');
  select stream_id into id from log.stream where casino_id = p_casino and gaming_day = p_day and is_of_desk;
  if found then
    return id;
  end if;
  -- A table system may have taken the name; the desk goes by another then.
  while exists (select from log.stream where casino_id = p_casino and name = wanted) loop
    wanted := wanted || ':';
  end loop;
  select coalesce(max(stream_id), day_key) + 1 into id
    from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32);
  insert into log.stream (stream_id, casino_id, name, gaming_day, currency, is_of_desk)
    values (id, p_casino, wanted, p_day, '', true);
  insert into log.stream_head (stream_id) values (id);
  return id;
end $$;

-- Where a stream stands, held for this transaction: whoever wants to append next waits.
create function log.hold(p_stream bigint, out next_seq bigint, out chain bytea)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select h.next_seq, h.chain from log.stream_head h where h.stream_id = p_stream for update
$$;
