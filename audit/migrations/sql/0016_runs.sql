-- Every run that is known gets a row: the current one of each adjudication, and those that findings name.
--
-- Of a stream that several versions of the engine have read, the last to begin is current. A run before that is
-- superseded by it, unless it still stands because the current one is not complete. What the reason of an earlier
-- run was is not stored: a first run was the first reading, and a later one is taken for a correction's.

create temporary table known_run on commit drop as
  select a.stream_id, a.engine_version, a.what_if_id, a.run as number, a.id as adjudication_id,
         a.completed_run = a.run as is_complete, a.replaces, a.corrected_through, a.updated_at as at
    from audit_adjudication a
  union all
  select f.stream_id, f.engine_version, null, f.run, null, true, false, 0, min(f.opened_at)
    from audit_finding f
    left join audit_adjudication a
      on a.stream_id = f.stream_id and a.engine_version = f.engine_version and a.what_if_id is null and a.run = f.run
    where f.run > 0 and a.id is null
    group by f.stream_id, f.engine_version, f.run;

insert into audit_adjudicationrun (
    stream_id, casino_id, what_if_id, number, cause, engine_version, corrections_through, state,
    began_at, completed_at, ended_at, tries, error_type, error)
  select k.stream_id, s.casino_id, k.what_if_id, k.number, case when k.number = 1 then 'first' else 'correction' end,
         k.engine_version, k.corrected_through, 'superseded', k.at, case when k.is_complete then k.at end, k.at, 0, '', ''
    from known_run k join log.stream s using (stream_id)
    order by k.stream_id, k.what_if_id nulls first, k.adjudication_id nulls first, k.number;

update audit_adjudication a set current_run_id = r.id
  from audit_adjudicationrun r
  where r.stream_id = a.stream_id and r.engine_version = a.engine_version and r.number = a.run
    and r.what_if_id is not distinct from a.what_if_id;

create temporary table current_run on commit drop as
  select distinct on (a.stream_id, a.what_if_id)
         a.stream_id, a.what_if_id, a.current_run_id as run_id, a.completed_run = a.run as is_complete, a.replaces
    from audit_adjudication a order by a.stream_id, a.what_if_id, a.id desc;

update audit_adjudicationrun r set ended_at = null, state = case when c.is_complete then 'complete' else 'running' end
  from current_run c where r.id = c.run_id;

update audit_finding f set found_by_id = r.id
  from audit_adjudicationrun r
  where f.run > 0 and r.stream_id = f.stream_id and r.engine_version = f.engine_version and r.number = f.run
    and r.what_if_id is null;

-- Where the current run replaces another that still stands: the last other run with a standing finding.
update audit_adjudicationrun r
  set replaces_id = before.id
  from current_run c, lateral (
    select max(f.found_by_id) as id from audit_finding f
      where f.stream_id = c.stream_id and f.superseded_at is null and f.found_by_id <> c.run_id) before
  where r.id = c.run_id and c.replaces and not c.is_complete and c.what_if_id is null and before.id is not null;

update audit_adjudicationrun r set state = 'complete', ended_at = null, completed_at = coalesce(r.completed_at, r.began_at)
  from audit_adjudicationrun c where c.replaces_id = r.id;

update audit_adjudicationrun r set superseded_by_id = c.run_id
  from current_run c
  where r.state = 'superseded' and r.stream_id = c.stream_id and r.what_if_id is not distinct from c.what_if_id
    and r.id <> c.run_id;

-- Whether a superseded finding ever stood is not stored: all of them have a case, so all are taken to have stood. The
-- run that superseded them is known where one is complete and has not found them.
update audit_finding set
  stood_at = opened_at, status = case when superseded_at is null then 'standing' else 'superseded' end;

update audit_finding f set superseded_by_run_id = c.run_id
  from current_run c
  where f.superseded_at is not null and f.found_by_id is not null and c.what_if_id is null and c.stream_id = f.stream_id
    and c.is_complete and c.run_id <> f.found_by_id;

delete from audit_retiredwagers w where not exists (
  select from audit_adjudication a where a.id = w.adjudication_id and a.run = w.run and a.current_run_id is not null);
alter table audit_retiredwagers add column run_id bigint;
update audit_retiredwagers w set run_id = a.current_run_id from audit_adjudication a where a.id = w.adjudication_id;

set constraints all immediate;

alter table audit_retiredwagers drop constraint audit_retiredwagers_pkey;
alter table audit_retiredwagers drop column adjudication_id, drop column run;
alter table audit_retiredwagers alter column run_id set not null, add primary key (run_id, through);
