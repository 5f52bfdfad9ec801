-- No table of ours has an instant or a day that PostgreSQL has and no page can show, as infinity: whoever reads the row
-- would fail, and with it all that is read with it. Instants of the log are read as null where they are none.
do $$
declare
  each record;
begin
  for each in
    select c.relname as name,
           string_agg(format('%I between %L and %L', a.attname, '0001-01-03T00:00Z', '9999-12-29T00:00Z'), ' and '
                      order by a.attnum) as condition
      from pg_catalog.pg_class c
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname like 'audit\_%'
        and a.atttypid in ('timestamptz'::regtype, 'date'::regtype)
      group by c.relname order by c.relname
  loop
    execute format('alter table public.%I add constraint %I check (%s)',
                   each.name, each.name || '_calendar', each.condition);
  end loop;
end $$;
