-- Two people: what four eyes ask of two accounts, whatever writes here.

-- Whether two accounts may be in the hands of one person: they are one account; or one created the other, or issued a
-- link with which the other's password was chosen; or the passwords of both were last chosen with links to reset them
-- that were shown to the same administrator.
create function audit_same_hands(p_one bigint, p_other bigint) returns boolean language sql stable as $$
  select p_one = p_other
    or exists (
      select from audit_officer
        where (id = p_one and created_by_id = p_other) or (id = p_other and created_by_id = p_one))
    or exists (
      select from audit_accesslink
        where used_at is not null
          and ((officer_id = p_one and issued_by_id = p_other) or (officer_id = p_other and issued_by_id = p_one)))
    or exists (
      select from
        (select issued_by_id, is_shown and not is_invitation as is_open from audit_accesslink
           where officer_id = p_one and used_at is not null order by used_at desc, id desc limit 1) one,
        (select issued_by_id, is_shown and not is_invitation as is_open from audit_accesslink
           where officer_id = p_other and used_at is not null order by used_at desc, id desc limit 1) other
        where one.is_open and other.is_open and one.issued_by_id = other.issued_by_id)
$$;

-- Whether an account may decide what another proposed, about an account, at a casino (null: about the whole account).
-- A superuser and the first administrator whom they appointed there may, as long as nobody else could: otherwise an
-- installation with one superuser would never have a second administrator.
create function audit_may_decide(p_proposer bigint, p_decider bigint, p_officer bigint, p_casino bigint)
returns boolean language sql stable as $$
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

create function audit_guard_case_hands() returns trigger language plpgsql as $$
begin
  if new.state = 'closed' and old.state <> 'closed' and audit_same_hands(new.proposed_by_id, new.approved_by_id) then
    raise exception 'a case is closed by two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_case_hands before update on audit_case for each row execute function audit_guard_case_hands();

create function audit_guard_night_hands() returns trigger language plpgsql as $$
begin
  if new.closed_by_id is not null and old.closed_by_id is null
     and audit_same_hands(new.reviewed_by_id, new.closed_by_id) then
    raise exception 'a night is signed by two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_night_hands before update on audit_nightreport
  for each row execute function audit_guard_night_hands();

-- A request is decided once, and what is decided is what was proposed.
create function audit_guard_account_request() returns trigger language plpgsql as $$
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

-- A link is used once, and never comes back.
create function audit_guard_access_link() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a link is never deleted' using errcode = 'check_violation';
  end if;
  if old.used_at is not null or old.revoked_at is not null
     or (old.officer_id, old.is_invitation, old.token_sha256, old.issued_by_id, old.issued_at, old.expires_at,
         old.is_shown)
        is distinct from (new.officer_id, new.is_invitation, new.token_sha256, new.issued_by_id, new.issued_at,
         new.expires_at, new.is_shown) then
    raise exception 'a link is used or revoked once, and not changed' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_access_link before update or delete on audit_accesslink
  for each row execute function audit_guard_access_link();

-- Who created an account stays known.
create function audit_guard_officer() returns trigger language plpgsql as $$
begin
  if old.created_by_id is not null and new.created_by_id is distinct from old.created_by_id then
    raise exception 'who created an account does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_officer before update on audit_officer for each row execute function audit_guard_officer();

-- An account that is opened at the desk knows who opened it. data: named. The secret is the hash of the password.
create or replace function audit_act_officer_added(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added bigint;
begin
  insert into audit_officer
      (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined, created_by_id)
    values (envelope #>> '{data,named}', coalesce(secret, '!'), false, true, true, '', '', '',
            (envelope ->> 'occurred_at')::timestamptz,
            case envelope ->> 'door' when 'desk' then (audit_active_officer(envelope ->> 'actor')).id end)
    returning id into added;
  return jsonb_build_object('id', added);
end $$;

-- The guards look at accounts and links, which those whose writes they guard need not see.
do $$
declare
  guard regprocedure;
begin
  for guard in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname in (
      'audit_same_hands', 'audit_may_decide', 'audit_guard_case_hands', 'audit_guard_night_hands',
      'audit_guard_account_request', 'audit_guard_access_link', 'audit_guard_officer') loop
    execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', guard);
    execute format('revoke all on function %s from public', guard);
  end loop;
end $$;
