-- What a finding says, as a digest: a run that finds the same again takes the finding over, one that finds it with
-- other contents adds another. Null for a finding of no run: it is amended where it is.

create function audit_finding_content(
  p_run bigint, p_severity text, p_evidence bigint[], p_expected jsonb, p_recorded jsonb, p_provision text,
  p_facts jsonb, p_after_loss boolean, p_occurred_at timestamptz)
returns uuid language plpgsql immutable parallel safe as $$
begin
  if p_run is null then
    return null;
  end if;
  return md5(concat_ws(
    '|', p_severity, p_evidence::text, coalesce(p_expected::text, '-'), coalesce(p_recorded::text, '-'), p_provision,
    p_facts::text, p_after_loss::text, extract(epoch from p_occurred_at)::text))::uuid;
end $$;
