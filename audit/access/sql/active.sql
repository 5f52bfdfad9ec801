-- What is active, said once: who acts and who checks call the same.

-- Whether an API key works at an instant. It is revoked whenever ``revoked_at`` says, also where that is yet to come:
-- nothing revokes a key in advance.
create function audit_key_is_active(p_revoked_at timestamptz, p_expires_at timestamptz, p_at timestamptz)
returns boolean language sql immutable parallel safe as $$
  select p_revoked_at is null and (p_expires_at is null or p_expires_at > p_at)
$$;

revoke all on function audit_key_is_active from public;
