-- A claim of a person who is not found is kept for the casino's own term, then the cash desk has it:
--
--   due -> waiting (above the casino's threshold) -> kept -> handed_over | cancelled: the person is found, it is due again
--
-- What is kept or handed over is cleared of the findings, as what was paid or waived is. Otherwise the functions are
-- those of payment_orders.sql.

create or replace function audit_clear_claim(p_case bigint, p_by text, p_player text) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with claim as (
    select f.id, (f.owed ->> 'amount')::bigint as amount,
      sum((f.owed ->> 'amount')::bigint) over (order by f.seq, f.rule, f.wager, f.id) as through
    from audit_finding f
    where f.case_id = p_case and f.status = 'standing' and f.difference is not null and f.owed is not null
      and f.severity <> 'info' and f.owed ->> 'by' = p_by and f.player = p_player),
  share as (
    select c.id, least(c.amount, greatest(0, cleared.total - (c.through - c.amount)))::bigint as part
    from claim c, (
      select coalesce(sum(o.amount), 0) as total from audit_paymentorder o
      where o.case_id = p_case and o.debtor = p_by and o.player = p_player
        and o.state in ('paid', 'waived', 'kept', 'handed_over')) cleared)
  update audit_finding f set cleared = s.part from share s where f.id = s.id and f.cleared <> s.part
$$;

create or replace function audit_clear_found() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  ordered record;
begin
  if exists (select from audit_paymentorder o where o.case_id = new.case_id) then
    perform from audit_case c where c.id = new.case_id for no key update;
    for ordered in
      select distinct o.debtor, o.player from audit_paymentorder o
      where o.case_id = new.case_id and o.state in ('paid', 'waived', 'kept', 'handed_over') order by 1, 2
    loop
      perform audit_clear_claim(new.case_id, ordered.debtor, ordered.player);
    end loop;
  end if;
  return null;
end $$;

create or replace function audit_guard_payment_order() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a payment order is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state not in ('waiting', 'ordered', 'kept') or new.approved_by_id is not null then
      raise exception 'a payment order begins as waiting, as ordered or as kept' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if (old.id, old.casino_id, old.case_id, old.kind, old.reference, old.debtor, old.player, old.amount, old.currency,
      old.reason, old.ordered_by_id, old.ordered_at, old.not_found_on, old.kept_until)
     is distinct from (new.id, new.casino_id, new.case_id, new.kind, new.reference, new.debtor, new.player, new.amount,
      new.currency, new.reason, new.ordered_by_id, new.ordered_at, new.not_found_on, new.kept_until) then
    raise exception 'what is ordered does not change' using errcode = 'check_violation';
  end if;
  if (old.state, new.state) not in (('waiting', 'ordered'), ('waiting', 'waived'), ('waiting', 'cancelled'),
      ('ordered', 'paid'), ('ordered', 'cancelled'),
      ('waiting', 'kept'), ('kept', 'handed_over'), ('kept', 'cancelled')) then
    raise exception 'a payment order does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  if (new.state in ('ordered', 'waived', 'kept'))
       is distinct from (new.approved_by_id is distinct from old.approved_by_id)
     or new.state in ('ordered', 'waived', 'kept') and audit_same_hands(new.ordered_by_id, new.approved_by_id) then
    raise exception 'what waits for a second officer takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

-- data: as before; of a person not found also not_found_on and kept_until, dates.
create or replace function audit_begin_order(envelope jsonb, p_kind text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor     bigint := (audit_active_officer(envelope ->> 'actor')).id;
  of_casino audit_casino;
  about     jsonb  := envelope -> 'data';
  asked     timestamptz := (envelope ->> 'occurred_at')::timestamptz;
  owed_now  bigint;
  of_money  text;
  nth       bigint;
  two       boolean;
  added     bigint;
  since     date;
  until     date;
begin
  select * into of_casino from audit_casino c where c.id = (envelope ->> 'casino_id')::bigint;
  if not audit_may_order(actor, of_casino.id, 'ask') then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  perform from audit_case c where c.id = (about ->> 'case')::bigint and c.casino_id = of_casino.id for no key update;
  if not found then
    raise exception 'no-such-claim' using errcode = 'ES403';
  end if;
  if exists (select from audit_paymentorder o
             where o.case_id = (about ->> 'case')::bigint and o.debtor = about ->> 'debtor' and o.player = about ->> 'player'
               and o.state in ('waiting', 'ordered')) then
    raise exception 'ordered-already' using errcode = 'ES403';
  end if;
  select sum((f.owed ->> 'amount')::bigint - f.cleared), min(f.currency) into owed_now, of_money
    from audit_finding f
    where f.case_id = (about ->> 'case')::bigint and f.status = 'standing' and f.difference is not null
      and f.owed is not null and f.severity <> 'info'
      and f.owed ->> 'by' = about ->> 'debtor' and f.player = about ->> 'player';
  if coalesce(owed_now, 0) = 0 then
    raise exception 'no-such-claim' using errcode = 'ES403';
  end if;
  two := p_kind = 'waiver' or owed_now >= of_casino.priority_threshold * audit_minor_units(of_money);
  if (owed_now, of_money, case when two then 2 else 1 end)
     is distinct from ((about ->> 'amount')::bigint, about ->> 'currency', (about ->> 'signatures')::integer) then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  since := (about ->> 'not_found_on')::date;
  until := (about ->> 'kept_until')::date;
  if p_kind = 'not_found' then
    if since + of_casino.unclaimed_days is distinct from until then
      raise exception 'moved-on' using errcode = 'ES403';
    end if;
    -- The claim is owed since the first of its gaming days: nobody was looked for before.
    if since > (asked at time zone 'UTC')::date + 1 or since < (
        select min(f.gaming_day) from audit_finding f
        where f.case_id = (about ->> 'case')::bigint and f.status = 'standing'
          and f.owed ->> 'by' = about ->> 'debtor' and f.player = about ->> 'player') then
      raise exception 'not-then' using errcode = 'ES403';
    end if;
  end if;
  select count(*) + 1 into nth from audit_paymentorder o
    where o.casino_id = of_casino.id and o.kind = p_kind
      and extract(year from o.ordered_at at time zone 'UTC') = extract(year from asked at time zone 'UTC');
  if about ->> 'order' is distinct from
     (case p_kind when 'payment' then 'P-' when 'waiver' then 'W-' else 'N-' end) || to_char(asked at time zone 'UTC', 'YY') || '-'
     || lpad(nth::text, greatest(4, length(nth::text)), '0') then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  insert into audit_paymentorder
      (casino_id, case_id, kind, reference, debtor, player, amount, currency, reason, state, ordered_by_id, ordered_at,
       end_reason, receipt, cage, not_found_on, kept_until)
    values (of_casino.id, (about ->> 'case')::bigint, p_kind, about ->> 'order', about ->> 'debtor', about ->> 'player',
            owed_now, of_money, trim(coalesce(about ->> 'reason', '')),
            case when two then 'waiting' when p_kind = 'payment' then 'ordered' else 'kept' end,
            actor, asked, '', '', '', since, until)
    returning id into added;
  perform audit_clear_claim((about ->> 'case')::bigint, about ->> 'debtor', about ->> 'player');
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'ordered-already' using errcode = 'ES403';
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- data: as before; of what the cash desk has receipt, cage and paid_on, too.
create or replace function audit_go_on_with_order(envelope jsonb, p_kind text, p_verb text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor  bigint := (audit_active_officer(envelope ->> 'actor')).id;
  casino bigint := (envelope ->> 'casino_id')::bigint;
  about  jsonb  := envelope -> 'data';
  acted  timestamptz := (envelope ->> 'occurred_at')::timestamptz;
  done   audit_paymentorder;
begin
  if not audit_may_order(actor, casino, case p_verb when 'approved' then 'approve' else 'end' end) then
    raise exception 'not-allowed' using errcode = 'ES403';
  end if;
  select * into done from audit_paymentorder o
    where o.casino_id = casino and o.reference = about ->> 'order' and o.kind = p_kind for update;
  if not found then
    raise exception 'no-such-order' using errcode = 'ES403';
  end if;
  perform from audit_case c where c.id = done.case_id for no key update;  -- what finds its claims again waits
  if done.state <> all (case p_verb when 'approved' then '{waiting}' when 'paid' then '{ordered}'
                        when 'handed_over' then '{kept}' else '{waiting,ordered,kept}' end::text[]) then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  if p_verb = 'approved' then
    if done.ordered_by_id = actor then
      raise exception 'own-order' using errcode = 'ES403';
    end if;
    if audit_same_hands(done.ordered_by_id, actor) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
    update audit_paymentorder
      set state = case p_kind when 'payment' then 'ordered' when 'waiver' then 'waived' else 'kept' end,
        approved_by_id = actor, approved_at = acted
      where id = done.id;
  elsif p_verb in ('paid', 'handed_over') then
    if p_verb = 'handed_over' and (about ->> 'paid_on')::date < done.kept_until then
      raise exception 'kept-still' using errcode = 'ES403';
    end if;
    if (about ->> 'paid_on')::date > (acted at time zone 'UTC')::date + 1 then
      raise exception 'not-readable' using errcode = 'ES403';
    end if;
    update audit_paymentorder set state = p_verb, ended_by_id = actor, ended_at = acted,
        receipt = trim(coalesce(about ->> 'receipt', '')), cage = trim(coalesce(about ->> 'cage', '')),
        paid_on = (about ->> 'paid_on')::date
      where id = done.id;
  else
    update audit_paymentorder set state = 'cancelled', ended_by_id = actor, ended_at = acted,
        end_reason = trim(coalesce(about ->> 'reason', ''))
      where id = done.id;
  end if;
  perform audit_clear_claim(done.case_id, done.debtor, done.player);
  return jsonb_build_object('id', done.id);
exception
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- not_found.stated, not_found.approved, not_found.handed_over, not_found.cancelled.
do $$
declare
  verb text;
begin
  foreach verb in array array['stated', 'approved', 'handed_over', 'cancelled'] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select %s $f$', 'audit_act_not_found_' || verb,
      case verb when 'stated' then 'audit_begin_order(envelope, ''not_found'')'
        else format('audit_go_on_with_order(envelope, ''not_found'', %L)', verb) end);
  end loop;
end $$;
