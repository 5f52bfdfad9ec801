-- The schemas log and log_guard as they are after all migrations. Generated; do not edit:
--
--   manage.py logschema > audit/event_store/schema.sql
--
-- The migrations that made it (audit/migrations/sql) say why each thing is as it is. The monthly partitions of
-- log.event and log.batch are made by log.ensure_month. What has no OWNER here belongs to the role that migrated.

CREATE SCHEMA log;
CREATE SCHEMA log_guard;

CREATE TABLE log.batch (
    stream_id bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    next_seq bigint NOT NULL,
    count integer NOT NULL,
    root bytea NOT NULL,
    chain bytea NOT NULL,
    key_id bigint NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    signature bytea,
    CONSTRAINT batch_pkey PRIMARY KEY (stream_id, first_seq),
    CONSTRAINT batch_chain_check CHECK ((length(chain) = 32)),
    CONSTRAINT batch_check CHECK ((last_seq >= first_seq)),
    CONSTRAINT batch_check1 CHECK ((next_seq > last_seq)),
    CONSTRAINT batch_count_check CHECK ((count > 0)),
    CONSTRAINT batch_root_check CHECK ((length(root) = 32)),
    CONSTRAINT batch_signature_check CHECK ((length(signature) = 64))
) PARTITION BY RANGE (stream_id);

CREATE TABLE log.checkpoint (
    number bigint NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    CONSTRAINT checkpoint_pkey PRIMARY KEY (number),
    CONSTRAINT checkpoint_size_key UNIQUE (size),
    CONSTRAINT checkpoint_check CHECK ((size >= number)),
    CONSTRAINT checkpoint_number_check CHECK ((number > 0)),
    CONSTRAINT checkpoint_root_check CHECK ((length(root) = 32))
);

CREATE TABLE log.clock (
    is_the_only boolean DEFAULT true NOT NULL,
    since bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT clock_pkey PRIMARY KEY (is_the_only),
    CONSTRAINT clock_check CHECK ((received_at >= began_at)),
    CONSTRAINT clock_is_the_only_check CHECK (is_the_only),
    CONSTRAINT clock_since_check CHECK ((since >= 0))
);

CREATE TABLE log.emptied (
    number bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    casino_id bigint NOT NULL,
    streams bigint NOT NULL,
    events bigint NOT NULL,
    last_number bigint NOT NULL,
    emptied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT emptied_pkey PRIMARY KEY (number),
    CONSTRAINT emptied_events_check CHECK ((events >= 0)),
    CONSTRAINT emptied_streams_check CHECK ((streams >= 0))
);

CREATE TABLE log.event (
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    envelope json NOT NULL,
    CONSTRAINT event_pkey PRIMARY KEY (stream_id, seq),
    CONSTRAINT event_seq_check CHECK (((seq >= 1) AND (seq <= '9007199254740991'::bigint)))
) PARTITION BY RANGE (stream_id);

CREATE TABLE log.key (
    key_id bytea NOT NULL,
    name text NOT NULL,
    purpose text NOT NULL,
    public_key bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    reason text NOT NULL,
    CONSTRAINT key_pkey PRIMARY KEY (key_id),
    CONSTRAINT key_public_key_key UNIQUE (public_key),
    CONSTRAINT key_purpose_valid_from_key UNIQUE (purpose, valid_from),
    CONSTRAINT key_key_id_check CHECK ((length(key_id) = 4)),
    CONSTRAINT key_name_check CHECK ((name ~ '^[^[:space:]+]+$'::text)),
    CONSTRAINT key_public_key_check CHECK ((length(public_key) = 32)),
    CONSTRAINT key_purpose_check CHECK ((purpose = ANY (ARRAY['checkpoint'::text, 'receipt'::text])))
);

CREATE TABLE log.leaf (
    log_index bigint NOT NULL,
    stream_id bigint NOT NULL,
    first_seq bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT leaf_pkey PRIMARY KEY (log_index),
    CONSTRAINT leaf_stream_id_first_seq_key UNIQUE (stream_id, first_seq),
    CONSTRAINT leaf_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT leaf_log_index_check CHECK ((log_index >= 0))
);

CREATE TABLE log.outbox (
    stream_id bigint NOT NULL,
    first_seq bigint NOT NULL,
    received_at timestamp with time zone,
    CONSTRAINT outbox_pkey PRIMARY KEY (stream_id, first_seq)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

CREATE TABLE log.stream (
    stream_id bigint NOT NULL,
    casino_id bigint NOT NULL,
    table_id bigint,
    name text NOT NULL,
    gaming_day date NOT NULL,
    game text,
    ruleset text,
    currency text NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    is_of_desk boolean DEFAULT false NOT NULL,
    CONSTRAINT stream_pkey PRIMARY KEY (stream_id),
    CONSTRAINT stream_casino_id_name_key UNIQUE (casino_id, name),
    CONSTRAINT stream_check CHECK ((((stream_id >> 32) -
CASE
    WHEN (stream_id >= ((1)::bigint << 51)) THEN ((1)::bigint << 20)
    ELSE (0)::bigint
END) = (gaming_day - '2020-01-01'::date))),
    CONSTRAINT stream_gaming_day_check CHECK (((gaming_day >= '1990-01-01'::date) AND (gaming_day < '2101-01-01'::date))),
    CONSTRAINT stream_name_check CHECK ((name ~ '^[A-Za-z0-9._:-]{1,100}$'::text))
);

CREATE TABLE log.stream_head (
    stream_id bigint NOT NULL,
    next_seq bigint DEFAULT 1 NOT NULL,
    chain bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    received_at timestamp with time zone,
    CONSTRAINT stream_head_pkey PRIMARY KEY (stream_id)
) WITH (fillfactor=40);

CREATE TABLE log.subtree (
    height smallint NOT NULL,
    index bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT subtree_pkey PRIMARY KEY (height, index),
    CONSTRAINT subtree_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT subtree_height_check CHECK (((height > 0) AND (((height)::integer % 8) = 0))),
    CONSTRAINT subtree_index_check CHECK ((index >= 0))
);

CREATE TABLE log_guard.maintenance (
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    reason text NOT NULL,
    opened_by text DEFAULT SESSION_USER NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    closed_at timestamp with time zone,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT maintenance_pkey PRIMARY KEY (id)
);

ALTER TABLE log.stream_head ADD CONSTRAINT stream_head_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES log.stream(stream_id);

CREATE INDEX outbox_received ON log.outbox USING btree (received_at, stream_id, first_seq);

CREATE UNIQUE INDEX one_desk_stream_a_day ON log.stream USING btree (casino_id, gaming_day) WHERE is_of_desk;

CREATE INDEX stream_newest ON log.stream USING btree (casino_id, gaming_day DESC, stream_id DESC);

CREATE INDEX maintenance_open ON log_guard.maintenance USING btree (transaction) WHERE (closed_at IS NULL);

CREATE VIEW log_guard.foreign_grant AS
 SELECT grantee,
    privilege_type
   FROM ( SELECT c.relowner AS owner,
            a.grantee,
            a.privilege_type
           FROM pg_class c,
            LATERAL aclexplode(c.relacl) a(grantor, grantee, privilege_type, is_grantable)
          WHERE (c.relnamespace = ('log'::regnamespace)::oid)
        UNION ALL
         SELECT c.relowner,
            a.grantee,
            a.privilege_type
           FROM (pg_class c
             JOIN pg_attribute t ON ((t.attrelid = c.oid))),
            LATERAL aclexplode(t.attacl) a(grantor, grantee, privilege_type, is_grantable)
          WHERE (c.relnamespace = ('log'::regnamespace)::oid)
        UNION ALL
         SELECT n.nspowner,
            a.grantee,
            a.privilege_type
           FROM pg_namespace n,
            LATERAL aclexplode(n.nspacl) a(grantor, grantee, privilege_type, is_grantable)
          WHERE (n.nspname = 'log'::name)
        UNION ALL
         SELECT p.proowner,
            a.grantee,
            a.privilege_type
           FROM pg_proc p,
            LATERAL aclexplode(p.proacl) a(grantor, grantee, privilege_type, is_grantable)
          WHERE (p.pronamespace = ('log'::regnamespace)::oid)
        UNION ALL
         SELECT 0,
            d.defaclrole,
            'default'::text
           FROM pg_default_acl d
          WHERE (d.defaclnamespace = ('log'::regnamespace)::oid)) granted
  WHERE ((grantee <> owner) AND (privilege_type <> 'USAGE'::text) AND ((grantee = (0)::oid) OR (((((pg_get_userbyid(grantee) <> 'cabochon_reader'::name) OR (privilege_type <> 'SELECT'::text)) AND ((pg_get_userbyid(grantee) <> 'cabochon_writer'::name) OR (privilege_type <> 'EXECUTE'::text))) AND ((pg_get_userbyid(grantee) <> 'cabochon_owner'::name) OR (privilege_type <> 'EXECUTE'::text))) AND ((pg_get_userbyid(grantee) <> 'cabochon_sequencer'::name) OR (privilege_type <> 'EXECUTE'::text)))));

CREATE VIEW log_guard.misplaced AS
 SELECT wanted.name
   FROM unnest(ARRAY['stream'::text, 'stream_head'::text, 'event'::text, 'batch'::text, 'outbox'::text, 'leaf'::text, 'subtree'::text, 'checkpoint'::text, 'key'::text]) wanted(name)
  WHERE (NOT (EXISTS ( SELECT
           FROM (pg_class c
             JOIN pg_namespace n ON ((n.oid = c.relnamespace)))
          WHERE ((n.nspname = 'log'::name) AND (c.relname = wanted.name)))))
UNION ALL
 SELECT wanted.name
   FROM unnest(ARRAY['refuse'::text, 'refuse_step_back'::text, 'protect'::text, 'ensure_month'::text, 'open_stream'::text, 'append'::text, 'seal'::text, 'register_key'::text, 'open_desk'::text, 'hold'::text]) wanted(name)
  WHERE (NOT (EXISTS ( SELECT
           FROM (pg_proc p
             JOIN pg_namespace n ON ((n.oid = p.pronamespace)))
          WHERE ((n.nspname = 'log'::name) AND (p.proname = wanted.name)))))
UNION ALL
 SELECT child.relname AS name
   FROM (((pg_inherits i
     JOIN pg_class parent ON ((parent.oid = i.inhparent)))
     JOIN pg_class child ON ((child.oid = i.inhrelid)))
     JOIN pg_namespace n ON ((n.oid = parent.relnamespace)))
  WHERE ((n.nspname = 'log'::name) AND (child.relnamespace <> parent.relnamespace));

CREATE OR REPLACE FUNCTION log.append(p_stream bigint, p_first bigint, p_next bigint, p_root bytea, p_key bigint, p_seqs bigint[], p_occurred timestamp with time zone[], p_envelopes text[], p_signature bytea DEFAULT NULL::bytea, OUT appended boolean, OUT next_seq bigint, OUT chain bytea, OUT received_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  head  log.stream_head;
  n     integer := cardinality(p_seqs);
begin
  select * into head from log.stream_head h where h.stream_id = p_stream for update;  -- serialises this stream only
  if not found then
    raise exception 'log: there is no stream %', p_stream using errcode = 'ES404';
  end if;
  if n = 0 or p_seqs[1] <> p_first or p_next <= p_seqs[n]
     or p_seqs <> (select array_agg(seq order by seq) from unnest(p_seqs) as seq) then
    raise exception 'log: the events of a batch ascend from its first number' using errcode = 'ES422';
  end if;
  if head.next_seq <> p_first then
    appended := false; next_seq := head.next_seq; chain := head.chain;
    return;
  end if;
  chain := sha256(head.chain || p_root || int8send(p_first) || int8send(n::bigint));
  -- No host's clock is wrong by a year: somebody has set the log's, and stops nobody by that.
  received_at := greatest(clock_timestamp(), head.received_at, (
    select c.received_at from log.clock c where c.received_at < clock_timestamp() + interval '1 year'));
  insert into log.event (stream_id, seq, occurred_at, envelope)
    select p_stream, e.seq, e.occurred_at, e.envelope::json
    from unnest(p_seqs, p_occurred, p_envelopes) as e (seq, occurred_at, envelope);
  insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id, received_at, signature)
    values (p_stream, p_first, p_seqs[n], p_next, n, p_root, chain, p_key, received_at, p_signature);
  insert into log.outbox (stream_id, first_seq, received_at) values (p_stream, p_first, append.received_at);
  update log.stream_head h set next_seq = p_next, chain = append.chain, received_at = append.received_at
    where h.stream_id = p_stream;
  appended := true; next_seq := p_next;
end $function$;

CREATE OR REPLACE FUNCTION log.append_named(p_casino bigint, p_name text, p_tables bigint[], p_first bigint, p_next bigint, p_root bytea, p_key bigint, p_seqs bigint[], p_occurred timestamp with time zone[], p_envelopes text[], OUT stream_id bigint, OUT appended boolean, OUT chain bytea, OUT received_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select s.stream_id into append_named.stream_id from log.stream s
    where s.casino_id = p_casino and s.name = p_name and not s.is_of_desk
      and (p_tables is null or s.table_id = any (p_tables));
  if not found then
    appended := false;
    return;
  end if;
  select a.appended, a.chain, a.received_at into append_named.appended, append_named.chain, append_named.received_at
    from log.append(append_named.stream_id, p_first, p_next, p_root, p_key, p_seqs, p_occurred, p_envelopes) a;
end $function$;

CREATE OR REPLACE FUNCTION log.demand_space()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if (new.stream_id >= 1::bigint << 51) <> (not new.is_of_desk and exists (
      select from public.audit_casino c where c.id = new.casino_id and c.is_sandbox)) then
    raise exception 'log: stream % is in the space of %, and its casino is not', new.stream_id,
      case when new.stream_id >= 1::bigint << 51 then 'sandboxes' else 'casinos' end using errcode = 'ES403';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION log.empty_sandbox(p_casino bigint, OUT streams bigint, OUT events bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  ids  bigint[];
  last bigint;
begin
  if not exists (select from public.audit_casino c where c.id = p_casino and c.is_sandbox) then
    raise exception 'not-a-sandbox' using errcode = 'ES403';
  end if;
  -- Nobody opens a stream meanwhile, and whoever appends has finished.
  perform pg_advisory_xact_lock(hashtext('log.open_sandbox_stream'));
  select coalesce(array_agg(s.stream_id), '{}'), coalesce(max(s.stream_id & ((1::bigint << 32) - 1)), 0) into ids, last
    from log.stream s where s.casino_id = p_casino and not s.is_of_desk;
  perform from log.stream_head h where h.stream_id = any (ids) order by h.stream_id for update;
  streams := cardinality(ids);
  select count(*) into empty_sandbox.events from log.event e where e.stream_id = any (ids);
  insert into log.emptied (casino_id, streams, events, last_number)
    values (p_casino, streams, empty_sandbox.events, last);
  delete from log.event e where e.stream_id = any (ids);
  delete from log.batch b where b.stream_id = any (ids);
  delete from log.stream_head h where h.stream_id = any (ids);
  delete from log.stream s where s.stream_id = any (ids);
end $function$;

CREATE OR REPLACE FUNCTION log.ensure_month(day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  first   date   := date_trunc('month', day)::date;
  low     bigint := (first - date '2020-01-01')::bigint << 32;
  high    bigint := ((first + interval '1 month')::date - date '2020-01-01')::bigint << 32;
  guarded bigint;
  parent  text;
  child   text;
begin
  if to_regclass('log.batch' || to_char(first, '_YYYYMM')) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('log.ensure_month'));
  -- By the table itself: a name that was looked up in vain stays unknown to this session until it locks something.
  if exists (select from pg_catalog.pg_class c where c.relnamespace = 'log'::regnamespace
             and c.relname = 'batch' || to_char(first, '_YYYYMM')) then
    return;
  end if;
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values (format('ensure_month %s', first)) returning id into guarded;
  end if;
  foreach parent in array array['event', 'batch'] loop
    child := parent || to_char(first, '_YYYYMM');
    execute format('create table log.%I (like log.%I including all)', child, parent);
    execute (select format('alter table log.%I owner to %I', child, r.rolname)
             from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
             where c.oid = format('log.%I', parent)::regclass);
    execute format('alter table log.%I attach partition log.%I for values from (%s) to (%s)', parent, child, low, high);
    perform log.protect(format('log.%I', child)::regclass);
  end loop;
  if guarded is not null then
    update log_guard.maintenance set closed_at = clock_timestamp() where id = guarded;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION log.hold(p_stream bigint, OUT next_seq bigint, OUT chain bytea)
 RETURNS record
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select h.next_seq, h.chain from log.stream_head h where h.stream_id = p_stream for update
$function$;

CREATE OR REPLACE FUNCTION log.is_being_emptied(p_stream bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select p_stream >= 1::bigint << 51 and exists (
    select from log.stream s join log.emptied e on e.casino_id = s.casino_id
    where s.stream_id = p_stream and e.transaction = pg_current_xact_id())
$function$;

CREATE OR REPLACE FUNCTION log.leave_unsealed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  return null;
end $function$;

CREATE OR REPLACE FUNCTION log.month_range(p_month date, OUT low bigint, OUT high bigint)
 RETURNS record
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select (date_trunc('month', p_month)::date - date '2020-01-01')::bigint << 32,
         ((date_trunc('month', p_month) + interval '1 month')::date - date '2020-01-01')::bigint << 32
$function$;

CREATE OR REPLACE FUNCTION log.open_desk(p_casino bigint, p_day date)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  day_key bigint := (p_day - date '2020-01-01')::bigint << 32;
  wanted  text   := format('desk:%s', p_day);
  id      bigint;
begin
  select stream_id into id from log.stream where casino_id = p_casino and gaming_day = p_day and is_of_desk;
  if found then
    return id;
  end if;
  perform log.ensure_month(p_day);
  perform pg_advisory_xact_lock(hashtext('log.open_stream'), p_day - date '2020-01-01');
  select stream_id into id from log.stream where casino_id = p_casino and gaming_day = p_day and is_of_desk;
  if found then
    return id;
  end if;
  -- A table system may have taken the name; the desk goes by another then.
  while exists (select from log.stream where casino_id = p_casino and name = wanted) loop
    wanted := wanted || ':';
  end loop;
  select coalesce(max(stream_id), day_key) + 1 into id
    from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32);
  insert into log.stream (stream_id, casino_id, name, gaming_day, currency, is_of_desk)
    values (id, p_casino, wanted, p_day, '', true);
  insert into log.stream_head (stream_id) values (id);
  return id;
end $function$;

CREATE OR REPLACE FUNCTION log.open_sandbox_stream(p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  day_key bigint := (p_day - date '2020-01-01' + (1::bigint << 20)) << 32;
  id      bigint;
begin
  perform pg_advisory_xact_lock(hashtext('log.open_sandbox_stream'));
  select greatest(
      (select max(stream_id) from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32)),
      day_key + coalesce((select max(e.last_number) from log.emptied e), 0)) + 1
    into id;
  insert into log.stream (stream_id, casino_id, table_id, name, gaming_day, game, ruleset, currency)
    values (id, p_casino, p_table, p_name, p_day, p_game, p_ruleset, p_currency)
    on conflict (casino_id, name) do nothing;
  if not found then
    select stream_id into id from log.stream where casino_id = p_casino and name = p_name;
    return id;
  end if;
  insert into log.stream_head (stream_id) values (id);
  return id;
end $function$;

CREATE OR REPLACE FUNCTION log.open_stream(p_casino bigint, p_table bigint, p_name text, p_day date, p_game text, p_ruleset text, p_currency text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  day_key bigint := (p_day - date '2020-01-01')::bigint << 32;
  id      bigint;
begin
  perform log.ensure_month(p_day);
  perform pg_advisory_xact_lock(hashtext('log.open_stream'), p_day - date '2020-01-01');
  select coalesce(max(stream_id), day_key) + 1 into id
    from log.stream where stream_id >= day_key and stream_id < day_key + (1::bigint << 32);
  -- Waits for another transaction that opens a stream of this name on another day.
  insert into log.stream (stream_id, casino_id, table_id, name, gaming_day, game, ruleset, currency)
    values (id, p_casino, p_table, p_name, p_day, p_game, p_ruleset, p_currency)
    on conflict (casino_id, name) do nothing;
  if not found then
    select stream_id into id from log.stream where casino_id = p_casino and name = p_name;
    return id;
  end if;
  insert into log.stream_head (stream_id) values (id);
  return id;
end $function$;

CREATE OR REPLACE FUNCTION log.protect(relation regclass)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not exists (select 1 from pg_catalog.pg_trigger where tgrelid = relation and tgname = 'no_change') then
    execute format('create trigger no_change before update or delete on %s for each row execute function log.refuse()', relation);
  end if;
  -- TRUNCATE triggers are not cloned to partitions: every partition needs its own.
  execute format('create trigger no_truncate before truncate on %s for each statement execute function log.refuse()', relation);
  -- ALWAYS: they fire under session_replication_role = replica too.
  execute format('alter table %s enable always trigger no_change', relation);
  execute format('alter table %s enable always trigger no_truncate', relation);
end $function$;

CREATE OR REPLACE FUNCTION log.refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' and tg_table_name in ('event_sandbox', 'batch_sandbox', 'stream') then
    if old.stream_id >= 1::bigint << 51 and log.is_being_emptied(old.stream_id) then
      return old;
    end if;
  end if;
  raise exception 'log: % on %.% is not allowed, the log is append-only', tg_op, tg_table_schema, tg_table_name
    using errcode = 'ES001';
end $function$;

CREATE OR REPLACE FUNCTION log.refuse_archived()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'log: the month of stream % is archived, it takes no more events', new.stream_id
    using errcode = 'ES410';
end $function$;

CREATE OR REPLACE FUNCTION log.refuse_earlier()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' or new.since <> old.since or new.began_at <> old.began_at or new.received_at < old.received_at then
    raise exception 'log: % on the log''s clock is not allowed', tg_op using errcode = 'ES001';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION log.refuse_step_back()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    if old.stream_id >= 1::bigint << 51 and log.is_being_emptied(old.stream_id) then
      return old;
    end if;
    raise exception 'log: % on a stream''s head is not allowed', tg_op using errcode = 'ES001';
  end if;
  if tg_op <> 'UPDATE' or new.stream_id <> old.stream_id or new.next_seq <= old.next_seq then
    raise exception 'log: % on a stream''s head is not allowed', tg_op using errcode = 'ES001';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION log.register_key(p_key_id bytea, p_name text, p_purpose text, p_public bytea, p_valid_from timestamp with time zone, p_reason text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  insert into log.key (key_id, name, purpose, public_key, valid_from, reason)
    values (p_key_id, p_name, p_purpose, p_public, greatest(p_valid_from, clock_timestamp()), p_reason)
    returning valid_from
$function$;

CREATE OR REPLACE FUNCTION log.seal(p_size bigint, p_streams bigint[], p_firsts bigint[], p_hashes bytea[], p_heights smallint[], p_indexes bigint[], p_subtrees bytea[], p_root bytea, p_note text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  leaves bigint := coalesce((select max(log_index) + 1 from log.leaf), 0);
begin
  if p_size <> leaves then
    raise exception 'log: the tree has % leaves, not %', leaves, p_size using errcode = 'ES409';
  end if;
  insert into log.leaf (log_index, stream_id, first_seq, hash)
    select p_size + l.place - 1, l.stream_id, l.first_seq, l.hash
    from unnest(p_streams, p_firsts, p_hashes) with ordinality as l (stream_id, first_seq, hash, place);
  insert into log.subtree (height, index, hash)
    select s.height, s.index, s.hash from unnest(p_heights, p_indexes, p_subtrees) as s (height, index, hash);
  insert into log.checkpoint (number, size, root, note)
    select coalesce(max(number), 0) + 1, p_size + cardinality(p_hashes), p_root, p_note from log.checkpoint;
  update log.clock c set received_at = newest.received_at
    from (select max(b.received_at) as received_at
          from unnest(p_streams, p_firsts) as l (stream_id, first_seq) join log.batch b using (stream_id, first_seq)) newest
    where newest.received_at > c.received_at;
  delete from log.outbox o using unnest(p_streams, p_firsts) as l (stream_id, first_seq)
    where o.stream_id = l.stream_id and o.first_seq = l.first_seq;
end $function$;

CREATE OR REPLACE FUNCTION log.stage_month(p_month date)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  low    bigint;
  high   bigint;
  staged text := 'event' || to_char(p_month, '_YYYYMM') || '_next';
begin
  select r.low, r.high into low, high from log.month_range(p_month) r;
  if to_regclass('log_guard.maintenance') is not null then
    insert into log_guard.maintenance (reason) values (format('archive %s', to_char(p_month, 'YYYY-MM')));
  end if;
  execute format('create table log.%I (like log.event including all)', staged);
  execute (select format('alter table log.%I owner to %I', staged, r.rolname)
           from pg_catalog.pg_class c join pg_catalog.pg_roles r on r.oid = c.relowner
           where c.oid = 'log.event'::regclass);
  -- So that attaching it reads nothing while others wait.
  execute format('alter table log.%I add constraint of_month check (stream_id >= %s and stream_id < %s)',
                 staged, low, high);
  execute format('insert into log.%I select e.* from log.event e join log.stream s using (stream_id)'
                 ' where s.is_of_desk and e.stream_id >= %s and e.stream_id < %s', staged, low, high);
  return staged;
end $function$;

CREATE OR REPLACE FUNCTION log.swap_month(p_month date, p_batches bigint, p_events bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  low     bigint;
  high    bigint;
  child   text := 'event' || to_char(p_month, '_YYYYMM');
  staged  text := child || '_next';
  batches bigint;
  events  bigint;
  index   text;
begin
  select r.low, r.high into low, high from log.month_range(p_month) r;
  lock table log.event in access exclusive mode;
  select count(*), coalesce(sum(b.count), 0) into batches, events
    from log.batch b join log.stream s using (stream_id)
    where b.stream_id >= low and b.stream_id < high and not s.is_of_desk;
  if (batches, events) is distinct from (p_batches, p_events) then
    raise exception 'log: % has % batches with % events, not % with %',
      child, batches, events, p_batches, p_events using errcode = 'ES409';
  end if;
  execute format('alter table log.event detach partition log.%I', child);
  execute format('drop table log.%I', child);
  execute format('alter table log.%I rename to %I', staged, child);
  for index in select i.relname from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid
      where x.indrelid = format('log.%I', child)::regclass loop
    execute format('alter index log.%I rename to %I', index, replace(index, staged, child));
  end loop;
  execute format('alter table log.event attach partition log.%I for values from (%s) to (%s)', child, low, high);
  execute format('alter table log.%I drop constraint of_month', child);
  perform log.protect(format('log.%I', child)::regclass);
  execute format('create trigger no_insert before insert on log.%I for each row execute function log.refuse_archived()',
                 child);
  execute format('alter table log.%I enable always trigger no_insert', child);
end $function$;

CREATE OR REPLACE FUNCTION log_guard.close_maintenance()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    update log_guard.maintenance set closed_at = clock_timestamp() where id = new.id and closed_at is null;
    return null;
  end $function$;

CREATE OR REPLACE FUNCTION log_guard.is_of_log(schema_name text, object_type text, object_identity text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select schema_name is not distinct from 'log'
        or (object_type = 'schema' and object_identity = 'log')
        or object_identity ~ '(^| on | for | of )log\.'
  $function$;

CREATE OR REPLACE FUNCTION log_guard.is_open()
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select exists (select from log_guard.maintenance where transaction = pg_current_xact_id() and closed_at is null)
  $function$;

CREATE OR REPLACE FUNCTION log_guard.refuse_change()
 RETURNS event_trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    command record;
  begin
    for command in select * from pg_event_trigger_ddl_commands() loop
      if (log_guard.is_of_log(command.schema_name, command.object_type, command.object_identity)
          or exists (select from log_guard.misplaced)
          or (command.command_tag in ('GRANT', 'REVOKE', 'ALTER DEFAULT PRIVILEGES')
              and exists (select from log_guard.foreign_grant)))
         and not log_guard.is_open() then
        raise exception 'log: % on % outside maintenance', command.command_tag, coalesce(command.object_identity, 'log')
          using errcode = 'ES002';
      end if;
    end loop;
  end $function$;

CREATE OR REPLACE FUNCTION log_guard.refuse_drop()
 RETURNS event_trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    dropped record;
  begin
    for dropped in select * from pg_event_trigger_dropped_objects() loop
      if dropped.schema_name is not distinct from 'log_guard' or dropped.object_identity = 'log_guard' then
        raise exception 'log: drop of %; drop the event triggers first', dropped.object_identity using errcode = 'ES002';
      end if;
      if log_guard.is_of_log(dropped.schema_name, dropped.object_type, dropped.object_identity)
         and not log_guard.is_open() then
        raise exception 'log: drop of % outside maintenance', dropped.object_identity using errcode = 'ES002';
      end if;
    end loop;
  end $function$;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.batch FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.batch ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.batch FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.batch ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.checkpoint FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.checkpoint ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.checkpoint FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.checkpoint ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER forward_only BEFORE DELETE OR UPDATE ON log.clock FOR EACH ROW EXECUTE FUNCTION log.refuse_earlier();
ALTER TABLE log.clock ENABLE ALWAYS TRIGGER forward_only;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.clock FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.clock ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.emptied FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.emptied ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.emptied FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.emptied ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.event FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.event ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.event FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.event ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.key FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.key ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.key FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.key ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.leaf FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.leaf ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.leaf FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.leaf ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER not_of_sandbox BEFORE INSERT ON log.outbox FOR EACH ROW WHEN ((new.stream_id >= '2251799813685248'::bigint)) EXECUTE FUNCTION log.leave_unsealed();
ALTER TABLE log.outbox ENABLE ALWAYS TRIGGER not_of_sandbox;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.stream FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.stream ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.stream FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.stream ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER own_space BEFORE INSERT ON log.stream FOR EACH ROW EXECUTE FUNCTION log.demand_space();
ALTER TABLE log.stream ENABLE ALWAYS TRIGGER own_space;

CREATE TRIGGER forward_only BEFORE DELETE OR UPDATE ON log.stream_head FOR EACH ROW EXECUTE FUNCTION log.refuse_step_back();
ALTER TABLE log.stream_head ENABLE ALWAYS TRIGGER forward_only;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.stream_head FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.stream_head ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE ON log.subtree FOR EACH ROW EXECUTE FUNCTION log.refuse();
ALTER TABLE log.subtree ENABLE ALWAYS TRIGGER no_change;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.subtree FOR EACH STATEMENT EXECUTE FUNCTION log.refuse();
ALTER TABLE log.subtree ENABLE ALWAYS TRIGGER no_truncate;

CREATE CONSTRAINT TRIGGER close_at_commit AFTER INSERT ON log_guard.maintenance DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION log_guard.close_maintenance();
ALTER TABLE log_guard.maintenance ENABLE ALWAYS TRIGGER close_at_commit;

GRANT USAGE ON SCHEMA log TO cabochon_owner;
GRANT USAGE ON SCHEMA log TO cabochon_reader;
GRANT USAGE ON SCHEMA log TO cabochon_sequencer;
GRANT USAGE ON SCHEMA log TO cabochon_writer;

ALTER TABLE log.batch OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.batch TO cabochon_reader;

ALTER TABLE log.checkpoint OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.checkpoint TO cabochon_reader;

ALTER TABLE log.clock OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.clock TO cabochon_reader;

ALTER TABLE log.emptied OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.emptied TO cabochon_reader;

ALTER TABLE log.event OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.event TO cabochon_reader;

ALTER TABLE log.key OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.key TO cabochon_reader;

ALTER TABLE log.leaf OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.leaf TO cabochon_reader;

ALTER TABLE log.outbox OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.outbox TO cabochon_reader;

ALTER TABLE log.stream OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.stream TO cabochon_reader;

ALTER TABLE log.stream_head OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.stream_head TO cabochon_reader;

ALTER TABLE log.subtree OWNER TO cabochon_owner;
GRANT SELECT ON TABLE log.subtree TO cabochon_reader;

ALTER FUNCTION log.append(bigint,bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[],bytea) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.append(bigint,bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[],bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.append(bigint,bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[],bytea) TO cabochon_writer;

ALTER FUNCTION log.append_named(bigint,text,bigint[],bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[]) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.append_named(bigint,text,bigint[],bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.append_named(bigint,text,bigint[],bigint,bigint,bytea,bigint,bigint[],timestamp with time zone[],text[]) TO cabochon_writer;

ALTER FUNCTION log.demand_space() OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.demand_space() FROM PUBLIC;

ALTER FUNCTION log.empty_sandbox(bigint) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.empty_sandbox(bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION log.ensure_month(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.ensure_month(date) TO cabochon_owner;

ALTER FUNCTION log.hold(bigint) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.hold(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.hold(bigint) TO cabochon_writer;

REVOKE ALL ON FUNCTION log.is_being_emptied(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.is_being_emptied(bigint) TO cabochon_owner;

ALTER FUNCTION log.leave_unsealed() OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.leave_unsealed() FROM PUBLIC;

ALTER FUNCTION log.month_range(date) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.month_range(date) FROM PUBLIC;

ALTER FUNCTION log.open_desk(bigint,date) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.open_desk(bigint,date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.open_desk(bigint,date) TO cabochon_writer;

ALTER FUNCTION log.open_sandbox_stream(bigint,bigint,text,date,text,text,text) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.open_sandbox_stream(bigint,bigint,text,date,text,text,text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.open_sandbox_stream(bigint,bigint,text,date,text,text,text) TO cabochon_writer;

ALTER FUNCTION log.open_stream(bigint,bigint,text,date,text,text,text) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.open_stream(bigint,bigint,text,date,text,text,text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.open_stream(bigint,bigint,text,date,text,text,text) TO cabochon_writer;

REVOKE ALL ON FUNCTION log.protect(regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION log.refuse() FROM PUBLIC;

REVOKE ALL ON FUNCTION log.refuse_archived() FROM PUBLIC;

REVOKE ALL ON FUNCTION log.refuse_earlier() FROM PUBLIC;

REVOKE ALL ON FUNCTION log.refuse_step_back() FROM PUBLIC;

ALTER FUNCTION log.register_key(bytea,text,text,bytea,timestamp with time zone,text) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.register_key(bytea,text,text,bytea,timestamp with time zone,text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.register_key(bytea,text,text,bytea,timestamp with time zone,text) TO cabochon_sequencer;

ALTER FUNCTION log.seal(bigint,bigint[],bigint[],bytea[],smallint[],bigint[],bytea[],bytea,text) OWNER TO cabochon_owner;
REVOKE ALL ON FUNCTION log.seal(bigint,bigint[],bigint[],bytea[],smallint[],bigint[],bytea[],bytea,text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.seal(bigint,bigint[],bigint[],bytea[],smallint[],bigint[],bytea[],bytea,text) TO cabochon_sequencer;

REVOKE ALL ON FUNCTION log.stage_month(date) FROM PUBLIC;

REVOKE ALL ON FUNCTION log.swap_month(date,bigint,bigint) FROM PUBLIC;

CREATE EVENT TRIGGER log_no_change ON ddl_command_end EXECUTE FUNCTION log_guard.refuse_change();
ALTER EVENT TRIGGER log_no_change ENABLE ALWAYS;

CREATE EVENT TRIGGER log_no_drop ON sql_drop EXECUTE FUNCTION log_guard.refuse_drop();
ALTER EVENT TRIGGER log_no_drop ENABLE ALWAYS;
