-- The log on a Citus cluster. `manage.py distribute` runs this as a superuser, and each migrate of a distributed log again;
-- it is idempotent, and one transaction.
--
--   event, batch, stream_head, outbox      by stream_id, colocated: a stream is whole on one worker
--   stream, key, clock                     on every node: a name is found, and a batch dated, where it is stored
--   leaf, subtree, checkpoint, emptied     on the coordinator alone, beside Django's tables
--
-- The functions of the log keep names, signatures and owner. What a function does is written once, in the folder sql: where the
-- cluster needs more, the function itself is moved to the schema log_node, and another of its name calls it.
--
-- Citus speaks to another node as the role that a statement runs under, and a transaction writes to a shard under one role.
-- What writes to the log runs as its owner, cabochon_owner; so that role signs in here, from node to node: pg_hba.conf has to
-- let it in from there, and from nowhere else.

set local citus.enable_unsafe_triggers = on;  -- row triggers fire on the shard, where the row is: that is what is wanted
set local citus.multi_shard_modify_mode = 'sequential';

insert into log_guard.maintenance (reason) values ('distribute');


-- The guard ---------------------------------------------------------------------------------------------------------

create schema if not exists log_node;
revoke all on schema log_node from public;
grant usage on schema log_node to cabochon_owner;

do $$ begin
  if not (select rolcanlogin from pg_roles where rolname = 'cabochon_owner') then
    alter role cabochon_owner login;
  end if;
end $$;

-- On a worker Citus makes, moves and drops shards by connections of its own, at the word of the coordinator, whose guard has
-- judged it. Any other DDL on the log needs a maintenance of that node.
do $$
declare
  source text := (select prosrc from pg_proc where oid = 'log_guard.is_open()'::regprocedure);
begin
  if source !~ 'citus' then
    execute format(
      'create or replace function log_guard.is_open() returns boolean language sql stable'
      ' set search_path = pg_catalog, pg_temp as $guard$ select (%s) or ('
      'current_setting(''application_name'') ~ ''^citus_(internal|rebalancer) gpid='' and not citus_is_coordinator())'
      ' $guard$', source);
  end if;
end $$;


-- Months ------------------------------------------------------------------------------------------------------------

-- As streams.sql has it, but for what is there already: a partition's clone of a row trigger fires as its parent's does,
-- and bears another name on a shard, so that it cannot be enabled there by name.
create or replace function log.protect(relation regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  what record;
begin
  for what in select * from (values
      ('no_change', 'before update or delete', 'row'), ('no_truncate', 'before truncate', 'statement'))
      as wanted (name, fires, level) loop
    if not exists (select from pg_catalog.pg_trigger where tgrelid = relation and tgname = what.name) then
      execute format('create trigger %I %s on %s for each %s execute function log.refuse()',
                     what.name, what.fires, relation, what.level);
    end if;
    if exists (select from pg_catalog.pg_trigger
               where tgrelid = relation and tgname = what.name and tgenabled <> 'A') then
      execute format('alter table %s enable always trigger %I', relation, what.name);
    end if;
  end loop;
end $$;

-- Citus gives a shard the TRUNCATE trigger that its table has when it is distributed, and none later. So the partition of a
-- month has it as soon as there is a partition.
create or replace function log_node.protect_partition() returns event_trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  created record;
begin
  for created in select * from pg_event_trigger_ddl_commands() loop
    if created.command_tag = 'CREATE TABLE' and created.object_identity ~ '^log\.(event|batch)_?[0-9]{6}(_next)?$' then
      execute format('create trigger no_truncate before truncate on %s for each statement execute function log.refuse()',
                     created.object_identity);
      execute format('alter table %s enable always trigger no_truncate', created.object_identity);
    end if;
  end loop;
end $$;

do $$ begin
  if not exists (select from pg_event_trigger where evtname = 'log_node_protect_partition') then
    create event trigger log_node_protect_partition on ddl_command_end when tag in ('CREATE TABLE')
      execute function log_node.protect_partition();
    alter event trigger log_node_protect_partition enable always;
  end if;
end $$;


-- Where things are --------------------------------------------------------------------------------------------------

do $$ begin
  if exists (select from pg_dist_partition where logicalrelid = 'log.event'::regclass) then
    return;
  end if;
  -- It reads a table of the coordinator, and would run on every node: log_node.demand_space does the same before.
  drop trigger own_space on log.stream;
  create table log_node.together (number bigint primary key);
  alter table log_node.together owner to cabochon_owner;
  -- With it, Citus refuses to open a stream in a transaction that has read heads of several nodes.
  alter table log.stream_head drop constraint stream_head_stream_id_fkey;
  perform create_reference_table(each) from unnest(array['log.stream', 'log.key', 'log.clock']) each;
  perform create_distributed_table('log.stream_head', 'stream_id', colocate_with => 'none');
  perform create_distributed_table(each, 'stream_id', colocate_with => 'log.stream_head')
    from unnest(array['log.event', 'log.batch', 'log.outbox']) each;
  perform citus_add_local_table_to_metadata('log_node.together');
end $$;


-- Functions ---------------------------------------------------------------------------------------------------------

-- Each function that a migration has made, or made anew, goes behind the one of its name.
do $$
declare
  made record;
begin
  for made in select p.oid::regprocedure::text as signature from pg_proc p
      where p.pronamespace = 'log'::regnamespace and p.prosrc !~ 'log_node\.' and p.proname in
        ('append', 'hold', 'seal', 'ensure_month', 'open_stream', 'open_sandbox_stream', 'open_desk', 'empty_sandbox',
         'stage_month') loop
    execute format('drop function if exists %s', replace(made.signature, 'log.', 'log_node.'));
    execute format('alter function %s set schema log_node', made.signature);
  end loop;
end $$;

-- Where Citus needs it, some words of a function are others here.
create or replace function log_node.adapt(p_function regprocedure, p_was text, p_becomes text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made text := pg_get_functiondef(p_function);
begin
  if strpos(made, p_becomes) > 0 then
    return;
  elsif strpos(made, p_was) = 0 then
    raise exception 'log: % has not what is adapted to a cluster: %', p_function, p_was;
  end if;
  execute replace(made, p_was, p_becomes);
end $$;

-- What waits for a lock waits on the worker, to which Citus brings no setting of the session: so how long the caller waits
-- goes along, and ends with the transaction there.
create or replace function log_node.append_within(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_signature bytea, p_lock_timeout text,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('lock_timeout', p_lock_timeout, true);
  select a.* into append_within.appended, append_within.next_seq, append_within.chain, append_within.received_at
    from log_node.append(p_stream, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes, p_signature) a;
end $$;

create or replace function log_node.hold_within(
  p_stream bigint, p_lock_timeout text, out next_seq bigint, out chain bytea)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('lock_timeout', p_lock_timeout, true);
  select h.* into hold_within.next_seq, hold_within.chain from log_node.hold(p_stream) h;
end $$;

create or replace function log.append(
  p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[], p_signature bytea default null,
  out appended boolean, out next_seq bigint, out chain bytea, out received_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lock_timeout text := current_setting('lock_timeout');
begin
  select a.* into append.appended, append.next_seq, append.chain, append.received_at
    from log_node.append_within(
      p_stream, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes, p_signature, lock_timeout) a;
end $$;

-- Whoever holds a stream, or seals, writes to tables of the coordinator, too. A write to one that Citus knows, even of no
-- row, makes the commit two-phase: both are committed, or neither.
create or replace function log_node.in_two_phases() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from log_node.together where number = 0;
end $$;

create or replace function log.hold(p_stream bigint, out next_seq bigint, out chain bytea)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lock_timeout text := current_setting('lock_timeout');
begin
  perform log_node.in_two_phases();
  select h.* into hold.next_seq, hold.chain from log_node.hold_within(p_stream, lock_timeout) h;
end $$;

-- Whoever begins to verify sees all of a seal or of an opening, or nothing: they commit on several nodes, one after the other.
create or replace function log_node.keep_together() returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select pg_advisory_xact_lock_shared(hashtext('log.view'))
$$;

create or replace function log.seal(
  p_size bigint, p_streams bigint[], p_firsts bigint[], p_hashes bytea[],
  p_heights smallint[], p_indexes bigint[], p_subtrees bytea[], p_root bytea, p_note text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform log_node.keep_together();
  perform log_node.in_two_phases();
  perform log_node.seal(p_size, p_streams, p_firsts, p_hashes, p_heights, p_indexes, p_subtrees, p_root, p_note);
end $$;

-- DDL and rows, which are under two roles, do not fit in one transaction: a month is made in one of its own.
create or replace function log_node.make_month(day date) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set citus.enable_unsafe_triggers = on set citus.multi_shard_modify_mode = 'sequential' as $$
begin
  perform log_node.ensure_month(day);
end $$;

create or replace function log.ensure_month(day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  done record;
begin
  if to_regclass('log.batch' || to_char(day, '_YYYYMM')) is not null then
    return;
  end if;
  select * into done from run_command_on_coordinator(format('select log_node.make_month(%L)', day));
  if not done.success then
    raise exception 'log: no month for %: %', day, done.result;
  end if;
end $$;

-- Months change places in a transaction that also writes an entry: all of it under the role that writes, and by one
-- connection a node, as what one has read another may not lock. Before, log_node.allow_moves(true) is committed: nodes
-- make the shards by connections that do not see what this transaction has granted.
create or replace function log_node.begin_to_archive() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into log_guard.maintenance (reason) values ('archive');
  perform set_config('citus.enable_unsafe_triggers', 'on', true), set_config('citus.multi_shard_modify_mode', 'sequential', true),
    set_config('citus.max_adaptive_executor_pool_size', '1', true), set_config('role', 'cabochon_owner', true),
    set_config('citus.propagate_set_commands', 'local', true);  -- the caller's lock_timeout is one of every node
end $$;

-- That role may open no maintenance, and one is open already.
select log_node.adapt('log_node.stage_month(date)', 'if to_regclass(''log_guard.maintenance'') is not null then', 'if false then');

-- Of several shards Citus reads no rows without a column, as an exists has them elsewhere.
create or replace function log_node.has_unsealed(p_low bigint, p_high bigint) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select 1 from log.outbox o where o.stream_id >= p_low and o.stream_id < p_high);
end $$;

select log_node.adapt('public.audit_act_log_archived(jsonb, bigint, text)',
  'exists (select from log.outbox o where o.stream_id >= ids.low and o.stream_id < ids.high)',
  'log_node.has_unsealed(ids.low, ids.high)');

create or replace function log.stage_month(p_month date) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  staged text := log_node.stage_month(p_month);
begin
  perform create_distributed_table(format('log.%I', staged), 'stream_id', colocate_with => 'log.event');
  return staged;
end $$;

-- The locks that number streams are the coordinator's, and so is the table that says which casino is a sandbox.
create or replace function log_node.demand_space(p_casino bigint, p_is_sandbox boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not citus_is_coordinator() then
    raise exception 'log: streams are opened on the coordinator' using errcode = 'feature_not_supported';
  end if;
  if p_is_sandbox <> exists (select from public.audit_casino c where c.id = p_casino and c.is_sandbox) then
    raise exception 'log: a stream in the space of %, and its casino is not',
      case when p_is_sandbox then 'sandboxes' else 'casinos' end using errcode = 'ES403';
  end if;
  perform log_node.keep_together();
end $$;

create or replace function log.open_stream(
  p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform log_node.demand_space(p_casino, false);
  return log_node.open_stream(p_casino, p_table, p_name, p_day, p_game, p_ruleset, p_currency);
end $$;

create or replace function log.open_sandbox_stream(
  p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform log_node.demand_space(p_casino, true);
  return log_node.open_sandbox_stream(p_casino, p_table, p_name, p_day, p_game, p_ruleset, p_currency);
end $$;

create or replace function log.open_desk(p_casino bigint, p_day date)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform log_node.keep_together();
  return log_node.open_desk(p_casino, p_day);
end $$;

-- What a statement reads through a function, Citus does not see: so a statement about tables of the coordinator may have any
-- form. Each reads one node, but for streams(), which reads this one, and heads() and unsealed(), which read all.
create or replace function log_node.streams() returns setof log.stream
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.stream;
end $$;

create or replace function log_node.stream_of(p_stream bigint) returns setof log.stream
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.stream s where s.stream_id = p_stream;
end $$;

create or replace function log_node.heads() returns setof log.stream_head
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.stream_head;
end $$;

create or replace function log_node.unsealed() returns setof log.batch
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select b.* from log.outbox o join log.batch b on b.stream_id = o.stream_id and b.first_seq = o.first_seq;
end $$;

create or replace function log_node.batches_of(p_stream bigint) returns setof log.batch
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.batch b where b.stream_id = p_stream;
end $$;

create or replace function log_node.outbox_of(p_stream bigint) returns setof log.outbox
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.outbox o where o.stream_id = p_stream;
end $$;

create or replace function log_node.events_of(p_stream bigint) returns setof log.event
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.event e where e.stream_id = p_stream;
end $$;

create or replace function log_node.head_of(p_stream bigint) returns setof log.stream_head
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select * from log.stream_head h where h.stream_id = p_stream;
end $$;

-- Whether a row of a sandbox may go is asked by triggers of shards, which may read no table of the cluster. They read the
-- rows that their own node has of log_node.emptying: there are some in the transaction that empties, and at no other time.
do $$ begin
  if to_regclass('log_node.emptying') is null then
    create table log_node.emptying (stream_id bigint primary key);
    alter table log_node.emptying owner to cabochon_owner;
    perform create_reference_table('log_node.emptying');
  end if;
  execute format(
    'create or replace function log.is_being_emptied(p_stream bigint) returns boolean'
    ' language plpgsql stable set search_path = pg_catalog, pg_temp as $body$ begin'
    ' return p_stream >= 1::bigint << 51 and exists (select from log_node.emptying_%s e where e.stream_id = p_stream);'
    ' end $body$',
    (select shardid from pg_dist_shard where logicalrelid = 'log_node.emptying'::regclass));
end $$;

-- Citus locks rows of one shard at a time.
create or replace function log_node.hold_heads(p_streams bigint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  each bigint;
begin
  for each in select u from unnest(p_streams) u order by u loop
    perform from log.stream_head h where h.stream_id = each for update;
  end loop;
end $$;

-- The name of a shard ends in its number.
select log_node.adapt('log.refuse()', 'tg_table_name in (', 'regexp_replace(tg_table_name, ''_[0-9]+$'', '''') in (');
select log_node.adapt('log_node.empty_sandbox(bigint)',
  'perform from log.stream_head h where h.stream_id = any (ids) order by h.stream_id for update;',
  'perform log_node.hold_heads(ids);');

create or replace function log.empty_sandbox(p_casino bigint, out streams bigint, out events bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set citus.multi_shard_modify_mode = 'sequential' set citus.max_adaptive_executor_pool_size = 1 as $$
begin
  perform log_node.keep_together();
  perform log_node.in_two_phases();
  perform pg_advisory_xact_lock(hashtext('log.open_sandbox_stream'));
  insert into log_node.emptying
    select s.stream_id from log.stream s where s.casino_id = p_casino and not s.is_of_desk;
  select e.* into empty_sandbox.streams, empty_sandbox.events from log_node.empty_sandbox(p_casino) e;
  delete from log_node.emptying where true;
end $$;

-- Citus makes a shard that it moves anew, with its triggers, as the owner of its table. Nobody may that otherwise.
create or replace function log_node.allow_moves(is_allowed boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into log_guard.maintenance (reason) values (format('shards may move: %s', is_allowed));
  if is_allowed then
    grant create on schema log, log_node to cabochon_owner;
    grant execute on function log.refuse, log.refuse_step_back, log.refuse_archived to cabochon_owner;
  else
    revoke create on schema log, log_node from cabochon_owner;
    revoke execute on function log.refuse, log.refuse_step_back, log.refuse_archived from cabochon_owner;
  end if;
end $$;

do $$
declare
  each regprocedure;
begin
  for each in select p.oid from pg_proc p
      where p.pronamespace = 'log_node'::regnamespace or (p.pronamespace = 'log'::regnamespace and p.prosrc ~ 'log_node\.') loop
    execute format('revoke all on function %s from public', each);
  end loop;
  for each in select p.oid from pg_proc p
      where (p.pronamespace = 'log_node'::regnamespace or (p.pronamespace = 'log'::regnamespace and p.prosrc ~ 'log_node\.'))
        and p.proname not in ('ensure_month', 'make_month', 'protect_partition', 'allow_moves', 'begin_to_archive',
                              'adapt', 'is_being_emptied') loop
    execute format('alter function %s owner to cabochon_owner', each);
  end loop;
  -- What refuses stays with who migrates.
  execute format('alter function log.is_being_emptied(bigint) owner to %I',
                 (select pg_get_userbyid(p.proowner) from pg_proc p where p.oid = 'log.refuse()'::regprocedure));
end $$;
grant execute on function log.ensure_month, log.swap_month, log.month_range, log.protect, log.is_being_emptied to cabochon_owner;
grant execute on function log.append, log.hold, log.open_stream, log.open_sandbox_stream, log.open_desk to cabochon_writer;
grant execute on function log.seal to cabochon_sequencer;
grant usage on schema log_node to cabochon_reader;
grant execute on function log_node.streams, log_node.stream_of, log_node.heads, log_node.unsealed, log_node.batches_of, log_node.outbox_of,
  log_node.events_of, log_node.head_of
  to cabochon_reader;

do $$
declare
  made record;
begin
  for made in select p.oid::regprocedure as function, p.pronamespace = 'log_node'::regnamespace as is_delegated
      from pg_proc p
      where ((p.pronamespace = 'log_node'::regnamespace and p.proname in ('append', 'append_within', 'hold', 'hold_within'))
             or (p.pronamespace = 'log'::regnamespace and p.proname in ('append', 'append_named', 'is_being_emptied')))
        and not exists (select from pg_catalog.pg_dist_object o
                        where o.classid = 'pg_proc'::regclass and o.objid = p.oid
                          and (p.pronamespace = 'log'::regnamespace or o.distribution_argument_index is not null)) loop
    if made.is_delegated then
      perform create_distributed_function(made.function, 'p_stream', colocate_with => 'log.event', force_delegation => true);
    else
      perform create_distributed_function(made.function);
    end if;
  end loop;
end $$;
