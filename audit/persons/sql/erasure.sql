-- person.erased: an entry of the directory of persons is deleted, with the copies of it that the database knows of.
-- data: id, named (the id that events use), kind, reason. The entry and the row of audit_erasedperson name the id
-- alone.
--
-- The secret, which no entry has, is {"written": […], "parts": […]}: the same texts as they may be written otherwise,
-- in capitals for instance, and the words of the name. A refused request is searched for the first; for the second only
-- where it was refused for its shape, as one that says a name instead of an id is.
--
-- Copies: files of exports of this casino's findings that may show names, and files of what is held of the person, done
-- or under way; filters of such exports; Django's history; refused requests that quote the name.

-- A text as ASCII in small letters, whatever its bytes are: every other byte as \ooo. Without an exception on bytes
-- that are no UTF-8.
create function audit_as_ascii(p_bytes bytea) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select lower(encode(p_bytes, 'escape'))
$$;

-- A text as JSON writes it in ASCII, without its quotes: "é" as \u00e9.
create function audit_as_json_ascii(p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(string_agg(
    case when ascii(c) < 128 then c
         when ascii(c) < 65536 then '\u' || lpad(to_hex(ascii(c)), 4, '0')
         else '\u' || to_hex(55296 + ((ascii(c) - 65536) >> 10)) || '\u' || to_hex(56320 + ((ascii(c) - 65536) & 1023))
    end, '' order by n), '')
  from regexp_split_to_table(trim(both '"' from to_json(p_text)::text), '') with ordinality as s (c, n)
$$;

create function audit_act_person_erased(envelope jsonb, seq bigint, secret text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  actor    bigint      := (audit_active_officer(envelope ->> 'actor')).id;
  casino   bigint      := (envelope ->> 'casino_id')::bigint;
  now_at   timestamptz := (envelope ->> 'occurred_at')::timestamptz;
  reason   text        := trim(coalesce(envelope #>> '{data,reason}', ''));
  person   audit_person;
  texts    text[];
  written  text[];
  parts    text[];
  files    integer;
  refused  integer;
  rows     integer;
begin
  perform audit_demand_keeper_at(actor, casino);
  delete from audit_person p
    where p.id = (envelope #>> '{data,id}')::bigint and p.casino_id = casino
      and p.code = envelope #>> '{data,named}' and p.kind = envelope #>> '{data,kind}'
    returning * into person;
  if not found then
    raise exception 'no-such-person' using errcode = 'ES403';
  end if;
  texts := array(select t from unnest(array[person.name, person.card_or_licence, person.note]) t where length(t) > 2);
  written := texts || array(select t from jsonb_array_elements_text(coalesce(secret::jsonb -> 'written', '[]')) t
                            where length(t) > 2);
  parts := array(select t from jsonb_array_elements_text(coalesce(secret::jsonb -> 'parts', '[]')) t where length(t) > 3);
  if reason = '' then
    raise exception 'no-reason' using errcode = 'ES403';
  end if;
  if exists (select from unnest(texts) t where position(lower(t) in lower(envelope ->> 'data')) > 0 and t <> person.code)
  then
    raise exception 'names-the-person' using errcode = 'ES403';
  end if;
  insert into audit_erasedperson (casino_id, code, kind, reason, erased_by_id, erased_at)
    values (casino, person.code, person.kind, reason, actor, now_at);
  -- A worker that holds such a job loses it, and another begins it again: without the name.
  update audit_job j
    set file = null, file_name = '', result = '{}',
        params = case when j.params ? 'said' then jsonb_set(j.params, '{said}', '[]') else j.params end,
        state = case when j.state = 'running' then 'waiting' else j.state end,
        runner = case when j.state = 'running' then null else j.runner end
    where j.state in ('waiting', 'running', 'done')
      and (j.kind = 'subject' and j.casino_id = casino and j.params ->> 'code' = person.code
           or j.kind = 'export' and coalesce(j.params ->> 'form', '') <> 'json'
              and exists (select from jsonb_array_elements_text(j.params -> 'findings') f
                          join audit_finding on audit_finding.id = f::bigint and audit_finding.casino_id = casino));
  get diagnostics files = row_count;
  update django_admin_log l set object_repr = person.code, change_message = ''
    where l.object_id = person.id::text
        and l.content_type_id in (select id from django_content_type where app_label = 'audit' and model = 'person')
      or exists (select from unnest(texts) t where position(t in l.object_repr || l.change_message) > 0);
  get diagnostics rows = row_count;
  update audit_quarantined q
    set body = ''::bytea, purged_at = coalesce(q.purged_at, now_at),
        detail = case when exists (select from unnest(written || parts) t where position(lower(t) in lower(q.detail)) > 0)
                      then '' else q.detail end
    where q.casino_id = casino
      and exists (
        select from unnest(written || case when q.code = 'invalid' then parts end) t
        where position(lower(t) in lower(q.detail)) > 0
          or position(audit_as_ascii(convert_to(t, 'UTF8')) in audit_as_ascii(q.body)) > 0
          or position(audit_as_ascii(convert_to(audit_as_json_ascii(t), 'UTF8')) in audit_as_ascii(q.body)) > 0);
  get diagnostics refused = row_count;
  return jsonb_build_object('files', files, 'refused', refused, 'history', rows);
end $$;
