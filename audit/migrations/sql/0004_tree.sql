-- The tree: one leaf for each batch, in the order in which one sequencer met them after their commit. Gapless, because
-- a leaf's number is the leaf count before it, and two sequencers cannot both use one number.

do $$
begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('the tree over batches, its keys, and the desk''s own streams');
  end if;
end $$;

-- The acts of officers are events of the log, in a stream a casino and day. casino_id 0 is the installation itself.
alter table log.stream add column is_of_desk boolean not null default false;
create unique index one_desk_stream_a_day on log.stream (casino_id, gaming_day) where is_of_desk;

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
-- outbox. Whoever comes second finds a larger tree, or waits for the number of the leaf and finds it taken.
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

revoke all on function log.seal, log.register_key, log.open_desk, log.hold from public;


-- Powers ------------------------------------------------------------------------------------------------------------

do $$
declare
  relation regclass;
begin
  if not (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    return;
  end if;
  begin
    create role cabochon_sequencer nologin;
  exception when duplicate_object or unique_violation then  -- another database of this server has it
    null;
  end;
  if to_regclass('log_guard.maintenance') is not null then
    create or replace view log_guard.foreign_grant as
      select grantee, privilege_type
      from (
        select c.relowner as owner, a.grantee, a.privilege_type
          from pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
          where c.relnamespace = 'log'::pg_catalog.regnamespace
        union all
        select c.relowner, a.grantee, a.privilege_type
          from pg_catalog.pg_class c join pg_catalog.pg_attribute t on t.attrelid = c.oid,
               pg_catalog.aclexplode(t.attacl) a
          where c.relnamespace = 'log'::pg_catalog.regnamespace
        union all
        select n.nspowner, a.grantee, a.privilege_type
          from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
          where n.nspname = 'log'
        union all
        select p.proowner, a.grantee, a.privilege_type
          from pg_catalog.pg_proc p, pg_catalog.aclexplode(p.proacl) a
          where p.pronamespace = 'log'::pg_catalog.regnamespace
        union all
        select 0, d.defaclrole, 'default'
          from pg_catalog.pg_default_acl d where d.defaclnamespace = 'log'::pg_catalog.regnamespace
      ) granted
      where grantee <> owner
        and privilege_type <> 'USAGE'
        and (grantee = 0 or (pg_catalog.pg_get_userbyid(grantee), privilege_type) not in (
          ('cabochon_reader', 'SELECT'), ('cabochon_writer', 'EXECUTE'), ('cabochon_owner', 'EXECUTE'),
          ('cabochon_sequencer', 'EXECUTE')));

    create or replace view log_guard.misplaced as
      select wanted.name
      from unnest(array['stream', 'stream_head', 'event', 'batch', 'outbox', 'leaf', 'subtree', 'checkpoint', 'key'])
        as wanted (name)
      where not exists (
        select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'log' and c.relname = wanted.name)
      union all
      select wanted.name
      from unnest(array['refuse', 'refuse_step_back', 'protect', 'ensure_month', 'open_stream', 'append', 'seal',
                        'register_key', 'open_desk', 'hold']) as wanted (name)
      where not exists (
        select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'log' and p.proname = wanted.name)
      union all
      select child.relname
      from pg_catalog.pg_inherits i
      join pg_catalog.pg_class parent on parent.oid = i.inhparent
      join pg_catalog.pg_class child on child.oid = i.inhrelid
      join pg_catalog.pg_namespace n on n.oid = parent.relnamespace
      where n.nspname = 'log' and child.relnamespace <> parent.relnamespace;
  end if;
  grant usage on schema log to cabochon_sequencer;
  grant execute on function log.seal, log.register_key to cabochon_sequencer;
  grant execute on function log.open_desk, log.hold to cabochon_writer;
  grant select on log.leaf, log.subtree, log.checkpoint, log.key to cabochon_reader;
  if not (select rolsuper from pg_roles where rolname = current_user) then
    return;
  end if;
  foreach relation in array array['log.leaf', 'log.subtree', 'log.checkpoint', 'log.key']::regclass[] loop
    execute format('alter table %s owner to cabochon_owner', relation);
  end loop;
  alter function log.seal owner to cabochon_owner;
  alter function log.register_key owner to cabochon_owner;
  alter function log.open_desk owner to cabochon_owner;
  alter function log.hold owner to cabochon_owner;
end $$;
