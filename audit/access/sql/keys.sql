-- The public key of an API key is said when the key is made, and never changes: another one is another API key.
create function audit_keep_public_key() returns trigger language plpgsql as $$
begin
  if new.public_key is distinct from old.public_key then
    raise exception 'the public key of an API key does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;

alter table audit_apikey add constraint public_key_of_32_bytes check (length(public_key) = 32);

create trigger keep_public_key before update on audit_apikey for each row execute function audit_keep_public_key();
