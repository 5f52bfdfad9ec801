-- Single sign-on. An officer's account is linked to one at the provider once, by the officer's own sign-in. What the
-- groups of the provider stand for is kept by operators alone; a sign-in takes away what they do not stand for, and
-- gives what they do, except the role of administrator, which two administrators give. Each with its entry of the audit
-- trail.

-- Of one's own account alone. A superuser signs in with the password.
create function audit_own_account(envelope jsonb) returns audit_officer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_officer_of(envelope);
begin
  if envelope ->> 'door' is distinct from 'desk' or envelope ->> 'actor' is distinct from officer.username
     or officer.is_superuser then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  return officer;
end $$;

-- data: issuer. The secret is the subject: what the provider calls the account.
create function audit_act_officer_linked(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_own_account(envelope);
begin
  perform audit_demand_own_trail(envelope, officer.id);
  insert into audit_provideraccount (officer_id, issuer, subject, linked_at)
    values (officer.id, envelope #>> '{data,issuer}', secret, clock_timestamp()) on conflict do nothing;
  if not found then
    raise exception 'linked-already' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- By a command, after which the officer's next sign-in links again. data: named.
create function audit_act_officer_unlinked(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  delete from audit_provideraccount p using audit_officer o
    where o.id = p.officer_id and o.username = envelope #>> '{data,named}';
  if not found then
    raise exception 'not-linked' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- A role is taken away only where an operator has mapped groups of that casino, that of administrator only where a
-- group stands for it. data: role and group, "" for a role that is taken away; before, "" for none. The casino is that
-- of the stream.
create function audit_act_officer_role_by_groups(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer := audit_own_account(envelope);
  casino  bigint        := (envelope ->> 'casino_id')::bigint;
  wanted  text          := nullif(envelope #>> '{data,role}', '');
  held    text;
begin
  select m.role into held from audit_officer_casinos m where m.officer_id = officer.id and m.casino_id = casino;
  if coalesce(held, '') is distinct from envelope #>> '{data,before}'
     or not exists (select from audit_provideraccount p where p.officer_id = officer.id) then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  if wanted is not null and (wanted = 'administrator' or not exists (
       select from audit_grouprole g
       where g.casino_id = casino and g.role = wanted and g."group" = envelope #>> '{data,group}')) then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  if wanted is null and not exists (
       select from audit_grouprole g
       where g.casino_id = casino and (held is distinct from 'administrator' or g.role = held)) then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  perform audit_set_role(officer.id, casino, wanted);
  return null;
end $$;

-- By a command. data: role, group.
create function audit_act_group_given(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  insert into audit_grouprole (casino_id, role, "group")
    values ((envelope ->> 'casino_id')::bigint, envelope #>> '{data,role}', envelope #>> '{data,group}')
    on conflict do nothing;
  return null;
end $$;

create function audit_act_group_removed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform audit_demand_command(envelope);
  delete from audit_grouprole g
    where g.casino_id = (envelope ->> 'casino_id')::bigint and g.role = envelope #>> '{data,role}'
      and g."group" = envelope #>> '{data,group}';
  if not found then
    raise exception 'no-such-role' using errcode = 'ES403';
  end if;
  return null;
end $$;
