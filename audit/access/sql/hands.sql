-- Two people: what four eyes ask of two accounts, whatever writes.

-- Whether two accounts may be in the hands of one person: they are one account; or one created the other, or issued a
-- link with which the other's password was chosen; or the passwords of both were last chosen with links to reset them
-- that were shown to the same administrator. The callers need not see accounts and links.
create function audit_same_hands(p_one bigint, p_other bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p_one = p_other
    or exists (
      select from audit_officer
        where (id = p_one and created_by_id = p_other) or (id = p_other and created_by_id = p_one))
    or exists (
      select from audit_accesslink
        where used_at is not null
          and ((officer_id = p_one and issued_by_id = p_other) or (officer_id = p_other and issued_by_id = p_one)))
    or exists (
      select from
        (select issued_by_id, is_shown and not is_invitation as is_open from audit_accesslink
           where officer_id = p_one and used_at is not null order by used_at desc, id desc limit 1) one,
        (select issued_by_id, is_shown and not is_invitation as is_open from audit_accesslink
           where officer_id = p_other and used_at is not null order by used_at desc, id desc limit 1) other
        where one.is_open and other.is_open and one.issued_by_id = other.issued_by_id)
$$;
