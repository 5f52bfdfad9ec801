-- A page counts at every request: nothing notes the transactions that change what it counts. Their table goes with its
-- model.
do $$
declare
  relation text;
begin
  foreach relation in array array['audit_finding', 'audit_case', 'audit_casino', 'audit_gamingtable', 'audit_nightreport',
    'audit_officer', 'audit_officer_casinos', 'audit_registerentry', 'audit_accountrequest', 'audit_correctiondecision']
  loop
    execute format('drop trigger note_change on %I', relation);
  end loop;
end $$;

drop function audit_note_change();

-- The task that deleted old notes: a scheduler adds its tasks to this table and never removes one.
delete from django_celery_beat_periodictask where name = 'changes';
