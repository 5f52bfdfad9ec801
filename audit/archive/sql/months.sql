-- Months in the archive: audit_act_log_archived, _attached, _detached and _destroyed write audit_archivedmonth, each
-- with its entry of the audit trail. How the events leave is in audit/event_store/sql/archive.sql.

-- Whether the account that signed in may take a partition away: it owns the tables, or is above all.
create function audit_demand_log_owner(envelope jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  if (envelope ->> 'casino_id')::bigint <> 0
     or not (select pg_has_role(session_user, c.relowner, 'member') from pg_class c where c.oid = 'log.event'::regclass) then
    raise exception 'not-the-owner' using errcode = 'ES403';
  end if;
end $$;

-- Nothing in the month may be open or held; nobody opens or holds anything until the end of the transaction.
create function audit_demand_nothing_open(p_low bigint, p_high bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  lock table audit_caseaction, audit_case in share mode;
  if exists (select from audit_case c where c.stream_id >= p_low and c.stream_id < p_high and c.state <> 'closed') then
    raise exception 'case-open' using errcode = 'ES403';
  end if;
  if exists (select from audit_case c where c.stream_id >= p_low and c.stream_id < p_high
             and 'case.held' = (select a.type from audit_caseaction a
                                where a.case_id = c.id and a.type in ('case.held', 'case.hold_lifted')
                                order by a.at desc, a.id desc limit 1)) then
    raise exception 'held' using errcode = 'ES403';
  end if;
end $$;

-- log.archived. data: month (YYYY-MM), file, sha256, batches, events, note.
create function audit_act_log_archived(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data  jsonb := envelope -> 'data';
  first date  := to_date(data ->> 'month', 'YYYY-MM');
  ids   record;
begin
  perform audit_demand_log_owner(envelope);
  select * into ids from log.month_range(first);
  perform audit_demand_nothing_open(ids.low, ids.high);
  if exists (select from log.outbox o where o.stream_id >= ids.low and o.stream_id < ids.high) then
    raise exception 'not-sealed' using errcode = 'ES403';
  end if;
  if (envelope ->> 'occurred_at')::timestamptz < first + interval '1 month' then
    raise exception 'not-over' using errcode = 'ES403';
  end if;
  insert into audit_archivedmonth
      (month, low, high, state, file, digest, batches, events, note, archived_at, entry_stream, entry_seq,
       destruction_note)
    values (first, ids.low, ids.high, 'archived', data ->> 'file', data ->> 'sha256', (data ->> 'batches')::bigint,
            (data ->> 'events')::bigint, data ->> 'note', (envelope ->> 'occurred_at')::timestamptz,
            envelope ->> 'stream', seq, '');
  return null;
exception when unique_violation then
  raise exception 'archived-already' using errcode = 'ES403';
end $$;

create function audit_move_archived(envelope jsonb, seq bigint, p_from text, p_to text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_log_owner(envelope);
  update audit_archivedmonth
    set state = p_to, entry_stream = envelope ->> 'stream', entry_seq = seq
    where month = to_date(envelope #>> '{data,month}', 'YYYY-MM') and state = p_from
      and digest = envelope #>> '{data,sha256}';
  if not found then
    raise exception 'not-%', p_from using errcode = 'ES403';
  end if;
  return null;
end $$;

-- log.attached, log.detached. data: month, sha256.
create function audit_act_log_attached(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_move_archived(envelope, seq, 'archived', 'attached')
$$;

create function audit_act_log_detached(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_move_archived(envelope, seq, 'attached', 'archived')
$$;

-- log.destroyed. data: month, sha256, retention_years, officers (two), note, reason.
create function audit_act_log_destroyed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  data   jsonb := envelope -> 'data';
  found_month audit_archivedmonth;
  one    bigint;
  other  bigint;
begin
  perform audit_demand_log_owner(envelope);
  select * into found_month from audit_archivedmonth m
    where m.month = to_date(data ->> 'month', 'YYYY-MM') and m.digest = data ->> 'sha256' for update;
  if not found or found_month.state <> 'archived' then
    raise exception 'not-archived' using errcode = 'ES403';
  end if;
  perform audit_demand_nothing_open(found_month.low, found_month.high);
  if (data ->> 'retention_years')::integer < 1
     or (envelope ->> 'occurred_at')::timestamptz
        < found_month.month + interval '1 month' + make_interval(years => (data ->> 'retention_years')::integer) then
    raise exception 'retained' using errcode = 'ES403';
  end if;
  if jsonb_array_length(data -> 'officers') <> 2 or coalesce(trim(data ->> 'reason'), '') = '' then
    raise exception 'two-officers' using errcode = 'ES403';
  end if;
  one := (audit_active_officer(data #>> '{officers,0}')).id;
  other := (audit_active_officer(data #>> '{officers,1}')).id;
  if one = other or audit_same_hands(one, other) then
    raise exception 'another-officer' using errcode = 'ES403';
  end if;
  update audit_archivedmonth
    set state = 'destroyed', destruction_note = data ->> 'note',
        destroyed_at = (envelope ->> 'occurred_at')::timestamptz, entry_stream = envelope ->> 'stream', entry_seq = seq
    where month = found_month.month;
  return null;
end $$;
