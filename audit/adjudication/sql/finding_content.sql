-- What a finding says, as a digest, persons, clauses and causes included. Null for a finding of no run. What was put
-- right later is not in it: the difference, and who owes it.

create function audit_finding_content(
  p_run bigint, p_severity text, p_evidence bigint[], p_expected jsonb, p_recorded jsonb, p_provision text,
  p_facts jsonb, p_after_loss boolean, p_occurred_at timestamptz, p_player text, p_croupier text, p_provisions jsonb,
  p_causes jsonb)
returns uuid language plpgsql immutable parallel safe as $$
begin
  if p_run is null then
    return null;
  end if;
  return md5(concat_ws(
    '|', p_severity, p_evidence::text, coalesce(p_expected::text, '-'), coalesce(p_recorded::text, '-'), p_provision,
    p_facts::text, p_after_loss::text, extract(epoch from p_occurred_at)::text,
    jsonb_build_array(p_player, p_croupier, p_provisions, p_causes)::text))::uuid;
end $$;

revoke all on function audit_finding_content(
  bigint, text, bigint[], jsonb, jsonb, text, jsonb, boolean, timestamptz, text, text, jsonb, jsonb) from public;
