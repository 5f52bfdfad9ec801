-- Months in the archive: their events leave the database, and the hashes stay.
--
--   log.stage_month(month)    make log.event_YYYYMM_next with what stays of a month: the audit trail
--   log.swap_month(month, …)  put it in the place of the month's partition of log.event, which is dropped
--
-- This is the one way in which events leave the database. Both need the owner of the tables, which no account that
-- serves is; nobody is granted them. The rows of log.batch and log.leaf stay, so that every root, chain and leaf is
-- there to be verified. What the partition of an archived month has never grows: a trigger refuses.
--
-- audit/archive/sql/months.sql keeps which months are in the archive.

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
