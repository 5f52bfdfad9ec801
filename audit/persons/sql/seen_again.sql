-- An officer dismisses a sighting of a listed player, once: listing.dismissed. What was dismissed is one session: at
-- another table on the same day the player is seen again, in a row of its own.
--
-- data: listing (its number), gaming_day, session, outcome; reason, or "".
create or replace function audit_act_listing_dismissed(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor  bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino bigint := (envelope ->> 'casino_id')::bigint;
  about  jsonb  := envelope -> 'data';
  seen   audit_sighting;
begin
  if not audit_may_order(actor, casino, 'end') then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  select s.* into seen from audit_sighting s join audit_listing l on l.id = s.listing_id
    join log.stream t on t.stream_id = s.stream_id
    where l.casino_id = casino and l.number = (about ->> 'listing')::bigint
      and s.gaming_day = (about ->> 'gaming_day')::date and t.name = about ->> 'session'
    for update of s;
  if not found or seen.dismissed_at is not null then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  update audit_sighting set outcome = about ->> 'outcome', dismissal = trim(coalesce(about ->> 'reason', '')),
      dismissed_by_id = actor, dismissed_at = (envelope ->> 'occurred_at')::timestamptz
    where id = seen.id;
  return jsonb_build_object('id', seen.id);
exception
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;
