-- Accounts: an invitation, a link, a password, a role are each written by a function that an entry of the audit trail
-- names: see audit/event_store/sql/entries.sql. Requests, which two administrators decide, are in requests.sql.
--
-- The rules are here and nowhere else: who keeps an account, what takes two administrators, whose hands are the same.
-- ``audit/access/accounts.py`` names the entries, and says the code of a refusal in words.
--
-- data of an entry about an account: id, officer (its name). The entry is in the trail of one of the account's casinos;
-- of the installation's if it has none. Commands, which sign in as an operator, add accounts, make superusers and give
-- roles without asking anybody: an installation begins with them.

create function audit_active_officer(p_name text) returns audit_officer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
begin
  select * into officer from audit_officer o where o.username = p_name and o.is_active;
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return officer;
end $$;


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

-- Who created an account stays known.
create function audit_guard_officer() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.created_by_id is not null and new.created_by_id is distinct from old.created_by_id then
    raise exception 'who created an account does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_officer before update on audit_officer for each row execute function audit_guard_officer();


-- What commands do --------------------------------------------------------------------------------------------------

-- data: named. The secret is the hash of the password. At the desk an account is invited.
create function audit_act_officer_added(envelope jsonb, seq bigint, secret text) returns jsonb
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
create function audit_act_officer_made_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_set_superuser(envelope, true);
  return null;
end $$;

create function audit_act_officer_unmade_superuser(envelope jsonb, seq bigint, secret text) returns jsonb
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
create function audit_act_membership_removed(envelope jsonb, seq bigint, secret text) returns jsonb
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

-- A link is used once, and never comes back.
create function audit_guard_access_link() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
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
create function audit_act_officer_password_changed(envelope jsonb, seq bigint, secret text) returns jsonb
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
