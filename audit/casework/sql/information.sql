-- Information opens no case, whatever its money: large goodwill stands first on the nightly list, where the officer who
-- signs confirms it (audit/casework/information.py). A question of the ledger opens one, as before. Cases that goodwill
-- opened before stay as they are.

create or replace function audit_open_case() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  opened timestamptz := greatest(new.opened_at, coalesce(new.stood_at, new.opened_at));
  opens boolean := audit_opens_case(new.rule, new.severity);
begin
  if new.status = 'standing' and new.case_id is null then
    if jsonb_array_length(new.causes) > 0 then
      new.case_id := audit_incident_case(new.stream_id, new.casino_id, new.causes, new.severity, opened, opens);
    end if;
    if new.case_id is null and new.severity = 'info' then
      new.case_id := audit_case_of_person(new.casino_id, new.rule, new.player, new.croupier);
    end if;
    if new.case_id is null and opens then
      new.case_id := audit_case_of(
        new.stream_id, new.seq, new.rule, new.wager, new.casino_id, new.severity, opened, new.occurred_at,
        new.table_id);
    elsif new.case_id is null then
      select c.id into new.case_id from audit_case c
        where c.stream_id = new.stream_id and c.seq = new.seq and c.rule = new.rule and c.wager = new.wager;
    end if;
  end if;
  return new;
end $$;

drop function audit_money_stands_out(bigint, text, jsonb, text);
