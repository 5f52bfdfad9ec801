-- Sandboxes: casinos for trying a table system, whose record is apart and can be emptied.
--
--   a stream of a sandbox     has an id from 2^51 on, and is in the partitions event_sandbox and batch_sandbox
--   a stream of a casino      has an id below, as ever; the desk stream of a sandbox is one of these
--
-- So no month, night or archive, which are ranges of ids, can have a sandbox in it. A batch of a sandbox does not enter
-- the outbox and is never a leaf of the tree: what was sealed could not be emptied without a hole in the proofs. What
-- officers and commands do about a sandbox (its keys, its emptying) is in its desk stream, which is sealed and stays.
--
-- log.emptied has a row for each emptying. In the transaction of that row, and for the streams of that sandbox alone,
-- the triggers let rows go: whatever account deletes, and with every trigger in force.

do $guard$ begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('sandboxes');
  end if;
end $guard$;

alter table log.stream drop constraint stream_check;
alter table log.stream add constraint stream_check check (
  (stream_id >> 32) - case when stream_id >= 1::bigint << 51 then 1::bigint << 20 else 0 end
  = gaming_day - date '2020-01-01');

-- last_number is the greatest lower half of an id that was emptied so far: no id is ever given twice.
create table log.emptied (
  number      bigint generated always as identity primary key,
  casino_id   bigint      not null,
  streams     bigint      not null check (streams >= 0),
  events      bigint      not null check (events >= 0),
  last_number bigint      not null,
  emptied_at  timestamptz not null default clock_timestamp(),
  transaction xid8        not null default pg_current_xact_id()
);

do $$
declare
  parent text;
begin
  foreach parent in array array['event', 'batch'] loop
    execute format('create table log.%I (like log.%I including all)', parent || '_sandbox', parent);
    execute (select format('alter table log.%I owner to %I', parent || '_sandbox', r.rolname)
             from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
             where c.oid = format('log.%I', parent)::regclass);
    execute format('alter table log.%I attach partition log.%I for values from (%s) to (%s)',
                   parent, parent || '_sandbox', 1::bigint << 51, 1::bigint << 53);
    perform log.protect(format('log.%I', parent || '_sandbox')::regclass);
  end loop;
  perform log.protect('log.emptied'::regclass);
end $$;

-- Whether a stream is of a sandbox that this transaction empties.
create function log.is_being_emptied(p_stream bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select p_stream >= 1::bigint << 51 and exists (
    select from log.stream s join log.emptied e on e.casino_id = s.casino_id
    where s.stream_id = p_stream and e.transaction = pg_current_xact_id())
$$;

create or replace function log.refuse() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' and tg_table_name in ('event_sandbox', 'batch_sandbox', 'stream') then
    if old.stream_id >= 1::bigint << 51 and log.is_being_emptied(old.stream_id) then
      return old;
    end if;
  end if;
  raise exception 'log: % on %.% is not allowed, the log is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'ES001';
end $$;

create or replace function log.refuse_step_back() returns trigger language plpgsql as $$
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

-- What is never sealed does not wait for it.
create function log.leave_unsealed() returns trigger language plpgsql as $$
begin
  return null;
end $$;

create trigger not_of_sandbox before insert on log.outbox for each row
  when (new.stream_id >= 2251799813685248) execute function log.leave_unsealed();
alter table log.outbox enable always trigger not_of_sandbox;

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

-- sandbox.emptied, an entry in the sandbox's own desk stream. What was computed from the events goes with them.
create function audit_act_sandbox_emptied(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  casino bigint := (envelope ->> 'casino_id')::bigint;
  ids    bigint[];
  found_findings bigint;
  gone   record;
begin
  perform audit_demand_command(envelope);
  perform from audit_casino c where c.id = casino and c.is_sandbox for no key update;
  if not found then
    raise exception 'not-a-sandbox' using errcode = 'ES403';
  end if;
  if exists (select from audit_case c where c.casino_id = casino)
     or exists (select from audit_nightreport n where n.casino_id = casino) then
    raise exception 'officers-have-worked' using errcode = 'ES403';
  end if;
  select coalesce(array_agg(s.stream_id), '{}') into ids
    from log.stream s where s.casino_id = casino and not s.is_of_desk;
  -- A worker that folds one of them has finished after this.
  delete from audit_adjudication a where a.stream_id = any (ids);
  delete from audit_retiredwagers w using audit_adjudicationrun r where r.id = w.run_id and r.casino_id = casino;
  delete from audit_whatiffinding f where f.casino_id = casino;
  delete from audit_deadletter d using audit_findingchange c where c.id = d.change_id and c.casino_id = casino;
  delete from audit_findingchange c where c.casino_id = casino;
  delete from audit_finding f where f.casino_id = casino;
  get diagnostics found_findings = row_count;
  delete from audit_adjudicationrun r where r.casino_id = casino;
  delete from audit_waitingstream w where w.stream_id = any (ids);
  delete from audit_sessionfigures f where f.stream_id = any (ids);
  delete from audit_streammoney m where m.stream_id = any (ids);
  delete from audit_streamevidence e where e.stream_id = any (ids);
  delete from audit_slipuse u where u.stream_id = any (ids);
  delete from audit_quarantined q where q.casino_id = casino;
  select * into gone from log.empty_sandbox(casino);
  return jsonb_build_object('streams', gone.streams, 'events', gone.events, 'findings', found_findings);
end $$;

-- A casino begins as a sandbox, or never is one.
create function audit_keep_sandbox() returns trigger language plpgsql as $$
begin
  if new.is_sandbox is distinct from old.is_sandbox then
    raise exception 'whether a casino is a sandbox does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger keep_sandbox before update on audit_casino for each row execute function audit_keep_sandbox();
alter table audit_casino enable always trigger keep_sandbox;

-- A finding of a sandbox opens no case: nobody has to decide anything about an exercise.
drop trigger open_case on audit_finding;
create trigger open_case before insert or update of status on audit_finding for each row
  when (new.stream_id < 2251799813685248) execute function audit_open_case();

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where (p.pronamespace, p.proname) in (
      ('log'::regnamespace, 'is_being_emptied'), ('log'::regnamespace, 'leave_unsealed'), ('log'::regnamespace, 'demand_space'),
      ('log'::regnamespace, 'open_sandbox_stream'), ('log'::regnamespace, 'empty_sandbox'),
      ('public'::regnamespace, 'audit_act_sandbox_emptied'), ('public'::regnamespace, 'audit_keep_sandbox')) loop
    execute format('revoke all on function %s from public', ours);
  end loop;
end $$;
