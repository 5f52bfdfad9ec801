-- What ``verify`` holds of a file's content and name. Whoever verifies may read neither, so the owner hashes them.
create function audit_hashed_file(p_id bigint, out sha256 text, out size integer, out digest text, out is_named boolean)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select encode(sha256(a.content), 'hex'), octet_length(a.content),
    encode(sha256(convert_to(a.name, 'UTF8') || '\x00'::bytea || a.content), 'hex'), a.name <> ''
  from audit_attachment a where a.id = p_id
$$;
