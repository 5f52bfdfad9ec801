-- The id that the entry of a new row says: of API keys too, which had a function of their own.
create or replace function audit_next_id(p_of text) returns bigint
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select nextval(pg_get_serial_sequence('public.audit_' || p_of, 'id'))
    where p_of in ('apikey', 'casino', 'gamingtable', 'webhook')
$$;

drop function audit_next_key_id();
