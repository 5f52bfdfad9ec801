-- A database that ran 0002 to 0036 one by one is as one that ran them at once: the check of the dates of orders has the
-- columns that came after it, and a constraint has the name that PostgreSQL gives it.
alter table audit_paymentorder drop constraint audit_paymentorder_calendar;
alter table audit_paymentorder add constraint audit_paymentorder_calendar check (
  ordered_at between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
  and approved_at between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
  and ended_at between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
  and paid_on between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
  and kept_until between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
  and not_found_on between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'
);

do $$
begin
  if exists (select from pg_catalog.pg_constraint where conname = 'audit_casino_reference_code_b6b09cb8_uniq') then
    alter table audit_casino rename constraint audit_casino_reference_code_b6b09cb8_uniq
      to audit_casino_reference_code_key;
  end if;
end $$;
