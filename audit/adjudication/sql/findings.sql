-- Findings and the runs that find them: nothing changes their state but by a transition, and what a finding says never
-- changes.

create function audit_guard_finding() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status = 'superseded' then
      raise exception 'a finding begins as pending or as standing' using errcode = 'check_violation';
    end if;
  elsif old.status <> new.status and (old.status, new.status) not in (
    ('pending', 'standing'), ('pending', 'superseded'), ('standing', 'superseded'), ('superseded', 'standing')) then
    raise exception 'a finding does not go from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_finding before insert or update of status on audit_finding
  for each row execute function audit_guard_finding();

-- What a finding is about never changes, nor what one of a run says, but for what was put right since: the run that
-- finds something else adds another.
create function audit_keep_finding() returns trigger language plpgsql as $$
begin
  if (old.stream_id, old.seq, old.rule, old.wager, old.casino_id, old.opened_at)
       is distinct from (new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.opened_at)
     or old.run_id is not null
       and (old.severity, old.evidence, old.expected, old.recorded, old.provision, old.facts, old.after_loss,
            old.occurred_at, old.player, old.croupier, old.provisions, old.causes)
         is distinct from (new.severity, new.evidence, new.expected, new.recorded, new.provision, new.facts,
            new.after_loss, new.occurred_at, new.player, new.croupier, new.provisions, new.causes) then
    raise exception 'what a finding says does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger keep_finding before update on audit_finding for each row execute function audit_keep_finding();

create function audit_guard_run() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> 'running' then
      raise exception 'a run begins as running' using errcode = 'check_violation';
    end if;
  elsif old.state <> new.state and (old.state, new.state) not in (
    ('running', 'complete'), ('running', 'failed'), ('complete', 'failed'), ('failed', 'running'),
    ('failed', 'complete'), ('running', 'superseded'), ('failed', 'superseded'), ('complete', 'superseded')) then
    raise exception 'a run does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_run before insert or update of state on audit_adjudicationrun
  for each row execute function audit_guard_run();

-- To compress what is written once and read seldom would cost more time than the rest of the step.
alter table audit_retiredwagers alter column saved set storage external, alter column digests set storage external;

-- The corrections that wait, of the queue of corrections.
create index correction_finding on audit_finding (casino_id, stream_id, seq)
  where rule in ('entry-corrected', 'entry-annulled') and status = 'standing';


-- References --------------------------------------------------------------------------------------------------------
--
-- Counted for each casino and year of the gaming day, in the transaction in which a finding comes to stand. What never
-- stands takes none, so a casino's references have no gap, and say nothing of another's. Findings that say something
-- else about the same event, rule and wager share one, as they share their case.

-- The year and number of findings, in their order, given as one array a column. One update of a counter for all that
-- are new, and none where all continue others. Until the transaction ends nobody else numbers findings of these
-- casinos.
create function audit_number_findings(
  p_casinos bigint[], p_years integer[], p_streams bigint[], p_seqs bigint[], p_rules text[], p_wagers text[])
returns table (year integer, number bigint)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  held bigint;
begin
  for held in select distinct c.casino from unnest(p_casinos) c (casino) order by 1 loop
    perform pg_advisory_xact_lock(hashtextextended('audit.findings.numbered', held));
  end loop;
  return query
    with wanted as (
      select w.* from unnest(p_casinos, p_years, p_streams, p_seqs, p_rules, p_wagers) with ordinality
        as w (casino, year, stream, seq, rule, wager, place)),
    continued as (
      select w.place, coalesce(f.year, extract(year from f.opened_at at time zone 'UTC')::integer) as year,
        coalesce(f.number, f.id) as number
      from wanted w cross join lateral (
        select e.* from audit_finding e
        where e.stream_id = w.stream and e.seq = w.seq and e.rule = w.rule and e.wager = w.wager
          and (e.number is not null or e.stood_at is not null)
        order by e.number is null, e.id desc limit 1) f),
    fresh as (
      select w.casino, w.year, w.stream, w.seq, w.rule, w.wager,
        row_number() over (partition by w.casino, w.year order by min(w.place)) as nth
      from wanted w where not exists (select from continued c where c.place = w.place)
      group by w.casino, w.year, w.stream, w.seq, w.rule, w.wager),
    counted as (select f.casino, f.year, count(*) as more from fresh f group by f.casino, f.year),
    moved as (
      insert into audit_findingcounter as k (casino_id, year, last) select c.casino, c.year, c.more from counted c
      on conflict (casino_id, year) do update set last = k.last + excluded.last
      returning k.casino_id, k.year, k.last)
    select coalesce(c.year, w.year), coalesce(c.number, m.last - n.more + f.nth)
    from wanted w
    left join continued c on c.place = w.place
    left join fresh f on (f.casino, f.year, f.stream, f.seq, f.rule, f.wager)
      = (w.casino, w.year, w.stream, w.seq, w.rule, w.wager)
    left join counted n on (n.casino, n.year) = (w.casino, w.year)
    left join moved m on (m.casino_id, m.year) = (w.casino, w.year)
    order by w.place;
end $$;

-- Number what a run is about to have stand: p_run of p_stream.
create function audit_number_run(p_stream bigint, p_run bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  with pending as (
    select f.id, f.casino_id, extract(year from f.gaming_day)::integer as year, f.seq, f.rule, f.wager,
      row_number() over (order by f.seq, f.rule, f.wager, f.id) as place
    from audit_finding f
    where f.stream_id = p_stream and f.run_id = p_run and f.number is null and f.stood_at is null
      and f.superseded_by_run_id is distinct from p_run),
  numbered as (
    select n.* from audit_number_findings(
      (select array_agg(p.casino_id order by p.place) from pending p),
      (select array_agg(p.year order by p.place) from pending p),
      (select array_agg(p_stream order by p.place) from pending p),
      (select array_agg(p.seq order by p.place) from pending p),
      (select array_agg(p.rule order by p.place) from pending p),
      (select array_agg(p.wager order by p.place) from pending p)) with ordinality as n (year, number, place))
  update audit_finding f set year = n.year, number = n.number
    from pending p join numbered n using (place) where f.id = p.id;
end $$;

-- One that comes to stand without a number: what is stored alone, and whatever forgot to take one. A number is given
-- once.
create function audit_number_finding() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.number is not null then
    if (old.year, old.number) is distinct from (new.year, new.number) then
      raise exception 'the reference of a finding does not change' using errcode = 'check_violation';
    end if;
  elsif tg_op = 'UPDATE' and old.stood_at is not null then
    new.year := null;
    new.number := null;
  elsif new.status = 'standing' and new.number is null then
    select n.year, n.number into new.year, new.number from audit_number_findings(
      array[new.casino_id], array[extract(year from new.gaming_day)::integer], array[new.stream_id],
      array[new.seq], array[new.rule]::text[], array[new.wager]::text[]) n;
  end if;
  return new;
end $$;

create trigger number_finding before insert or update on audit_finding
  for each row execute function audit_number_finding();
