-- Which accounts and roles are active, said once: who acts and who checks call the same. Otherwise the functions below
-- are those of accounts.sql, requests.sql, register/sql/entries.sql and corrections/sql/decisions.sql.

-- Whether an account may do anything: it was not deactivated, and may use the desk.
create function audit_account_is_active(p_is_active boolean, p_is_staff boolean)
returns boolean language sql immutable parallel safe as $$
  select p_is_active and p_is_staff
$$;

-- Whether an account has one of some roles at a casino, at any one for null: it is active, and is a superuser's or has
-- been given one of them there.
create function audit_role_is_active(p_officer bigint, p_casino bigint, p_roles text[])
returns boolean language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from audit_officer o
      where o.id = p_officer and audit_account_is_active(o.is_active, o.is_staff)
        and (o.is_superuser or exists (
          select from audit_officer_casinos m
            where m.officer_id = o.id and m.role = any (p_roles) and (p_casino is null or m.casino_id = p_casino))))
$$;

revoke all on function audit_account_is_active from public;
revoke all on function audit_role_is_active from public;

create or replace function audit_active_officer(p_name text) returns audit_officer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
begin
  select * into officer from audit_officer o
    where o.username = p_name and audit_account_is_active(o.is_active, o.is_staff);
  if not found then
    raise exception 'not-an-officer' using errcode = 'ES403';
  end if;
  return officer;
end $$;

create or replace function audit_keeps_at(p_actor bigint, p_casino bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_role_is_active(p_actor, p_casino, '{administrator}')
$$;

-- An administrator keeps the accounts of others all of whose casinos are theirs; a superuser every one but their own.
create or replace function audit_keeps(p_actor bigint, p_officer bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_actor <> p_officer and exists (
    select from audit_officer a cross join audit_officer o
      where a.id = p_actor and audit_account_is_active(a.is_active, a.is_staff) and o.id = p_officer
        and (a.is_superuser
          or (not o.is_superuser and audit_casinos_of(o.id) <> '{}'
            and not exists (
              select from unnest(audit_casinos_of(o.id)) c (id) where not audit_keeps_at(a.id, c.id)))))
$$;

create or replace function audit_may_decide(p_proposer bigint, p_decider bigint, p_officer bigint, p_casino bigint)
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
          where o.id not in (p_proposer, p_decider, p_officer)
            and audit_role_is_active(o.id, p_casino, '{administrator}')))
$$;

create or replace function audit_keeps_register(p_actor bigint, p_casino bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_role_is_active(p_actor, p_casino, '{second,director}')
$$;

create or replace function audit_decides_corrections(p_actor bigint, p_casino bigint, p_begins boolean) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_role_is_active(
    p_actor, p_casino, case when p_begins then '{second,director,officer}' else '{second,director}' end::text[])
$$;
