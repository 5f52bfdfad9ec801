-- Which finding a case is of, beside the finding itself: counting the open incidents reads an index of them alone.

create function audit_head_of_case() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.heads_case := new.case_id is not null and exists (
    select from audit_case c
      where c.id = new.case_id and c.seq = new.seq and c.rule = new.rule and c.wager = new.wager);
  return new;
end $$;

revoke all on function audit_head_of_case() from public;

-- Triggers fire in the order of their names: open_case gives the case.
create trigger set_head_of_case before insert or update of case_id, status, heads_case on audit_finding
  for each row execute function audit_head_of_case();

update audit_finding f set heads_case = true from audit_case c
  where c.id = f.case_id and c.seq = f.seq and c.rule = f.rule and c.wager = f.wager;
