-- log.recovered: the log goes on as another epoch. data: epoch, origin, kept, forked_at, signed_size, note. By a
-- command alone, which has proved two officers.
create function audit_act_log_recovered(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data   jsonb  := envelope -> 'data';
  leaves bigint := coalesce((select max(log_index) + 1 from log.leaf), 0);
begin
  perform audit_demand_command(envelope);
  if (envelope ->> 'casino_id')::bigint <> 0 or (data ->> 'kept')::bigint <> leaves
     or (data ->> 'epoch')::integer <> coalesce((select max(number) from audit_logepoch), 1) + 1 then
    raise exception 'not-the-log' using errcode = 'ES403';
  end if;
  insert into audit_logepoch
      (number, origin, kept, forked_at, signed_size, note, opened_at, entry_stream, entry_seq)
    values ((data ->> 'epoch')::integer, data ->> 'origin', leaves, (data ->> 'forked_at')::bigint,
            (data ->> 'signed_size')::bigint, data ->> 'note', (envelope ->> 'occurred_at')::timestamptz,
            envelope ->> 'stream', seq);
  delete from audit_logfork;
  return null;
end $$;
