-- Sandboxes, whose record can be emptied: audit/event_store/sql/sandboxes.sql says how it is kept apart.

-- A casino begins as a sandbox, or never is one.
create function audit_keep_sandbox() returns trigger language plpgsql as $$
begin
  if new.is_sandbox is distinct from old.is_sandbox then
    raise exception 'whether a casino is a sandbox does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger keep_sandbox before update on audit_casino for each row execute function audit_keep_sandbox();
alter table audit_casino enable always trigger keep_sandbox;

-- sandbox.emptied, an entry in the sandbox's own desk stream. What was computed from the events goes with them.
create function audit_act_sandbox_emptied(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  casino bigint := (envelope ->> 'casino_id')::bigint;
  ids    bigint[];
  found_findings bigint;
  gone   record;
begin
  perform audit_demand_command(envelope);
  perform from audit_casino c where c.id = casino and c.is_sandbox for no key update;
  if not found then
    raise exception 'not-a-sandbox' using errcode = 'ES403';
  end if;
  if exists (select from audit_case c where c.casino_id = casino)
     or exists (select from audit_nightreport n where n.casino_id = casino) then
    raise exception 'officers-have-worked' using errcode = 'ES403';
  end if;
  select coalesce(array_agg(s.stream_id), '{}') into ids
    from log.stream s where s.casino_id = casino and not s.is_of_desk;
  -- A worker that folds one of them has finished after this.
  delete from audit_adjudication a where a.stream_id = any (ids);
  delete from audit_retiredwagers w using audit_adjudicationrun r where r.id = w.run_id and r.casino_id = casino;
  delete from audit_whatiffinding f where f.casino_id = casino;
  delete from audit_deadletter d using audit_findingchange c where c.id = d.change_id and c.casino_id = casino;
  delete from audit_findingchange c where c.casino_id = casino;
  delete from audit_finding f where f.casino_id = casino;
  get diagnostics found_findings = row_count;
  delete from audit_adjudicationrun r where r.casino_id = casino;
  delete from audit_waitingstream w where w.stream_id = any (ids);
  delete from audit_sessionfigures f where f.stream_id = any (ids);
  delete from audit_streammoney m where m.stream_id = any (ids);
  delete from audit_streamevidence e where e.stream_id = any (ids);
  delete from audit_slipuse u where u.stream_id = any (ids);
  delete from audit_quarantined q where q.casino_id = casino;
  select * into gone from log.empty_sandbox(casino);
  return jsonb_build_object('streams', gone.streams, 'events', gone.events, 'findings', found_findings);
end $$;
