-- A claim is what an incident owes to one person, or one person to the house. Officers order its payment, or waive it:
--
--   due -> waiting (above the casino's threshold) -> ordered -> paid | cancelled
--      \-> waiting (a waiver) -> waived | cancelled
--
-- Each step is an entry of the audit trail and a function here, in one statement: audit/event_store/sql/entries.sql.
-- ``audit/casework/payment_orders.py`` names the entries, and says the code of a refusal in words.
--
-- What was paid or waived is kept with the findings of the claim, as ``cleared``: what is owed now is the amount less
-- this, in every list and sum. A finding that comes to stand later, as after a replay, takes its part of it.

-- The minor units in one unit of a currency. Of settlement/catalogue/sentences.py; a test compares.
create function audit_minor_units(p_currency text) returns bigint
language sql immutable parallel safe set search_path = pg_catalog, public, pg_temp as $$
  select case
    when p_currency = any ('{BIF,CLP,DJF,GNF,ISK,JPY,KMF,KRW,PYG,RWF,UGX,UYI,VND,VUV,XAF,XOF,XPF}') then 1
    when p_currency = any ('{BHD,IQD,JOD,KWD,LYD,OMR,TND}') then 1000
    when p_currency = any ('{CLF,UYW}') then 10000
    else 100 end
$$;

-- Whether an officer may order a payment, or propose a waiver (ask), record a payment or cancel (end), or be the second
-- officer (approve). Of audit/access/capabilities.py; a test compares.
create function audit_may_order(p_actor bigint, p_casino bigint, p_act text) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from audit_officer o
      where o.id = p_actor and o.is_active
        and (o.is_superuser or exists (
          select from audit_officer_casinos m
            where m.officer_id = o.id and m.casino_id = p_casino
              and (m.role = 'second' or m.role = 'officer' and p_act <> 'approve'
                   or m.role = 'director' and p_act <> 'ask'))))
$$;

-- Share out what was paid or waived of a claim among its findings, in their order.
create function audit_clear_claim(p_case bigint, p_by text, p_player text) returns void
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
      where o.case_id = p_case and o.debtor = p_by and o.player = p_player and o.state in ('paid', 'waived')) cleared)
  update audit_finding f set cleared = s.part from share s where f.id = s.id and f.cleared <> s.part
$$;

-- Nobody states what is cleared of a finding but the function above, and of what is no claim nothing is.
create function audit_keep_cleared() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' or new.status <> 'standing' or new.difference is null or new.owed is null
     or new.severity = 'info' then
    new.cleared := 0;
  end if;
  return new;
end $$;

create trigger keep_cleared before insert or update on audit_finding
  for each row when (new.cleared <> 0) execute function audit_keep_cleared();

-- The claims of an incident have changed: what was paid or waived of them is shared out again.
create function audit_clear_found() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  ordered record;
begin
  if exists (select from audit_paymentorder o where o.case_id = new.case_id) then
    perform from audit_case c where c.id = new.case_id for no key update;
    for ordered in
      select distinct o.debtor, o.player from audit_paymentorder o
      where o.case_id = new.case_id and o.state in ('paid', 'waived') order by 1, 2
    loop
      perform audit_clear_claim(new.case_id, ordered.debtor, ordered.player);
    end loop;
  end if;
  return null;
end $$;

create trigger clear_found
  after insert or update of status, case_id, owed, difference, severity, player on audit_finding
  for each row when (new.case_id is not null and new.difference is not null) execute function audit_clear_found();

-- What is ordered does not change; two people order what takes two.
create function audit_guard_payment_order() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a payment order is never deleted' using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state not in ('waiting', 'ordered') or new.approved_by_id is not null then
      raise exception 'a payment order begins as waiting or as ordered' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if (old.id, old.casino_id, old.case_id, old.kind, old.reference, old.debtor, old.player, old.amount, old.currency,
      old.reason, old.ordered_by_id, old.ordered_at)
     is distinct from (new.id, new.casino_id, new.case_id, new.kind, new.reference, new.debtor, new.player, new.amount,
      new.currency, new.reason, new.ordered_by_id, new.ordered_at) then
    raise exception 'what is ordered does not change' using errcode = 'check_violation';
  end if;
  if (old.state, new.state) not in (('waiting', 'ordered'), ('waiting', 'waived'), ('waiting', 'cancelled'),
      ('ordered', 'paid'), ('ordered', 'cancelled')) then
    raise exception 'a payment order does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  if (new.state in ('ordered', 'waived')) is distinct from (new.approved_by_id is distinct from old.approved_by_id)
     or new.state in ('ordered', 'waived') and audit_same_hands(new.ordered_by_id, new.approved_by_id) then
    raise exception 'what waits for a second officer takes two people' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_payment_order before insert or update or delete on audit_paymentorder
  for each row execute function audit_guard_payment_order();

-- data: order (its number), case, debtor, player, amount and currency of the claim as the officer has read it, signatures (how
-- many officers the order takes, 1 or 2), reason.
create function audit_begin_order(envelope jsonb, p_kind text) returns jsonb
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
  select count(*) + 1 into nth from audit_paymentorder o
    where o.casino_id = of_casino.id and o.kind = p_kind
      and extract(year from o.ordered_at at time zone 'UTC') = extract(year from asked at time zone 'UTC');
  if about ->> 'order' is distinct from
     (case p_kind when 'payment' then 'P-' else 'W-' end) || to_char(asked at time zone 'UTC', 'YY') || '-'
     || lpad(nth::text, greatest(4, length(nth::text)), '0') then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  insert into audit_paymentorder
      (casino_id, case_id, kind, reference, debtor, player, amount, currency, reason, state, ordered_by_id, ordered_at,
       end_reason, receipt, cage)
    values (of_casino.id, (about ->> 'case')::bigint, p_kind, about ->> 'order', about ->> 'debtor', about ->> 'player',
            owed_now, of_money, trim(coalesce(about ->> 'reason', '')),
            case when two then 'waiting' else 'ordered' end,
            actor, asked, '', '', '')
    returning id into added;
  return jsonb_build_object('id', added);
exception
  when unique_violation then
    raise exception 'ordered-already' using errcode = 'ES403';
  when check_violation or not_null_violation or data_exception then
    raise exception 'not-readable' using errcode = 'ES403';
end $$;

-- data: order (its number); reason of a cancellation; receipt, cage and paid_on, a date, of a payment.
create function audit_go_on_with_order(envelope jsonb, p_kind text, p_verb text) returns jsonb
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
                        else '{waiting,ordered}' end::text[]) then
    raise exception 'moved-on' using errcode = 'ES403';
  end if;
  if p_verb = 'approved' then
    if done.ordered_by_id = actor then
      raise exception 'own-order' using errcode = 'ES403';
    end if;
    if audit_same_hands(done.ordered_by_id, actor) then
      raise exception 'same-hands' using errcode = 'ES403';
    end if;
    update audit_paymentorder set state = case p_kind when 'payment' then 'ordered' else 'waived' end,
        approved_by_id = actor, approved_at = acted
      where id = done.id;
  elsif p_verb = 'paid' then
    if (about ->> 'paid_on')::date > (acted at time zone 'UTC')::date + 1 then
      raise exception 'not-readable' using errcode = 'ES403';
    end if;
    update audit_paymentorder set state = 'paid', ended_by_id = actor, ended_at = acted,
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

-- payment.ordered, payment.approved, payment.paid, payment.cancelled; waiver.proposed, waiver.approved, waiver.cancelled.
create function audit_act_payment_ordered(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_begin_order(envelope, 'payment')
$$;

create function audit_act_waiver_proposed(envelope jsonb, seq bigint, secret text) returns jsonb
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select audit_begin_order(envelope, 'waiver')
$$;

do $$
declare
  act text[];
begin
  foreach act slice 1 in array array[['payment', 'approved'], ['payment', 'paid'], ['payment', 'cancelled'],
                                     ['waiver', 'approved'], ['waiver', 'cancelled']] loop
    execute format(
      'create function %I(envelope jsonb, seq bigint, secret text) returns jsonb language sql security definer'
      ' set search_path = pg_catalog, public, pg_temp as $f$ select audit_go_on_with_order(envelope, %L, %L) $f$',
      'audit_act_' || act[1] || '_' || act[2], act[1], act[2]);
  end loop;
end $$;
