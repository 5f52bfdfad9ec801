-- Requests about accounts, which two administrators decide: a role, a second factor taken away, a mail address, an
-- account that is active again.

-- Whether an account may decide what another proposed, about an account, at a casino (null: about the whole account).
-- A superuser and the first administrator whom they appointed there may, as long as nobody else could: otherwise an
-- installation with one superuser would never have a second administrator.
create function audit_may_decide(p_proposer bigint, p_decider bigint, p_officer bigint, p_casino bigint)
returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select not audit_same_hands(p_proposer, p_decider)
    or (p_proposer <> p_decider
      and exists (
        select from audit_accountrequest r
          where r.is_first and r.state = 'approved' and (p_casino is null or r.casino_id = p_casino)
            and ((r.officer_id = p_proposer and r.proposed_by_id = p_decider)
              or (r.officer_id = p_decider and r.proposed_by_id = p_proposer)))
      and not exists (
        select from audit_officer o
          where o.is_active and o.id not in (p_proposer, p_decider, p_officer)
            and (o.is_superuser or exists (
              select from audit_officer_casinos m
                where m.officer_id = o.id and m.role = 'administrator'
                  and (p_casino is null or m.casino_id = p_casino)))))
$$;

-- A request is decided once, and what is decided is what was proposed.
create function audit_guard_account_request() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a request about an account is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'waiting' and not (new.is_first and new.state = 'approved') then
      raise exception 'a request about an account begins with waiting' using errcode = 'check_violation';
    end if;
    if new.is_first and exists (
      select from audit_officer_casinos where casino_id = new.casino_id and role = 'administrator'
      union all
      select from audit_accountrequest
        where casino_id = new.casino_id and role = 'administrator' and state = 'approved') then
      raise exception 'the casino has had an administrator' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if old.state <> 'waiting' then
    raise exception 'a request about an account is decided once' using errcode = 'check_violation';
  end if;
  if (old.kind, old.officer_id, old.casino_id, old.role, old.email, old.reason, old.proposed_by_id, old.proposed_at,
      old.is_first)
     is distinct from (new.kind, new.officer_id, new.casino_id, new.role, new.email, new.reason, new.proposed_by_id,
      new.proposed_at, new.is_first) then
    raise exception 'what is decided is what was proposed' using errcode = 'check_violation';
  end if;
  if new.state = 'approved'
     and not audit_may_decide(new.proposed_by_id, new.decided_by_id, new.officer_id, new.casino_id) then
    raise exception 'a request about an account takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_account_request before insert or update or delete on audit_accountrequest
  for each row execute function audit_guard_account_request();

-- data: role, of a role. The secret is the new mail address, of an address.
create function audit_propose_request(envelope jsonb, p_kind text, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  casino  bigint;
  added   bigint;
begin
  if p_kind = 'role' then
    casino := (envelope ->> 'casino_id')::bigint;
    perform audit_demand_keeper_at(actor, casino);
    -- An account of one's own has no casino at first.
    if officer.created_by_id is distinct from actor or audit_casinos_of(officer.id) <> '{}' then
      perform audit_demand_keeper(actor, officer.id);
    end if;
    if exists (select from audit_officer_casinos m
               where m.officer_id = officer.id and m.casino_id = casino and m.role = envelope #>> '{data,role}') then
      raise exception 'has-role' using errcode = 'ES403';
    end if;
  else
    perform audit_demand_keeper(actor, officer.id);
    perform audit_demand_own_trail(envelope, officer.id);
  end if;
  if p_kind = 'email' and (coalesce(secret, '') in ('', officer.email)) then
    raise exception 'same-address' using errcode = 'ES403';
  end if;
  if p_kind = 'reactivation' and officer.is_active then
    raise exception 'active' using errcode = 'ES403';
  end if;
  insert into audit_accountrequest
      (kind, officer_id, casino_id, role, email, reason, state, proposed_by_id, proposed_at, is_first)
    values (p_kind, officer.id, casino, case p_kind when 'role' then coalesce(envelope #>> '{data,role}', '') else '' end,
            case p_kind when 'email' then secret else '' end, coalesce(envelope #>> '{data,reason}', ''), 'waiting',
            actor, (envelope ->> 'occurred_at')::timestamptz, false)
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'waiting-already' using errcode = 'ES403';
  when check_violation then
    raise exception 'no-such-role' using errcode = 'ES403';
end $$;

create function audit_carry_out_request(envelope jsonb, p_request audit_accountrequest) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  case p_request.kind
    when 'role' then
      perform audit_set_role(p_request.officer_id, p_request.casino_id, p_request.role);
    when 'second_factor' then
      delete from otp_static_statictoken t using otp_static_staticdevice d
        where d.id = t.device_id and d.user_id = p_request.officer_id;
      delete from otp_static_staticdevice where user_id = p_request.officer_id;
      delete from otp_totp_totpdevice where user_id = p_request.officer_id;
    when 'email' then
      update audit_officer set email = p_request.email where id = p_request.officer_id;
      perform audit_revoke_links(envelope, p_request.officer_id);
    when 'reactivation' then
      update audit_officer set is_active = true where id = p_request.officer_id;
  end case;
end $$;

-- data: request (its id), proposed_by, and role, as they were proposed. Who proposed a request or keeps whoever did
-- withdraws it; another administrator approves or declines.
create function audit_decide_request(envelope jsonb, p_kind text, p_state text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer  audit_officer := audit_officer_of(envelope);
  actor    bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  proposer audit_officer;
  request  audit_accountrequest;
begin
  select * into request from audit_accountrequest r
    where r.id = (envelope #>> '{data,request}')::bigint and r.officer_id = officer.id and r.kind = p_kind for update;
  select * into proposer from audit_officer o where o.id = request.proposed_by_id;
  if request.id is null or proposer.username is distinct from envelope #>> '{data,proposed_by}'
     or request.role <> coalesce(envelope #>> '{data,role}', '') then
    raise exception 'no-such-request' using errcode = 'ES403';
  end if;
  if p_state <> 'withdrawn' or not audit_keeps(actor, proposer.id) then
    perform audit_demand_keeper(actor, officer.id);
  end if;
  if request.casino_id is null then
    perform audit_demand_own_trail(envelope, officer.id);
  elsif request.casino_id <> (envelope ->> 'casino_id')::bigint then
    raise exception 'not-its-trail' using errcode = 'ES403';
  elsif p_state <> 'withdrawn' then
    perform audit_demand_keeper_at(actor, request.casino_id);
  end if;
  if request.state <> 'waiting' then
    raise exception 'decided' using errcode = 'ES403';
  end if;
  if p_state <> 'withdrawn' then
    if proposer.id = actor then
      raise exception 'own-proposal' using errcode = 'ES403';
    end if;
    if not audit_may_decide(proposer.id, actor, officer.id, request.casino_id) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
  end if;
  if p_state = 'approved' then
    if not audit_keeps(proposer.id, officer.id) then
      raise exception 'proposer-left' using errcode = 'ES403';
    end if;
    perform audit_carry_out_request(envelope, request);
  end if;
  update audit_accountrequest
    set state = p_state, decided_by_id = actor, decided_at = (envelope ->> 'occurred_at')::timestamptz
    where id = request.id;
  return null;
end $$;

-- officer.role_proposed, officer.role_approved, … officer.reactivation_withdrawn.
do $$
declare
  kind  text;
  state text;
begin
  foreach kind in array array['role', 'second_factor', 'email', 'reactivation'] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_propose_request(envelope, %L, secret) $f$',
      'audit_act_officer_' || kind || '_proposed', kind);
    foreach state in array array['approved', 'declined', 'withdrawn'] loop
      execute format(
        'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
        ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_decide_request(envelope, %L, %L) $f$',
        'audit_act_officer_' || kind || '_' || state, kind, state);
    end loop;
  end loop;
end $$;
