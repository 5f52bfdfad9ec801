-- The session of a casino that takes p_next next, and is of a table and of no sandbox. An event that the database cannot
-- read closes none.
create or replace function audit_session_to_close(p_casino bigint, p_name text, p_next bigint) returns bigint
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  of_stream bigint;
  stands_at bigint;
begin
  select s.stream_id, h.next_seq into of_stream, stands_at
    from log.stream s join log.stream_head h using (stream_id)
    where s.casino_id = p_casino and s.name = p_name and not s.is_of_desk and s.table_id is not null
      and s.stream_id < 2251799813685248;
  if of_stream is null then
    raise exception 'no-such-session' using errcode = 'ES403';
  end if;
  if exists (
    select from log.event e where e.stream_id = of_stream
      and case when position('\u' in e.envelope::text) = 0 or e.envelope::text !~* '(^|[^\\])(\\\\)*\\u(0000|d[89a-f])'
               then e.envelope ->> 'type' = 'session.closed' else false end) then
    raise exception 'closed' using errcode = 'ES403';
  end if;
  if stands_at is distinct from p_next then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  return of_stream;
end $$;
