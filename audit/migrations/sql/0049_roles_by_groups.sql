-- As in 0043, and a role is taken away only where an operator has mapped groups of that casino, that of administrator only where
-- a group stands for it. data: role and group, "" for a role that is taken away; before, "" for none. The casino is that of the stream.
create or replace function audit_act_officer_role_by_groups(envelope jsonb, seq bigint, secret text) returns jsonb
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
