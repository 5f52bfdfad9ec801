-- Store a finding of integrity: of the sequencer, that stored events are not those that were accepted; of ingestion,
-- that another event was sent under a stored number. p_finding has a value for each column that is not left to the
-- database; its reference is not for the caller to choose. Idempotent.
create function audit_report_integrity(p_finding jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  columns text;
begin
  if p_finding ->> 'rule' not in ('log-tampered', 'sequence-conflict')
     or p_finding ->> 'run_id' is not null or p_finding ->> 'status' is distinct from 'standing'
     or not exists (select from log.stream s
                    where s.stream_id = (p_finding ->> 'stream_id')::bigint and not s.is_of_desk
                      and s.casino_id = (p_finding ->> 'casino_id')::bigint
                      and s.gaming_day = (p_finding ->> 'gaming_day')::date) then
    raise exception 'not-of-the-log' using errcode = 'ES403';
  end if;
  select string_agg(quote_ident(a.attname), ', ') into columns
    from pg_attribute a
    where a.attrelid = 'public.audit_finding'::regclass and a.attnum > 0 and not a.attisdropped
      and a.attname not in (
        'id', 'case_id', 'superseded_at', 'superseded_by_run_id', 'content', 'year', 'number')
      and p_finding ? a.attname;
  execute format(
    'insert into public.audit_finding (%1$s) select %1$s from jsonb_populate_record(null::public.audit_finding, $1)'
    ' on conflict do nothing', columns) using p_finding;
end $$;
