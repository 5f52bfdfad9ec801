-- Attachments: a file never changes. It is erased, and its hash stays.

alter table audit_attachment add constraint attachment_has_its_hash
  check (content is null or (encode(sha256(content), 'hex') = sha256 and octet_length(content) = size));

create function audit_guard_attachment() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'an attachment is erased, and its row stays' using errcode = 'check_violation';
  end if;
  if (old.id, old.case_id, old.officer_id, old.at, old.kind, old.size, old.sha256)
     is distinct from (new.id, new.case_id, new.officer_id, new.at, new.kind, new.size, new.sha256)
     or new.content is not null or old.content is null then
    raise exception 'an attachment is erased once, and nothing else of it changes' using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_attachment before update or delete on audit_attachment
  for each row execute function audit_guard_attachment();
