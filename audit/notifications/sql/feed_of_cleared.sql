-- A finding of whose claim officers had something paid or waived reads otherwise: the feed has it as amended. Otherwise
-- the function is that of feed.sql.
create or replace function audit_publish_finding() returns trigger
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
         old.put_right_by, old.cleared)
      is distinct from
        (new.severity, new.evidence, new.expected, new.recorded, new.provision, new.facts, new.occurred_at,
         new.after_loss, new.player, new.croupier, new.provisions, new.causes, new.difference, new.owed,
         new.put_right_by, new.cleared) then
    change := 'amended';
  end if;
  if change is not null then
    insert into audit_findingchange (casino_id, table_id, finding_id, kind, at)
      values (new.casino_id, new.table_id, new.id, change, clock_timestamp());
  end if;
  return null;
end $$;
