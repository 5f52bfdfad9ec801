-- Sandboxes: casinos for trying a table system, whose record is apart and can be emptied.
--
--   a stream of a sandbox     has an id from 2^51 on, and is in the partitions event_sandbox and batch_sandbox
--   a stream of a casino      has an id below; the desk stream of a sandbox is one of these
--
-- So no month, night or archive, which are ranges of ids, can have a sandbox in it. A batch of a sandbox does not enter
-- the outbox and is never a leaf of the tree: what was sealed could not be emptied without a hole in the proofs. What
-- officers and commands do about a sandbox (its keys, its emptying) is in its desk stream, which is sealed and stays.
--
-- cabochon_writer calls log.open_sandbox_stream. log.empty_sandbox is called by the function of the entry with which a
-- sandbox is emptied alone: audit/access/sql/sandboxes.sql.

do $$
declare
  parent text;
begin
  foreach parent in array array['event', 'batch'] loop
    execute format('create table log.%I (like log.%I including all)', parent || '_sandbox', parent);
    execute format('alter table log.%I attach partition log.%I for values from (%s) to (%s)',
                   parent, parent || '_sandbox', 1::bigint << 51, 1::bigint << 53);
    perform log.protect(format('log.%I', parent || '_sandbox')::regclass);
  end loop;
end $$;

-- A row for each emptying. In the transaction of that row, and for the streams of that sandbox alone, the triggers let
-- rows go: whatever account deletes, and with every trigger in force. last_number is the greatest lower half of an id
-- that was emptied so far: no id is ever given twice.
create table log.emptied (
  number      bigint generated always as identity primary key,
  casino_id   bigint      not null,
  streams     bigint      not null check (streams >= 0),
  events      bigint      not null check (events >= 0),
  last_number bigint      not null,
  emptied_at  timestamptz not null default clock_timestamp(),
  transaction xid8        not null default pg_current_xact_id());

select log.protect('log.emptied');

-- Whether a stream is of a sandbox that this transaction empties.
create function log.is_being_emptied(p_stream bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select p_stream >= 1::bigint << 51 and exists (
    select from log.stream s join log.emptied e on e.casino_id = s.casino_id
    where s.stream_id = p_stream and e.transaction = pg_current_xact_id())
$$;

-- As log.open_stream, in the space of sandboxes; the partitions are there.
create function log.open_sandbox_stream(
  p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day_key bigint := (p_day - date '2020-01-01' + (1::bigint << 20)) << 32;
  id      bigint;
begin
  perform pg_advisory_xact_lock(hashtext('log.open_sandbox_stream'));
  select greatest(
      (select max(stream_id) from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32)),
      day_key + coalesce((select max(e.last_number) from log.emptied e), 0)) + 1
    into id;
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

-- The one way in which a sandbox's events go. Refuses any other casino; its caller holds that casino's row.
create function log.empty_sandbox(p_casino bigint, out streams bigint, out events bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  ids  bigint[];
  last bigint;
begin
  if not exists (select from public.audit_casino c where c.id = p_casino and c.is_sandbox) then
    raise exception 'not-a-sandbox' using errcode = 'ES403';
  end if;
  -- Nobody opens a stream meanwhile, and whoever appends has finished.
  perform pg_advisory_xact_lock(hashtext('log.open_sandbox_stream'));
  select coalesce(array_agg(s.stream_id), '{}'), coalesce(max(s.stream_id & ((1::bigint << 32) - 1)), 0) into ids, last
    from log.stream s where s.casino_id = p_casino and not s.is_of_desk;
  perform from log.stream_head h where h.stream_id = any (ids) order by h.stream_id for update;
  streams := cardinality(ids);
  select count(*) into empty_sandbox.events from log.event e where e.stream_id = any (ids);
  insert into log.emptied (casino_id, streams, events, last_number)
    values (p_casino, streams, empty_sandbox.events, last);
  delete from log.event e where e.stream_id = any (ids);
  delete from log.batch b where b.stream_id = any (ids);
  delete from log.stream_head h where h.stream_id = any (ids);
  delete from log.stream s where s.stream_id = any (ids);
end $$;
