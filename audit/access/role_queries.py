"""What PostgreSQL says of tables, functions, grants and roles: the queries of ``audit.access.applied_roles``."""

TABLES_HERE = """
select case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end, pg_get_userbyid(c.relowner)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('public', 'log', 'log_guard') and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
order by 1
"""

FUNCTIONS_HERE = """
select case n.nspname when 'public' then p.proname else n.nspname || '.' || p.proname end,
       format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
       pg_get_userbyid(p.proowner)
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('public', 'log')
  and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
order by 1
"""

# What is granted on tables, columns, functions and schemas, to others than their owners; and what PostgreSQL lets
# everybody keep beside them: temporary tables and large objects, of which nothing here knows.
GRANTED = """
with granted (kind, name, owner, acl, column_name) as (
  select 'table', case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end,
         c.relowner, c.relacl, ''
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'log', 'log_guard') and c.relkind in ('r', 'p', 'v', 'm', 'f')
  union all
  select 'table', case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end,
         c.relowner, t.attacl, t.attname
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute t on t.attrelid = c.oid
    where n.nspname in ('public', 'log', 'log_guard') and t.attacl is not null and not t.attisdropped
  union all
  select 'function', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
         p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)), ''
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('public', 'log')
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  union all
  select 'schema', n.nspname, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner)), ''
    from pg_namespace n where n.nspname in ('public', 'log', 'log_guard')
  union all
  select 'function', format('pg_catalog.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
         p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)), ''
    from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea')
  union all
  select 'database', format('%I', d.datname), d.datdba, coalesce(d.datacl, acldefault('d', d.datdba)), ''
    from pg_database d where d.datname = current_database())
select g.kind, g.name, case a.grantee when 0 then 'public' else pg_get_userbyid(a.grantee) end,
       lower(a.privilege_type), g.column_name
from granted g, aclexplode(g.acl) a
where a.grantee <> g.owner and (g.kind <> 'database' or a.privilege_type = 'TEMPORARY')
"""

MEMBERS = """
select m.rolname, r.rolname
from pg_auth_members a join pg_roles m on m.oid = a.member join pg_roles r on r.oid = a.roleid
"""

ACCOUNT = "select current_user, rolsuper, rolsuper or rolcreaterole from pg_roles where rolname = current_user"
