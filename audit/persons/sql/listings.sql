-- A player is on the watch list or the exclusion list of a casino. Two officers put him there, and two take him off:
--
--   proposed -> waiting -> listed -> leaving -> removed
--                     \        \<------'
--                      -> declined   (a removal that is declined)
--
-- Each step is an entry of the audit trail and a function here, in one statement: audit/event_store/sql/entries.sql.
-- ``audit/persons/listings.py`` names the entries, and says the code of a refusal in words. An officer may propose,
-- approve and decline as with a payment order: audit_may_order.

-- What is proposed does not change; two people put a player on a list, and two take him off.
create function audit_guard_listing() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'an entry of a list is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'waiting' then
      raise exception 'an entry of a list begins as waiting' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if (old.id, old.casino_id, old.number, old.kind, old.code, old.last_day, old.reason, old.proposed_by_id,
      old.proposed_at)
     is distinct from (new.id, new.casino_id, new.number, new.kind, new.code, new.last_day, new.reason,
      new.proposed_by_id, new.proposed_at) then
    raise exception 'what is proposed does not change' using errcode = 'check_violation';
  end if;
  if (old.state, new.state) not in (('waiting', 'listed'), ('waiting', 'declined'), ('listed', 'leaving'),
      ('leaving', 'listed'), ('leaving', 'removed')) then
    raise exception 'an entry of a list does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  if old.state <> 'waiting' and (old.approved_by_id, old.approved_at) is distinct from (new.approved_by_id, new.approved_at)
     or new.state = 'removed' and (old.removal_by_id, old.removal_at, old.removal_reason)
        is distinct from (new.removal_by_id, new.removal_at, new.removal_reason) then
    raise exception 'what is decided does not change' using errcode = 'check_violation';
  end if;
  if old.state = 'waiting' and new.state = 'listed' and audit_same_hands(new.proposed_by_id, new.approved_by_id)
     or new.state = 'removed' and audit_same_hands(new.removal_by_id, new.ended_by_id) then
    raise exception 'what waits for a second officer takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_listing before insert or update or delete on audit_listing
  for each row execute function audit_guard_listing();

-- data: listing (its number), list, named (the player's id), last_day (a date, or ""), reason.
create function audit_act_listing_proposed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor  bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino bigint := (envelope ->> 'casino_id')::bigint;
  about  jsonb  := envelope -> 'data';
  asked  timestamptz := (envelope ->> 'occurred_at')::timestamptz;
  through date;
  today  date := (asked at time zone 'UTC')::date;
  nth    bigint;
  added  bigint;
begin
  if not audit_may_order(actor, casino, 'ask') then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  through := nullif(about ->> 'last_day', '')::date;
  if not exists (select from audit_person p
                 where p.casino_id = casino and p.code = about ->> 'named' and p.kind = 'player') then
    raise exception 'no-such-player' using errcode = 'ES403';
  end if;
  if through < today - 1 then  -- the gaming day of a casino may still be the one before
    raise exception 'is-over' using errcode = 'ES403';
  end if;
  if exists (select from audit_listing l
             where l.casino_id = casino and l.kind = about ->> 'list' and l.code = about ->> 'named'
               and l.state in ('waiting', 'listed', 'leaving') and (l.last_day is null or l.last_day >= today)) then
    raise exception 'listed-already' using errcode = 'ES403';
  end if;
  select count(*) + 1 into nth from audit_listing l where l.casino_id = casino;
  if nth is distinct from (about ->> 'listing')::bigint then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  insert into audit_listing
      (casino_id, number, kind, code, last_day, reason, state, proposed_by_id, proposed_at, removal_reason, end_reason)
    values (casino, nth, about ->> 'list', about ->> 'named', through, trim(coalesce(about ->> 'reason', '')),
            'waiting', actor, asked, '', '')
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'moved-on' using errcode = 'ES403';
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- data: listing (its number); reason of what is declined, or of a removal that is proposed.
create function audit_go_on_with_listing(envelope jsonb, p_verb text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor  bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino bigint := (envelope ->> 'casino_id')::bigint;
  about  jsonb  := envelope -> 'data';
  acted  timestamptz := (envelope ->> 'occurred_at')::timestamptz;
  why    text   := trim(coalesce(about ->> 'reason', ''));
  found_row audit_listing;
  first_by bigint;
begin
  if not audit_may_order(actor, casino, case p_verb when 'approved' then 'approve' when 'removal_approved' then 'approve'
                                          when 'removal_proposed' then 'ask' else 'end' end) then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  select * into found_row from audit_listing l
    where l.casino_id = casino and l.number = (about ->> 'listing')::bigint for update;
  if not found or found_row.state <> (case when p_verb in ('approved', 'declined') then 'waiting'
                                           when p_verb = 'removal_proposed' then 'listed' else 'leaving' end) then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  if p_verb in ('approved', 'removal_approved') then
    first_by := case p_verb when 'approved' then found_row.proposed_by_id else found_row.removal_by_id end;
    if first_by = actor then
      raise exception 'own-proposal' using errcode = 'ES403';
    end if;
    if audit_same_hands(first_by, actor) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
  elsif why = '' then
    raise exception 'no-reason' using errcode = 'ES403';
  end if;
  case p_verb
    when 'approved' then
      update audit_listing set state = 'listed', approved_by_id = actor, approved_at = acted where id = found_row.id;
    when 'declined' then
      update audit_listing set state = 'declined', ended_by_id = actor, ended_at = acted, end_reason = why
        where id = found_row.id;
    when 'removal_proposed' then
      update audit_listing set state = 'leaving', removal_by_id = actor, removal_at = acted, removal_reason = why
        where id = found_row.id;
    when 'removal_declined' then
      update audit_listing set state = 'listed', removal_by_id = null, removal_at = null, removal_reason = ''
        where id = found_row.id;
    else
      update audit_listing set state = 'removed', ended_by_id = actor, ended_at = acted where id = found_row.id;
  end case;
  return jsonb_build_object('id', found_row.id);
exception
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- listing.approved, listing.declined, listing.removal_proposed, listing.removal_approved, listing.removal_declined.
do $$
declare
  verb text;
begin
  foreach verb in array array['approved', 'declined', 'removal_proposed', 'removal_approved', 'removal_declined'] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_go_on_with_listing(envelope, %L) $f$',
      'audit_act_listing_' || verb, verb);
  end loop;
end $$;
