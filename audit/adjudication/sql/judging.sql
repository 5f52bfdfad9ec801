-- Which run judges a stream, said once: who replays and who verifies call this. It is the one that began last of those
-- that go on when events arrive, of the what-if run p_what_if; null for the findings that stand. Null if none does.
create function audit_judging_run(p_stream bigint, p_what_if bigint) returns bigint
language sql stable parallel safe as $$
  select r.id from audit_adjudicationrun r
  where r.stream_id = p_stream and r.what_if_id is not distinct from p_what_if
    and r.state in ('running', 'complete', 'failed')
  order by r.id desc limit 1
$$;

revoke all on function audit_judging_run from public;
