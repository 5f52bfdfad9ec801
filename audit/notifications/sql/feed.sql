-- The feed of findings: a row for every change of what stands, written in the transaction of the change.
--
-- An id is taken before the commit, so whoever reads by id misses what commits late. So a change gets its position when
-- it can be seen: audit_number_changes numbers what is committed, one transaction at a time for each casino. Positions
-- have no gaps, and one that can be seen has every earlier one before it.

create function audit_publish_finding() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  change text;
begin
  if tg_op = 'INSERT' then
    change := case when new.status = 'standing' then 'opened' end;
  elsif new.status = 'standing' and old.status <> 'standing' then
    change := case when old.stood_at is null then 'opened' else 'reinstated' end;
  elsif new.status = 'superseded' and old.status = 'standing' then
    change := 'superseded';
  elsif new.status = 'standing'
    and (old.severity, old.evidence, old.expected, old.recorded, old.provision, old.facts, old.occurred_at,
         old.after_loss, old.player, old.croupier, old.provisions, old.causes, old.difference, old.owed,
         old.put_right_by)
      is distinct from
        (new.severity, new.evidence, new.expected, new.recorded, new.provision, new.facts, new.occurred_at,
         new.after_loss, new.player, new.croupier, new.provisions, new.causes, new.difference, new.owed,
         new.put_right_by) then
    change := 'amended';
  end if;
  if change is not null then
    insert into audit_findingchange (casino_id, table_id, finding_id, kind, at)
      values (new.casino_id, new.table_id, new.id, change, clock_timestamp());
  end if;
  return null;
end $$;

create trigger publish_finding after insert or update on audit_finding
  for each row execute function audit_publish_finding();

-- A case is closed, or open again: so are the findings of its incident that stand.
create function audit_publish_case() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into audit_findingchange (casino_id, table_id, finding_id, kind, at)
    select f.casino_id, f.table_id, f.id, case when new.state = 'closed' then 'closed' else 'reopened' end,
           clock_timestamp()
      from audit_finding f where f.case_id = new.id and f.status = 'standing' order by f.id;
  return null;
end $$;

create trigger publish_case after update of state on audit_case for each row
  when (old.state is distinct from new.state and (old.state = 'closed' or new.state = 'closed'))
  execute function audit_publish_case();

-- Number what is committed and has no position; return the last position of the casino. Numbering waits for whoever
-- numbers the same casino, until that is committed: each statement of a function sees what was committed before it.
create function audit_number_changes(p_casino bigint) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  newest bigint;
begin
  if exists (select from audit_findingchange where casino_id = p_casino and position is null) then
    perform pg_advisory_xact_lock(hashtextextended('audit_findingchange', p_casino));
    select coalesce(max(position), 0) into newest from audit_findingchange where casino_id = p_casino;
    update audit_findingchange c set position = newest + n.number
      from (select id, row_number() over (order by id) as number
              from audit_findingchange where casino_id = p_casino and position is null) n
      where c.id = n.id;
  end if;
  return coalesce((select max(position) from audit_findingchange where casino_id = p_casino), 0);
end $$;
