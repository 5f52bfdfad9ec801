-- The ledger asks two more questions, about the luck with a croupier and about findings that gather on one: each opens
-- a case.

create or replace function audit_opens_case(p_rule text, p_severity text)
returns boolean language sql immutable parallel safe as $$
  select p_severity <> 'info' or p_rule in (
    'dice-fairness', 'wheel-fairness', 'hold-outside-interval', 'payout-errors-one-sided',
    'wheel-signature', 'void-call-bias', 'shooter-fairness', 'table-luck', 'player-luck', 'payout-error-rate',
    'croupier-luck', 'concentration',
    'accounting-drift', 'goodwill-paid', 'dice-replaced-during-point-series-with-cause')
$$;
