-- The questions of the evidence ledger open a case, as those of the nights did: somebody has to answer them.

create or replace function audit_opens_case(p_rule text, p_severity text)
returns boolean language sql immutable parallel safe as $$
  select p_severity <> 'info' or p_rule in (
    'dice-fairness', 'wheel-fairness', 'hold-outside-interval', 'payout-errors-one-sided',
    'wheel-signature', 'void-call-bias', 'shooter-fairness', 'table-luck', 'player-luck', 'payout-error-rate',
    'accounting-drift', 'goodwill-paid', 'dice-replaced-during-point-series-with-cause')
$$;
