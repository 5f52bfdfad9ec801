-- One round trip for the request that is as it should be: find the stream, check that the key may write it, append.
-- Whatever is in the way, nothing is appended, and who asked looks closer.

do $$
begin
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values ('append by name, in one round trip');
  end if;
end $$;

create function log.append_named(
  p_casino bigint, p_name text, p_tables bigint[], p_first bigint, p_next bigint, p_root bytea, p_key bigint,
  p_seqs bigint[], p_occurred timestamptz[], p_envelopes text[],
  out stream_id bigint, out appended boolean, out chain bytea, out received_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select s.stream_id into append_named.stream_id from log.stream s
    where s.casino_id = p_casino and s.name = p_name and not s.is_of_desk
      and (p_tables is null or s.table_id = any (p_tables));
  if not found then
    appended := false;
    return;
  end if;
  select a.appended, a.chain, a.received_at into append_named.appended, append_named.chain, append_named.received_at
    from log.append(append_named.stream_id, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes) a;
end $$;

revoke all on function log.append_named from public;

do $$
begin
  if (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
    grant execute on function log.append_named to cabochon_writer;
  end if;
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter function log.append_named owner to cabochon_owner;
  end if;
end $$;
