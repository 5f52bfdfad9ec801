-- A case's deadline is that of its casino, or the installation's where the casino has none of its own.

create or replace function audit_case_of(
  p_stream bigint, p_seq bigint, p_rule text, p_wager text, p_casino bigint, p_severity text, p_opened timestamptz)
returns bigint language plpgsql as $$
declare
  found_id bigint;
begin
  loop
    select id into found_id from audit_case
      where stream_id = p_stream and seq = p_seq and rule = p_rule and wager = p_wager;
    if found then
      return found_id;
    end if;
    insert into audit_case (stream_id, seq, rule, wager, casino_id, weight, state, opened_at, deadline, outcome, reason)
      values (
        p_stream, p_seq, p_rule, p_wager, p_casino,
        coalesce(array_position(array['critical', 'major', 'minor', 'info'], p_severity), 5) - 1,
        'new', p_opened,
        p_opened + make_interval(hours => coalesce(
          (select d.hours from audit_deadline d
            where d.severity = p_severity and (d.casino_id = p_casino or d.casino_id is null)
            order by d.casino_id nulls last limit 1), 24)),
        '', '')
      on conflict do nothing;
  end loop;
end $$;
