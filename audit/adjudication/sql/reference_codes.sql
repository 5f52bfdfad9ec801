-- References are unique over the installation: a casino has a code of three letters, which no other has, and its counter.
-- What was numbered before keeps its number without one, and so does what continues it.

-- A code that is free, as near as can be to the letters of a casino's own code: DEA, DEB, DAA, AAA.
create function audit_free_reference_code(p_code text) returns text
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own  text := rpad(left(regexp_replace(upper(p_code), '[^A-Z]', '', 'g'), 3), 3, 'X');
  free text;
begin
  for kept in reverse 3..0 loop
    select left(own, kept) || e.ending into free
      from (select coalesce(string_agg(chr(65 + n / (26 ^ (place - 1))::integer % 26), '' order by place desc), '') as ending
            from generate_series(0, (26 ^ (3 - kept))::integer - 1) n
              left join generate_series(1, 3 - kept) place on true group by n) e
      where not exists (select from audit_casino c where c.reference_code = left(own, kept) || e.ending)
      order by 1 limit 1;
    exit when free is not null;
  end loop;
  return free;
end $$;

create function audit_give_reference_code() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'the code of a casino''s references does not change' using errcode = 'check_violation';
  end if;
  new.reference_code := audit_free_reference_code(new.code);
  return new;
end $$;

-- One statement each: none takes what another has.
do $$
declare
  each bigint;
begin
  for each in select id from audit_casino order by id loop
    update audit_casino set reference_code = audit_free_reference_code(code) where id = each;
  end loop;
end $$;

alter table audit_casino add constraint casino_has_a_reference_code check (reference_code ~ '^[A-Z]{3}$');

create trigger give_reference_code before insert on audit_casino
  for each row when (coalesce(new.reference_code, '') = '') execute function audit_give_reference_code();
create trigger keep_reference_code before update on audit_casino
  for each row when (old.reference_code is distinct from new.reference_code) execute function audit_give_reference_code();

-- Otherwise the function is that of findings.sql.
create or replace function audit_number_finding() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.number is not null then
    if (old.year, old.number, old.reference_code) is distinct from (new.year, new.number, new.reference_code) then
      raise exception 'the reference of a finding does not change' using errcode = 'check_violation';
    end if;
    return new;
  elsif tg_op = 'UPDATE' and old.stood_at is not null then
    new.year := null;
    new.number := null;
  elsif new.status = 'standing' and new.number is null then
    select n.year, n.number into new.year, new.number from audit_number_findings(
      array[new.casino_id], array[extract(year from new.gaming_day)::integer], array[new.stream_id],
      array[new.seq], array[new.rule]::text[], array[new.wager]::text[]) n;
  end if;
  new.reference_code := case when new.number is null then '' else coalesce(
    (select e.reference_code from audit_finding e
      where (e.stream_id, e.seq, e.rule, e.wager) = (new.stream_id, new.seq, new.rule, new.wager) and e.id <> new.id
        and (e.number is not null or e.stood_at is not null)
      order by e.number is null, e.id desc limit 1),
    (select c.reference_code from audit_casino c where c.id = new.casino_id)) end;
  return new;
end $$;
