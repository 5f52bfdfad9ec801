-- Two people: what four eyes ask of two accounts, whatever writes, and of when. Instead of hands.sql.
--
-- Whoever sees the link with which a password is chosen, or gives the address to which it is mailed, could choose the
-- password. An account is in that person's hands until another administrator has said who it is; and in the hands of
-- whoever has that person's account in hand, and so on.

-- When these rules began to hold: what was decided before was decided by those of hands.sql.
do $$
begin
  execute format(
    'create function audit_hands_since() returns timestamptz language sql immutable parallel safe as %L',
    format('select %L::timestamptz', clock_timestamp()));
end $$;

alter table audit_accesslink add constraint access_link_confirmed_once_used
  check (confirmed_at is null or (used_at is not null and confirmed_by_id is distinct from officer_id));
alter table audit_accesslink add constraint access_link_confirmed_at_a_time
  check (confirmed_by_id is null or confirmed_at is not null);

-- The account itself, and those whose hands it was in at a time.
create function audit_hands_of(p_officer bigint, p_at timestamptz) returns bigint[]
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  with recursive hand (id) as (
    select p_officer
    union
    select last.giver
      from hand cross join lateral (
        select l.confirmed_at, l.is_shown and not l.is_invitation as is_shown_reset,
               case when l.is_shown then l.issued_by_id else coalesce(
                 (select r.proposed_by_id from audit_accountrequest r
                    where r.officer_id = l.officer_id and r.kind = 'email' and r.state = 'approved'
                      and r.decided_at <= l.issued_at
                    order by r.decided_at desc, r.id desc limit 1),
                 o.created_by_id) end as giver
          from audit_accesslink l join audit_officer o on o.id = l.officer_id
          where l.officer_id = hand.id and l.used_at <= p_at
          order by l.used_at desc, l.id desc limit 1) last
      where last.giver is not null and (last.confirmed_at is null or last.confirmed_at > p_at)
        and (p_at >= audit_hands_since() or (last.is_shown_reset and hand.id = p_officer)))
  select array_agg(id) from hand
$$;

-- Whether two accounts may have been in the hands of one person at a time: they are one account; or one created the
-- other, or issued a link with which the other's password was chosen; or both are in the hands of a third. The callers
-- need not see accounts and links.
create function audit_same_hands_at(p_one bigint, p_other bigint, p_at timestamptz) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_one = p_other
    or exists (
      select from audit_officer
        where (id = p_one and created_by_id = p_other) or (id = p_other and created_by_id = p_one))
    or exists (
      select from audit_accesslink
        where used_at <= p_at
          and ((officer_id = p_one and issued_by_id = p_other) or (officer_id = p_other and issued_by_id = p_one)))
    or audit_hands_of(p_one, p_at) && audit_hands_of(p_other, p_at)
$$;

create or replace function audit_same_hands(p_one bigint, p_other bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_same_hands_at(p_one, p_other, 'infinity')
$$;

-- The link with which an account's password was last chosen; null if there is none.
create function audit_last_link(p_officer bigint) returns audit_accesslink
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select l from audit_accesslink l
    where l.officer_id = p_officer and l.used_at is not null order by l.used_at desc, l.id desc limit 1
$$;

-- Why an administrator may not say who an account is: the code of a refusal, null if they may. The owner has signed in,
-- with a password chosen by a link that nobody else was shown; and the administrator is another person than those who
-- have had it in hand.
create function audit_cannot_confirm(p_actor bigint, p_officer bigint) returns text
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case
    when not audit_keeps(p_actor, p_officer) then 'not-keeper'
    when l.id is null or l.confirmed_at is not null then 'nothing-to-confirm'
    when l.is_shown then 'link-was-shown'
    when o.last_login is null or o.last_login <= l.used_at then 'not-signed-in'
    when audit_same_hands(p_actor, p_officer) then 'same-hands'
  end
  from audit_officer o left join lateral audit_last_link(o.id) l on true
  where o.id = p_officer
$$;

-- That an administrator knows whose account it is. At the desk, data: id, officer. By a command, which asks nobody, as
-- the first administrators have nobody else; data: named.
create function audit_act_officer_confirmed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  officer audit_officer;
  actor   bigint;
  refusal text;
begin
  if envelope ->> 'door' = 'command' then
    select * into officer from audit_officer o where o.username = envelope #>> '{data,named}' for no key update;
  else
    officer := audit_officer_of(envelope);
    actor := (audit_active_officer(envelope ->> 'actor')).id;
    perform audit_demand_own_trail(envelope, officer.id);
    refusal := audit_cannot_confirm(actor, officer.id);
  end if;
  if refusal is not null then
    raise exception '%', refusal using errcode = 'ES403';
  end if;
  update audit_accesslink set confirmed_at = (envelope ->> 'occurred_at')::timestamptz, confirmed_by_id = actor
    where id = (audit_last_link(officer.id)).id and confirmed_at is null;
  if not found then
    raise exception 'nothing-to-confirm' using errcode = 'ES403';
  end if;
  return null;
end $$;

-- A link is used once, and never comes back; whose it was is said once, after it was used.
create or replace function audit_guard_access_link() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  said text[] := array['confirmed_at', 'confirmed_by_id'];
begin
  if tg_op = 'DELETE' then
    raise exception 'a link is never deleted' using errcode = 'check_violation';
  end if;
  if old.used_at is not null and old.confirmed_at is null and to_jsonb(old) - said = to_jsonb(new) - said then
    return new;
  end if;
  if old.used_at is not null or old.revoked_at is not null
     or to_jsonb(old) - array['used_at', 'revoked_at'] is distinct from to_jsonb(new) - array['used_at', 'revoked_at']
  then
    raise exception 'a link is used or revoked once, and not changed' using errcode = 'check_violation';
  end if;
  return new;
end $$;

revoke all on function audit_hands_since from public;
revoke all on function audit_hands_of from public;
revoke all on function audit_same_hands_at from public;
revoke all on function audit_last_link from public;
revoke all on function audit_cannot_confirm from public;
revoke all on function audit_act_officer_confirmed from public;
