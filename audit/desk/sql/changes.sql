-- A row for each transaction that changes what the desk counts, written in the transaction: a page that has counted
-- asks whether a transaction that it did not see has changed something since, and counts again only then.
--
-- Once for a transaction and a table, however many statements it has.
create function audit_note_change() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into audit_change (xid, relation) values (pg_current_xact_id()::text::bigint, tg_table_name)
    on conflict do nothing;
  return null;
end $$;

do $$
declare
  relation text;
begin
  foreach relation in array array['audit_finding', 'audit_case', 'audit_casino', 'audit_gamingtable', 'audit_nightreport',
    'audit_officer', 'audit_officer_casinos', 'audit_registerentry', 'audit_accountrequest', 'audit_correctiondecision']
  loop
    execute format('create trigger note_change after insert or update or delete or truncate on %I
      for each statement execute function audit_note_change()', relation);
  end loop;
end $$;
