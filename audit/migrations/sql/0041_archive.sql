-- Months in the archive: their events leave the database, and the hashes stay.
--
--   log.stage_month(month)    make log.event_YYYYMM_next with what stays of a month: the audit trail
--   log.swap_month(month, …)  put it in the place of the month's partition of log.event, which is dropped
--
-- This is the one way in which events leave the database. Both need the owner of the tables, which no account that
-- serves is; nobody is granted them. The rows of log.batch and log.leaf stay, so that every root, chain and leaf is
-- there to be verified. What the partition of an archived month has never grows: a trigger refuses.
--
--   audit_act_log_archived, _attached, _detached, _destroyed write audit_archivedmonth, each with its entry.

do $guard$ begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('months in the archive');
  end if;
end $guard$;

create function log.refuse_archived() returns trigger language plpgsql as $$
begin
  raise exception 'log: the month of stream % is archived, it takes no more events', new.stream_id
    using errcode = 'ES410';
end $$;

-- The stream ids of a month, the second excluded, as log.ensure_month has them.
create function log.month_range(p_month date, out low bigint, out high bigint)
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select (date_trunc('month', p_month)::date - date '2020-01-01')::bigint << 32,
         ((date_trunc('month', p_month) + interval '1 month')::date - date '2020-01-01')::bigint << 32
$$;

create function log.stage_month(p_month date) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  low    bigint;
  high   bigint;
  staged text := 'event' || to_char(p_month, '_YYYYMM') || '_next';
begin
  select r.low, r.high into low, high from log.month_range(p_month) r;
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values (format('archive %s', to_char(p_month, 'YYYY-MM')));
  end if;
  execute format('create table log.%I (like log.event including all)', staged);
  execute (select format('alter table log.%I owner to %I', staged, r.rolname)
           from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
           where c.oid = 'log.event'::regclass);
  -- So that attaching it reads nothing while others wait.
  execute format('alter table log.%I add constraint of_month check (stream_id >= %s and stream_id < %s)',
                 staged, low, high);
  execute format('insert into log.%I select e.* from log.event e join log.stream s using (stream_id)'
                 ' where s.is_of_desk and e.stream_id >= %s and e.stream_id < %s', staged, low, high);
  return staged;
end $$;

-- p_batches and p_events are what the month has in log.batch: whoever has proved other numbers may not go on.
create function log.swap_month(p_month date, p_batches bigint, p_events bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  low     bigint;
  high    bigint;
  child   text := 'event' || to_char(p_month, '_YYYYMM');
  staged  text := child || '_next';
  batches bigint;
  events  bigint;
  index   text;
begin
  select r.low, r.high into low, high from log.month_range(p_month) r;
  lock table log.event in access exclusive mode;
  select count(*), coalesce(sum(b.count), 0) into batches, events
    from log.batch b join log.stream s using (stream_id)
    where b.stream_id >= low and b.stream_id < high and not s.is_of_desk;
  if (batches, events) is distinct from (p_batches, p_events) then
    raise exception 'log: % has % batches with % events, not % with %',
      child, batches, events, p_batches, p_events using errcode = 'ES409';
  end if;
  execute format('alter table log.event detach partition log.%I', child);
  execute format('drop table log.%I', child);
  execute format('alter table log.%I rename to %I', staged, child);
  for index in select i.relname from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid
      where x.indrelid = format('log.%I', child)::regclass loop
    execute format('alter index log.%I rename to %I', index, replace(index, staged, child));
  end loop;
  execute format('alter table log.event attach partition log.%I for values from (%s) to (%s)', child, low, high);
  execute format('alter table log.%I drop constraint of_month', child);
  perform log.protect(format('log.%I', child)::regclass);
  execute format('create trigger no_insert before insert on log.%I for each row execute function log.refuse_archived()',
                 child);
  execute format('alter table log.%I enable always trigger no_insert', child);
end $$;

-- Whether the account that signed in may take a partition away: it owns the tables, or is above all.
create function audit_demand_log_owner(envelope jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  if (envelope ->> 'casino_id')::bigint <> 0
     or not (select pg_has_role(session_user, c.relowner, 'member') from pg_class c where c.oid = 'log.event'::regclass) then
    raise exception 'not-the-owner' using errcode = 'ES403';
  end if;
end $$;

-- Nothing in the month may be open or held; nobody opens or holds anything until the end of the transaction.
create function audit_demand_nothing_open(p_low bigint, p_high bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  lock table audit_caseaction, audit_case in share mode;
  if exists (select from audit_case c where c.stream_id >= p_low and c.stream_id < p_high and c.state <> 'closed') then
    raise exception 'case-open' using errcode = 'ES403';
  end if;
  if exists (select from audit_case c where c.stream_id >= p_low and c.stream_id < p_high
             and 'case.held' = (select a.type from audit_caseaction a
                                where a.case_id = c.id and a.type in ('case.held', 'case.hold_lifted')
                                order by a.at desc, a.id desc limit 1)) then
    raise exception 'held' using errcode = 'ES403';
  end if;
end $$;

-- log.archived. data: month (YYYY-MM), file, sha256, batches, events, note.
create function audit_act_log_archived(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data  jsonb := envelope -> 'data';
  first date  := to_date(data ->> 'month', 'YYYY-MM');
  ids   record;
begin
  perform audit_demand_log_owner(envelope);
  select * into ids from log.month_range(first);
  perform audit_demand_nothing_open(ids.low, ids.high);
  if exists (select from log.outbox o where o.stream_id >= ids.low and o.stream_id < ids.high) then
    raise exception 'not-sealed' using errcode = 'ES403';
  end if;
  if (envelope ->> 'occurred_at')::timestamptz < first + interval '1 month' then
    raise exception 'not-over' using errcode = 'ES403';
  end if;
  insert into audit_archivedmonth
      (month, low, high, state, file, digest, batches, events, note, archived_at, entry_stream, entry_seq,
       destruction_note)
    values (first, ids.low, ids.high, 'archived', data ->> 'file', data ->> 'sha256', (data ->> 'batches')::bigint,
            (data ->> 'events')::bigint, data ->> 'note', (envelope ->> 'occurred_at')::timestamptz,
            envelope ->> 'stream', seq, '');
  return null;
exception when unique_violation then
  raise exception 'archived-already' using errcode = 'ES403';
end $$;

create function audit_move_archived(envelope jsonb, seq bigint, p_from text, p_to text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_log_owner(envelope);
  update audit_archivedmonth
    set state = p_to, entry_stream = envelope ->> 'stream', entry_seq = seq
    where month = to_date(envelope #>> '{data,month}', 'YYYY-MM') and state = p_from
      and digest = envelope #>> '{data,sha256}';
  if not found then
    raise exception 'not-%', p_from using errcode = 'ES403';
  end if;
  return null;
end $$;

-- log.attached, log.detached. data: month, sha256.
create function audit_act_log_attached(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_move_archived(envelope, seq, 'archived', 'attached')
$$;

create function audit_act_log_detached(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_move_archived(envelope, seq, 'attached', 'archived')
$$;

-- log.destroyed. data: month, sha256, retention_years, officers (two), note, reason.
create function audit_act_log_destroyed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data   jsonb := envelope -> 'data';
  found_month audit_archivedmonth;
  one    bigint;
  other  bigint;
begin
  perform audit_demand_log_owner(envelope);
  select * into found_month from audit_archivedmonth m
    where m.month = to_date(data ->> 'month', 'YYYY-MM') and m.digest = data ->> 'sha256' for update;
  if not found or found_month.state <> 'archived' then
    raise exception 'not-archived' using errcode = 'ES403';
  end if;
  perform audit_demand_nothing_open(found_month.low, found_month.high);
  if (data ->> 'retention_years')::integer < 1
     or (envelope ->> 'occurred_at')::timestamptz
        < found_month.month + interval '1 month' + make_interval(years => (data ->> 'retention_years')::integer) then
    raise exception 'retained' using errcode = 'ES403';
  end if;
  if jsonb_array_length(data -> 'officers') <> 2 or coalesce(trim(data ->> 'reason'), '') = '' then
    raise exception 'two-officers' using errcode = 'ES403';
  end if;
  one := (audit_active_officer(data #>> '{officers,0}')).id;
  other := (audit_active_officer(data #>> '{officers,1}')).id;
  if one = other or audit_same_hands(one, other) then
    raise exception 'another-officer' using errcode = 'ES403';
  end if;
  update audit_archivedmonth
    set state = 'destroyed', destruction_note = data ->> 'note',
        destroyed_at = (envelope ->> 'occurred_at')::timestamptz, entry_stream = envelope ->> 'stream', entry_seq = seq
    where month = found_month.month;
  return null;
end $$;

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where (p.pronamespace, p.proname) in (
      ('log'::regnamespace, 'refuse_archived'), ('log'::regnamespace, 'month_range'),
      ('log'::regnamespace, 'stage_month'), ('log'::regnamespace, 'swap_month'),
      ('public'::regnamespace, 'audit_demand_log_owner'), ('public'::regnamespace, 'audit_demand_nothing_open'),
      ('public'::regnamespace, 'audit_act_log_archived'), ('public'::regnamespace, 'audit_move_archived'),
      ('public'::regnamespace, 'audit_act_log_attached'), ('public'::regnamespace, 'audit_act_log_detached'),
      ('public'::regnamespace, 'audit_act_log_destroyed')) loop
    execute format('revoke all on function %s from public', ours);
  end loop;
end $$;
