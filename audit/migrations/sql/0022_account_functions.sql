-- Accounts: an invitation, a link, a request and its decision, a role, a second factor are each written by a function of
-- the owner's that is named by an entry of the audit trail, in one statement with that entry: see 0018_walls.sql.
--
-- The rules are here and nowhere else: who keeps an account, what takes two administrators, whose hands are the same.
-- ``audit/access/accounts.py`` names the entries, and says the code of a refusal in words.
--
-- data of an entry about an account: id, officer (its name). The entry is in the trail of one of the account's casinos;
-- of the installation's if it has none. Commands, which sign in as an operator, add accounts, make superusers and give
-- roles without asking anybody: an installation begins with them.


-- Whose account it is, and who keeps it -----------------------------------------------------------------------------

-- The account of an entry, locked: one request, link or role of an account is written at a time.
create function audit_officer_of(envelope jsonb) returns audit_officer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
begin
  select * into officer from audit_officer o
    where o.username = envelope #>> '{data,officer}' and o.id = (envelope #>> '{data,id}')::bigint
    for no key update;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return officer;
end $$;

-- The casinos of an account: those of its roles, and those of roles that wait for approval.
create function audit_casinos_of(p_officer bigint) returns bigint[]
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(array_agg(c.casino_id), '{}') from (
    select m.casino_id from audit_officer_casinos m where m.officer_id = p_officer
    union
    select r.casino_id from audit_accountrequest r
      where r.officer_id = p_officer and r.kind = 'role' and r.state = 'waiting') c
$$;

create function audit_keeps_at(p_actor bigint, p_casino bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from audit_officer o
      where o.id = p_actor and o.is_active
        and (o.is_superuser or exists (
          select from audit_officer_casinos m
            where m.officer_id = o.id and m.casino_id = p_casino and m.role = 'administrator')))
$$;

-- An administrator keeps the accounts of others all of whose casinos are theirs; a superuser every one but their own.
create function audit_keeps(p_actor bigint, p_officer bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_actor <> p_officer and exists (
    select from audit_officer a cross join audit_officer o
      where a.id = p_actor and a.is_active and o.id = p_officer
        and (a.is_superuser
          or (not o.is_superuser and audit_casinos_of(o.id) <> '{}'
            and not exists (
              select from unnest(audit_casinos_of(o.id)) c (id) where not audit_keeps_at(a.id, c.id)))))
$$;

create function audit_demand_keeper(p_actor bigint, p_officer bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not audit_keeps(p_actor, p_officer) then
    raise exception 'not-keeper' using errcode = 'ES403';
  end if;
end $$;

create function audit_demand_keeper_at(p_actor bigint, p_casino bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not audit_keeps_at(p_actor, p_casino) then
    raise exception 'not-keeper-here' using errcode = 'ES403';
  end if;
end $$;

create function audit_is_in_own_trail(envelope jsonb, p_officer bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case audit_casinos_of(p_officer)
    when '{}' then (envelope ->> 'casino_id')::bigint = 0
    else (envelope ->> 'casino_id')::bigint = any (audit_casinos_of(p_officer))
  end
$$;

-- What is done to an account cannot be hidden in the trail of a casino where nobody looks for it.
create function audit_demand_own_trail(envelope jsonb, p_officer bigint) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not audit_is_in_own_trail(envelope, p_officer) then
    raise exception 'not-its-trail' using errcode = 'ES403';
  end if;
end $$;

create function audit_demand_command(envelope jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if envelope ->> 'door' is distinct from 'command' then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
end $$;


-- What commands do --------------------------------------------------------------------------------------------------

-- data: named. The secret is the hash of the password. At the desk an account is invited.
create or replace function audit_act_officer_added(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  added bigint;
begin
  perform audit_demand_command(envelope);
  insert into audit_officer
      (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined)
    values (envelope #>> '{data,named}', coalesce(secret, '!'), false, true, true, '', '', '',
            (envelope ->> 'occurred_at')::timestamptz)
    returning id into added;
  return jsonb_build_object('id', added);
end $$;

create function audit_set_superuser(envelope jsonb, p_is_superuser boolean) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  update audit_officer set is_superuser = p_is_superuser, is_staff = is_staff or p_is_superuser
    where username = envelope #>> '{data,named}';
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
end $$;

-- data: named.
create or replace function audit_act_officer_made_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_set_superuser(envelope, true);
  return null;
end $$;

create or replace function audit_act_officer_unmade_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_set_superuser(envelope, false);
  return null;
end $$;

-- The one function that writes roles: gives or changes one, or takes it away if p_role is null. Return the row's id.
create function audit_set_role(p_officer bigint, p_casino bigint, p_role text) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  written bigint;
begin
  if p_role is null then
    delete from audit_officer_casinos m where m.officer_id = p_officer and m.casino_id = p_casino
      returning m.id into written;
  else
    insert into audit_officer_casinos as m (officer_id, casino_id, role) values (p_officer, p_casino, p_role)
      on conflict (officer_id, casino_id) do update set role = excluded.role
      returning m.id into written;
  end if;
  if written is null then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  return written;
end $$;

drop function audit_act_membership_added(jsonb, bigint, text);
drop function audit_act_membership_changed(jsonb, bigint, text);

-- data: officer, role, and before if it is another one that is changed. The casino is that of the stream.
create function audit_act_membership_given(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer bigint;
begin
  perform audit_demand_command(envelope);
  select o.id into officer from audit_officer o where o.username = envelope #>> '{data,officer}' for no key update;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return jsonb_build_object(
    'id', audit_set_role(officer, (envelope ->> 'casino_id')::bigint, envelope #>> '{data,role}'));
end $$;

-- data: officer, role.
create or replace function audit_act_membership_removed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer bigint;
begin
  perform audit_demand_command(envelope);
  select o.id into officer
    from audit_officer o join audit_officer_casinos m on m.officer_id = o.id
    where o.username = envelope #>> '{data,officer}' and m.casino_id = (envelope ->> 'casino_id')::bigint
      and m.role = envelope #>> '{data,role}'
    for no key update of o;
  return jsonb_build_object('id', audit_set_role(officer, (envelope ->> 'casino_id')::bigint, null));
end $$;


-- Invitations, links, passwords -------------------------------------------------------------------------------------

-- A new account, without a password and without a role. data: officer, role (which is then proposed). The secret has
-- first_name, last_name and email.
create function audit_act_officer_invited(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor  bigint := (audit_active_officer(envelope ->> 'actor')).id;
  person jsonb  := secret::jsonb;
  added  bigint;
begin
  perform audit_demand_keeper_at(actor, (envelope ->> 'casino_id')::bigint);
  insert into audit_officer
      (username, password, is_superuser, is_staff, is_active, first_name, last_name, email, date_joined, created_by_id)
    values (envelope #>> '{data,officer}', '!' || replace(gen_random_uuid()::text, '-', ''), false, true, true,
            person ->> 'first_name', person ->> 'last_name', person ->> 'email',
            (envelope ->> 'occurred_at')::timestamptz, actor)
    returning id into added;
  return jsonb_build_object('id', added);
end $$;

create function audit_revoke_links(envelope jsonb, p_officer bigint) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update audit_accesslink set revoked_at = (envelope ->> 'occurred_at')::timestamptz
    where officer_id = p_officer and used_at is null and revoked_at is null
$$;

-- data: delivery, shown or mailed. The secret is the digest of the token, in hexadecimal. A link is good for 72 hours,
-- by the clock of the database if that is behind the entry's.
create function audit_act_officer_link_issued(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  issued  timestamptz   := (envelope ->> 'occurred_at')::timestamptz;
begin
  perform audit_demand_keeper(actor, officer.id);
  perform audit_demand_own_trail(envelope, officer.id);
  if not officer.is_active then
    raise exception 'deactivated' using errcode = 'ES403';
  end if;
  if secret !~ '^[0-9a-f]{64}$' or envelope #>> '{data,delivery}' not in ('shown', 'mailed') then
    raise exception 'not-a-link' using errcode = 'ES403';
  end if;
  perform audit_revoke_links(envelope, officer.id);
  insert into audit_accesslink (officer_id, is_invitation, token_sha256, issued_by_id, issued_at, expires_at, is_shown)
    values (officer.id, officer.password like '!%', secret, actor, issued,
            least(issued, clock_timestamp()) + interval '72 hours', envelope #>> '{data,delivery}' = 'shown');
  return null;
end $$;

-- The actor is the officer of the link. data: issued_by. The secret has the token itself, which the database does not,
-- and the hash of the password.
create function audit_act_officer_link_used(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  chosen  jsonb         := secret::jsonb;
  used    bigint;
begin
  if envelope ->> 'actor' is distinct from officer.username or chosen ->> 'password' is null then
    raise exception 'not-a-link' using errcode = 'ES403';
  end if;
  perform audit_demand_own_trail(envelope, officer.id);
  update audit_accesslink l set used_at = clock_timestamp()
    from audit_officer issuer
    where l.officer_id = officer.id and l.used_at is null and l.revoked_at is null
      and l.token_sha256 = encode(sha256(convert_to(chosen ->> 'token', 'UTF8')), 'hex')
      and l.expires_at > greatest((envelope ->> 'occurred_at')::timestamptz, clock_timestamp())
      and issuer.id = l.issued_by_id and issuer.username = envelope #>> '{data,issued_by}'
    returning l.id into used;
  if used is null then
    raise exception 'not-a-link' using errcode = 'ES403';
  end if;
  update audit_officer set password = chosen ->> 'password' where id = officer.id;
  return null;
end $$;

-- The secret is the new hash. At the desk, of one's own password alone; data: id, officer. By a command; data: named.
-- A link that would set another one is revoked.
create or replace function audit_act_officer_password_changed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
begin
  if envelope ->> 'door' = 'command' then
    select * into officer from audit_officer o where o.username = envelope #>> '{data,named}' for no key update;
  else
    officer := audit_officer_of(envelope);
    if envelope ->> 'actor' is distinct from officer.username then
      raise exception 'not-allowed' using errcode = 'ES403';
    end if;
    perform audit_demand_own_trail(envelope, officer.id);
  end if;
  update audit_officer set password = secret where id = officer.id and secret is not null;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  perform audit_revoke_links(envelope, officer.id);
  return null;
end $$;

-- The secret has first_name and last_name.
create function audit_act_officer_renamed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  person  jsonb         := secret::jsonb;
begin
  perform audit_demand_keeper((audit_active_officer(envelope ->> 'actor')).id, officer.id);
  perform audit_demand_own_trail(envelope, officer.id);
  update audit_officer set first_name = person ->> 'first_name', last_name = person ->> 'last_name'
    where id = officer.id;
  return null;
end $$;

-- By a keeper; or by whoever has just declined or withdrawn the last role that was proposed for an account without one.
-- The links that the officer issued are revoked, too.
create function audit_act_officer_deactivated(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  last    audit_accountrequest;
begin
  select * into last from audit_accountrequest r
    where r.officer_id = officer.id and r.kind = 'role' order by r.id desc limit 1;
  if officer.is_superuser or audit_casinos_of(officer.id) <> '{}' or last.decided_by_id is distinct from actor
     or last.state not in ('declined', 'withdrawn') or last.casino_id <> (envelope ->> 'casino_id')::bigint then
    perform audit_demand_keeper(actor, officer.id);
    perform audit_demand_own_trail(envelope, officer.id);
  end if;
  if not officer.is_active then
    raise exception 'deactivated' using errcode = 'ES403';
  end if;
  update audit_accesslink set revoked_at = (envelope ->> 'occurred_at')::timestamptz
    where (officer_id = officer.id or issued_by_id = officer.id) and used_at is null and revoked_at is null;
  update audit_officer set is_active = false where id = officer.id;
  return null;
end $$;


-- Roles by one administrator ----------------------------------------------------------------------------------------

-- Whether a role lets its holder do nothing that another does not. Of audit/access/capabilities.py; a test compares.
create function audit_role_is_within(p_role text, p_of text) returns boolean
language sql immutable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_role = p_of or (p_role, p_of) in (
    ('auditor', 'officer'), ('auditor', 'second'), ('auditor', 'director'), ('officer', 'second'), ('director', 'second'))
$$;

-- data: role, before.
create function audit_act_officer_role_narrowed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  casino  bigint        := (envelope ->> 'casino_id')::bigint;
  held    text;
begin
  perform audit_demand_keeper_at(actor, casino);
  perform audit_demand_keeper(actor, officer.id);
  select m.role into held from audit_officer_casinos m where m.officer_id = officer.id and m.casino_id = casino;
  if held is distinct from envelope #>> '{data,before}'
     or audit_role_is_within(envelope #>> '{data,role}', held) is not true then
    raise exception 'not-narrower' using errcode = 'ES403';
  end if;
  perform audit_set_role(officer.id, casino, envelope #>> '{data,role}');
  return null;
end $$;

-- data: before.
create function audit_act_officer_role_removed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   bigint        := (audit_active_officer(envelope ->> 'actor')).id;
  casino  bigint        := (envelope ->> 'casino_id')::bigint;
begin
  perform audit_demand_keeper(actor, officer.id);
  perform audit_demand_keeper_at(actor, casino);
  if not exists (select from audit_officer_casinos m
                 where m.officer_id = officer.id and m.casino_id = casino and m.role = envelope #>> '{data,before}') then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  perform audit_set_role(officer.id, casino, null);
  return null;
end $$;

-- The first administrator that a casino ever has, whom a superuser appoints alone. data: role.
create function audit_act_officer_first_administrator(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
  actor   audit_officer := audit_active_officer(envelope ->> 'actor');
  casino  bigint        := (envelope ->> 'casino_id')::bigint;
  decided timestamptz   := (envelope ->> 'occurred_at')::timestamptz;
  added   bigint;
begin
  perform audit_demand_keeper(actor.id, officer.id);
  perform from audit_casino c where c.id = casino for no key update;  -- one first administrator at a time
  if not actor.is_superuser or envelope #>> '{data,role}' is distinct from 'administrator'
     or exists (select from audit_officer_casinos m where m.casino_id = casino and m.role = 'administrator')
     or exists (select from audit_accountrequest r
                where r.casino_id = casino and r.role = 'administrator' and r.state = 'approved') then
    raise exception 'not-the-first' using errcode = 'ES403';
  end if;
  insert into audit_accountrequest
      (kind, officer_id, casino_id, role, email, reason, state, proposed_by_id, proposed_at, decided_by_id, decided_at,
       is_first)
    values ('role', officer.id, casino, 'administrator', '', coalesce(envelope #>> '{data,reason}', ''), 'approved',
            actor.id, decided, actor.id, decided, true)
    returning id into added;
  perform audit_set_role(officer.id, casino, 'administrator');
  return jsonb_build_object('id', added);
end $$;


-- Requests, which two administrators decide -------------------------------------------------------------------------

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


-- Second factors ----------------------------------------------------------------------------------------------------

-- Of the actor, who has none, in the installation's trail. data: named. The secret has the id of the device, which a code
-- has confirmed, and the recovery codes.
create function audit_act_officer_second_factor(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor    bigint := (audit_active_officer(envelope ->> 'actor')).id;
  recovery bigint;
begin
  perform from audit_officer o where o.id = actor for no key update;
  if (envelope ->> 'casino_id')::bigint <> 0 then
    raise exception 'not-its-trail' using errcode = 'ES403';
  end if;
  if envelope ->> 'actor' is distinct from envelope #>> '{data,named}'
     or exists (select from otp_totp_totpdevice d where d.user_id = actor and d.confirmed) then
    raise exception 'has-second-factor' using errcode = 'ES403';
  end if;
  update otp_totp_totpdevice set confirmed = true
    where id = (secret::jsonb ->> 'device')::bigint and user_id = actor;
  if not found then
    raise exception 'no-second-factor' using errcode = 'ES403';
  end if;
  delete from otp_static_statictoken t using otp_static_staticdevice d where d.id = t.device_id and d.user_id = actor;
  delete from otp_static_staticdevice where user_id = actor;
  insert into otp_static_staticdevice (user_id, name, confirmed, throttling_failure_count, created_at)
    values (actor, 'paper', true, 0, (envelope ->> 'occurred_at')::timestamptz)
    returning id into recovery;
  insert into otp_static_statictoken (device_id, token)
    select recovery, code from jsonb_array_elements_text(secret::jsonb -> 'codes') code;
  return null;
end $$;

-- A web server counts tries and codes in these rows. Whose a factor is, its secret and whether it is in use never change
-- by its hand; what is in use is put there by the function above. Commands of the operator may.
create function audit_guard_second_factor() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  counted text[] := array['drift', 'last_t', 'last_used_at', 'throttling_failure_timestamp', 'throttling_failure_count'];
begin
  if pg_has_role(current_user, (select c.relowner from pg_class c where c.oid = tg_relid), 'usage')
     or (case when to_regrole('cabochon_operator') is not null
           then pg_has_role(current_user, to_regrole('cabochon_operator'), 'usage') end) then
    return new;
  end if;
  if tg_op = 'INSERT' and new.confirmed
     or tg_op = 'UPDATE' and to_jsonb(old) - counted is distinct from to_jsonb(new) - counted then
    raise exception 'a second factor is put into use and changed by its functions'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger guard_second_factor before insert or update on otp_totp_totpdevice
  for each row execute function audit_guard_second_factor();
create trigger guard_second_factor before insert or update on otp_static_staticdevice
  for each row execute function audit_guard_second_factor();


-- Nights ------------------------------------------------------------------------------------------------------------

-- The second signature, by another officer, whose account is in other hands.
create or replace function audit_act_night_closed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  report audit_nightreport := audit_report_to_sign(envelope);
  signer bigint := (audit_active_officer(envelope ->> 'actor')).id;
begin
  if report.reviewed_by_id is null then
    raise exception 'not-reviewed' using errcode = 'ES403';
  end if;
  if report.reviewed_by_id = signer then
    raise exception 'another-officer' using errcode = 'ES403';
  end if;
  if audit_same_hands(report.reviewed_by_id, signer) then
    raise exception 'same-hands' using errcode = 'ES403';
  end if;
  update audit_nightreport
    set state = 'closed', closed_by_id = signer, closed_at = (envelope ->> 'occurred_at')::timestamptz
    where id = report.id;
  return null;
end $$;


drop function audit_check_power(jsonb, text);

do $$
declare
  ours regprocedure;
begin
  for ours in select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname like 'audit\_%' loop
    if exists (select from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
               where p.oid = ours and a.grantee = 0) then
      execute format('revoke all on function %s from public', ours);
    end if;
  end loop;
end $$;
