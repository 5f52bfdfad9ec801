"""The walls inside the database: what each role may do alone, what it may not, and the manifest that says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from django.core.checks import run_checks
from django.db import DatabaseError, IntegrityError, connection, transaction

from audit.access import applied_roles, database_roles
from audit.access.database_roles import BEAT, OPERATOR, READER, SEQUENCER, WEB, WORKER, WRITER
from audit.adjudication.replay import advance
from audit.casework import actions
from audit.event_store import audit_trail, binary_copy
from audit.event_store.append import EntryRefused
from audit.models import Casino, Finding, LoggedStream, Membership, NightReport, Officer, Role
from audit.reconciliation import runs
from audit.reconciliation.versions import sign
from audit.transparency.integrity_findings import report_tampering
from audit.transparency.sequencer import Sequencer, catch_up
from tests.audit import tables
from tests.audit.access.test_accounts import invited_by
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified
from tests.long_forms import in_short
from tests.roles import acting_as

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db]

DENIED = "42501"


def refused(statement: str, *, role: str) -> str | None:
    """Run a statement in a role and roll it back. Return the SQLSTATE of the refusal, or None."""
    try:
        with transaction.atomic():
            with acting_as(role), connection.cursor() as cursor:
                cursor.execute(statement)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return str(getattr(error.__cause__, "sqlstate", ""))
    return None


# The manifest


@pytest.mark.parametrize("role", sorted({*database_roles.ROLES} - {database_roles.OWNER}))
@pytest.mark.parametrize(
    "statement",
    [
        "create temporary table x (y integer)",
        "select lo_create(0)",
        "select lo_creat(0)",
        "select lo_from_bytea(0, 'x')",
    ],
)
def test_no_role_keeps_anything_in_the_database_beside_its_tables(db: None, role: str, statement: str) -> None:
    assert refused(statement, role=role) == DENIED


@pytest.mark.superuser
@pytest.mark.parametrize(
    "granted", ["temporary on database {database}", "execute on function pg_catalog.lo_create(oid)"]
)
def test_a_role_that_may_do_so_again_is_named_and_stopped(db: None, granted: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"grant {granted} to {database_roles.WEB}".format(database=connection.settings_dict["NAME"]))
    [named] = applied_roles.excessive()
    assert named.grantee == database_roles.WEB
    found = [
        each.id for each in run_checks(databases=["default"], include_deployment_checks=True) if str(named) in each.msg
    ]
    assert found == ["audit.W010" if "pg_catalog" in granted else "audit.E003"]
    applied_roles.apply()
    assert applied_roles.excessive() == []


def test_every_table_and_function_is_named_owned_and_granted_as_the_manifest_says(db: None) -> None:
    assert applied_roles.unnamed() == []
    assert applied_roles.misowned() == []
    assert applied_roles.missing() == []
    assert applied_roles.excessive() == []
    assert applied_roles.lacking_memberships() == []


@pytest.mark.superuser
def test_the_manifest_names_nothing_that_is_not_there(db: None) -> None:
    with connection.cursor() as cursor:
        for name in database_roles.TABLES:
            cursor.execute("select to_regclass(%s) is not null", [name])
            assert cursor.fetchone() == (True,), name
    wanted = {each.name.partition("(")[0] for each in applied_roles.wanted() if each.kind == "function"}
    called = {name if "." in name else f"public.{name}" for name, roles in database_roles.FUNCTIONS.items() if roles}
    assert wanted == called


@pytest.mark.parametrize("role", database_roles.ROLES)
def test_no_role_of_ours_has_a_power_over_the_server(db: None, role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolcanlogin"
            " from pg_roles where rolname = %s",
            [role],
        )
        assert cursor.fetchone() == (False,)


def complaints() -> str:
    messages = run_checks(tags=["security"], include_deployment_checks=True, databases=["default"])
    return "\n".join(f"({message.id}) {message.msg}" for message in messages)


CHANGES = [
    ("create table public.audit_new (id int)", "audit.E002) audit_new is not in"),
    ("create function public.audit_new() returns int language sql return 1", "audit.E002) audit_new() is not in"),
    ("grant update on audit_finding to cabochon_web", "audit.E003) cabochon_web: update on audit_finding"),
    ("grant delete on audit_case to cabochon_tests_web", "audit.E003) cabochon_tests_web: delete on audit_case"),
    ("grant update (password) on audit_officer to public", "audit.E003) public: update (password) on audit_officer"),
    (
        "grant execute on function audit_perform to cabochon_web",
        "audit.E003) cabochon_web: execute on public.audit_perf",
    ),
    (
        "grant insert on audit_accountrequest to cabochon_web",
        "audit.E003) cabochon_web: insert on audit_accountrequest",
    ),
    ("grant update (used_at) on audit_accesslink to cabochon_web", "audit.E003) cabochon_web: update (used_at) on"),
    ("grant update (is_active) on audit_officer to cabochon_web", "audit.E003) cabochon_web: update (is_active) on"),
    ("grant delete on otp_totp_totpdevice to cabochon_tests_web", "audit.E003) cabochon_tests_web: delete on otp_totp"),
    (
        "grant execute on function audit_set_role to cabochon_web",
        "audit.E003) cabochon_web: execute on public.audit_set",
    ),
    ("revoke select on audit_accesslink from cabochon_web", "audit.E004) cabochon_web: select on audit_accesslink"),
    ("grant create on schema public to public", "audit.E003) public: create on public"),
    ("revoke insert on audit_finding from cabochon_worker", "audit.E004) cabochon_worker: insert on audit_finding"),
    ("revoke execute on function audit_perform_act from cabochon_web", "audit.E004) cabochon_web: execute on public."),
    ("revoke usage on schema public from cabochon_web", "audit.E004) cabochon_web: usage on public"),
    ("alter table audit_finding owner to current_user", "audit.E005) audit_finding does not belong to"),
    ("alter function audit_perform owner to current_user", "audit.E005) audit_perform() does not belong to"),
]


@pytest.mark.superuser
def test_after_a_migrate_the_check_names_none_of_this() -> None:
    named = complaints()
    assert not [complaint for _change, complaint in CHANGES if complaint in named]


@pytest.mark.superuser
@pytest.mark.parametrize("change, complaint", in_short(CHANGES, every=3))
def test_the_check_names_what_is_missing_or_too_much_and_a_migrate_mends_it(change: str, complaint: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(change)
    assert complaint in complaints()
    reported: list[str] = []
    applied_roles.apply(reported.append)
    if "is not in" in complaint:
        assert [line for line in reported if line.startswith("audit_new")]
    else:
        assert complaint not in complaints()


@pytest.mark.superuser
def test_a_migrate_closes_the_log_again_though_its_guard_is_on() -> None:
    with connection.cursor() as cursor:
        cursor.execute("insert into log_guard.maintenance (reason) values ('a hole for tests')")
        cursor.execute("grant insert on log.event to cabochon_web")
        cursor.execute("set constraints all immediate")
    assert "cabochon_web: insert on log.event" in complaints()
    applied_roles.apply(lambda line: None)
    assert "log.event" not in complaints()
    assert refused("insert into log.event values (1, 1, now(), '{}')", role=WEB) == DENIED


@pytest.mark.superuser
def test_a_second_migrate_changes_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from log_guard.maintenance")
        before = cursor.fetchone()
        applied_roles.apply(lambda line: pytest.fail(line))
        cursor.execute("select count(*) from log_guard.maintenance")
        assert cursor.fetchone() == before


# What no role may do: each of these was possible to whoever took over a web server.

REWRITES = [
    "delete from audit_finding",
    "update audit_finding set superseded_at = now()",
    "update audit_finding set facts = '{}'",
    "insert into audit_finding default values",
    "delete from audit_case",
    "update audit_case set deadline = now()",
    "update audit_case set weight = 3",
    "insert into audit_case default values",
    "delete from audit_caseaction",
    "update audit_caseaction set reason = ''",
    "insert into audit_apikey default values",
    "update audit_apikey set revoked_at = null",
    "update audit_apikey set expires_at = null",
    "update audit_apikey set scopes = array['events:write']",
    "delete from audit_apikey",
    "insert into audit_apikey_tables default values",
    "delete from audit_apikey_tables",
    "insert into audit_casino default values",
    "update audit_casino set cutoff = '12:00'",
    "update audit_casino set name = 'x'",
    "insert into audit_gamingtable default values",
    "update audit_gamingtable set does_not_report = true",
    "insert into audit_webhook default values",
    "update audit_webhook set url = 'https://evil.example/'",
    "update audit_webhook set is_active = false",
    "update audit_webhook set next_try_at = '2099-01-01'",
    "delete from audit_webhook",
    "insert into audit_webhooksecret default values",
    "update audit_webhooksecret set expires_at = now()",
    "select secret from audit_webhooksecret",
    "select audit_act_casino_changed('{}', 1, null)",
    "select audit_act_webhook_created('{}', 1, null)",
    "select audit_set_table('{}')",
    "select audit_sign_webhook_with(1, '')",
    "select audit_act_key_made('{}', 1, null)",
    "select audit_begin_key('{}', null)",
    "update audit_nightreport set reviewed_by_id = 1, state = 'reviewed'",
    "update audit_nightreport set state = 'closed', reviewed_by_id = 1, closed_by_id = 2",
    "insert into audit_nightreport default values",
    "delete from audit_nightreport",
    "insert into audit_signoffexception default values",
    "delete from audit_signoffexception",
    "update audit_officer set is_superuser = true",
    "update audit_officer set is_staff = true",
    "update audit_officer set password = ''",
    "insert into audit_officer default values",
    "delete from audit_officer",
    "insert into audit_officer_casinos default values",
    "update audit_officer_casinos set role = 'administrator'",
    "delete from audit_officer_casinos",
    "insert into audit_officer_groups default values",
    "insert into audit_officer_user_permissions default values",
    "insert into auth_permission default values",
    "update django_content_type set model = 'x'",
    "delete from django_admin_log",
    "delete from django_migrations",
    "truncate audit_finding cascade",
    "alter table audit_finding disable trigger all",
    "create table public.mine (id int)",
    "create function public.mine() returns int language sql return 1",
    "select * from log_guard.maintenance",
    "select audit_act_officer_made_superuser('{}', 1, null)",
    "select audit_act_night_reviewed('{}', 1, null)",
    "select audit_perform('command', 1, 1, 2, '', 0, '{}', '{}', '{}', null)",
    "select audit_perform_command(1, 1, 2, '', 0, '{}', '{}', '{}', null)",
    "select audit_case_of(1, 1, '', '', 1, '', now(), now(), 1)",
    "select log.seal(0, '{}', '{}', '{}', '{}', '{}', '{}', '', '')",
    "set role cabochon_owner",
    "set role cabochon_worker",
    "copy (select 1) to '/tmp/cabochon-was-here'",
    "select pg_read_file('/etc/passwd')",
]


@pytest.mark.parametrize("statement", REWRITES)
def test_a_web_server_that_was_taken_over_rewrites_nothing(db: None, statement: str) -> None:
    if statement.startswith("set role"):  # of a web server's account; the account of the tests is a member of all
        with connection.cursor() as cursor:
            cursor.execute("select pg_has_role('cabochon_tests_web', %s, 'member')", [statement.split()[-1]])
            assert cursor.fetchone() == (False,)
        return
    assert refused(statement, role=WEB) == DENIED


OF_OTHERS = [
    (WORKER, "delete from audit_finding"),
    (WORKER, "update audit_finding set rule = 'x'"),
    (WORKER, "update audit_finding set case_id = null"),
    (WORKER, "update audit_case set state = 'closed'"),
    (WORKER, "insert into audit_caseaction default values"),
    (WORKER, "update audit_nightreport set state = 'reviewed'"),
    (WORKER, "update audit_officer set is_superuser = true"),
    (WORKER, "insert into audit_officer_casinos default values"),
    (WORKER, "insert into audit_apikey default values"),
    *((WORKER, f"update audit_job set {column}") for column in ("officer_id = 1", "casino_id = null", "params = '{}'")),
    (WORKER, "insert into audit_job default values"),
    (WORKER, "select * from django_session"),
    (WORKER, "select * from otp_totp_totpdevice"),
    (WORKER, "select audit_perform_act(1, 1, 2, '', 0, '{}', '{}', '{}', null)"),
    (WORKER, "select log.seal(0, '{}', '{}', '{}', '{}', '{}', '{}', '', '')"),
    *((BEAT, f"select * from {table}") for table in ("audit_finding", "audit_officer", "audit_casino", "log.stream")),
    (BEAT, "update audit_taskrun set ran_at = now()"),
    (BEAT, "delete from audit_heartbeat"),
    (BEAT, "update audit_casino set name = 'x'"),
    (BEAT, "insert into audit_job default values"),
    (BEAT, "select log.append(1, 1, 2, '', 0, '{}', '{}', '{}')"),
    (BEAT, "select log.open_desk(1, '2026-11-19')"),
    (SEQUENCER, "insert into audit_finding default values"),
    (SEQUENCER, "update audit_finding set superseded_at = now()"),
    (SEQUENCER, "insert into log.leaf default values"),
    (SEQUENCER, "delete from log.outbox"),
    (SEQUENCER, "select password from audit_officer"),
    (SEQUENCER, "select log.append(1, 1, 2, '', 0, '{}', '{}', '{}')"),
    (READER, "select password from audit_officer"),
    (READER, "select digest from audit_apikey"),
    (READER, "select * from django_session"),
    (READER, "select * from otp_static_statictoken"),
    (READER, "select * from axes_accessattempt"),
    (READER, "insert into audit_casino default values"),
    (READER, "select log.open_desk(1, '2026-11-19')"),
    (READER, "select audit_report_integrity('{}')"),
    (WRITER, "select * from log.event"),
    (OPERATOR, "update audit_officer set is_superuser = true"),
    (OPERATOR, "delete from audit_finding"),
    (OPERATOR, "update audit_nightreport set state = 'closed'"),
]


@pytest.mark.parametrize("role, statement", OF_OTHERS)
def test_no_other_role_does_what_is_not_its_work(db: None, role: str, statement: str) -> None:
    assert refused(statement, role=role) == DENIED


# What each role does alone


def test_a_web_server_alone_records_serves_and_works_cases() -> None:
    desk = Desk()
    with acting_as(WEB):
        tenant = desk.tenant
        sent = tenant.session("of-web", 4)
        sent[0]["data"]["table"] = "T1"
        assert tenant.send("of-web", sent).status_code == 201
        sent[3]["data"]["stake"] = 1
        assert tenant.send("of-web", sent).status_code == 409
        assert Finding.objects.filter(stream__name="of-web", rule="sequence-conflict").count() == 1
        desk_client = client_of(desk.first)
        for page in ("/admin/", "/admin/audit/finding/", f"/admin/audit/finding/{desk.findings[0].pk}/change/"):
            assert desk_client.get(page).status_code == 200
    actions.perform(desk.case.pk, desk.first, "take")
    with acting_as(WEB):
        proposed = actions.perform(desk.case.pk, desk.first, "propose", reason="seen", outcome="confirmed")
        assert actions.perform(desk.case.pk, desk.second, "approve").state == "closed"
    assert proposed.proposed_by == desk.first


def test_a_worker_alone_adjudicates_and_reconciles(tenant: Tenant) -> None:
    events = session(tenant.casino, "R1")
    stream_id = record(tenant.casino, events)
    record(tenant.casino, count(tenant.casino, {events[0]["stream"]: buy_ins(events)}, closed=False))
    seal()
    with acting_as(WORKER):
        while (progress := advance(stream_id)) is not None and progress.behind:
            continue
        [report] = runs.reconcile(tenant.casino, DAY, actor="beat", now=MORNING)
    assert report.version == 1


def test_a_sequencer_alone_seals_and_reports_tampering(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 3))
    [(stream_id,)] = binary_copy.execute("select stream_id from log.stream where name = %b::text", (stream,))
    with acting_as(SEQUENCER):
        sequencer = Sequencer(lambda left: None)
        sequencer.load()
        assert catch_up(sequencer) >= 1
        for _ in range(2):
            report_tampering(stream_id, 1, expected=bytes(32), recorded=bytes(range(32)))
    [finding] = Finding.objects.filter(stream_id=stream_id, rule="log-tampered")
    assert finding.case is not None
    assert (finding.case.state, finding.recorded, finding.evidence) == ("new", bytes(range(32)).hex(), [1])


def test_a_reader_alone_reads_and_verifies(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 3))
    seal()
    with acting_as(READER):
        assert verified().faults == []
        assert LoggedStream.objects.filter(name=stream).exists()
        assert list(Finding.objects.filter(stream__name=stream)) == []


INVENTED = [
    {"rule": "accounting-variance"},
    {"rule": "log-tampered", "run": 1},
    {"rule": "log-tampered", "casino_id": -1},
    {"rule": "log-tampered", "gaming_day": "1999-01-01"},
]


@pytest.mark.parametrize("changed", INVENTED)
def test_no_other_finding_is_invented_by_the_function_for_tampering(
    tenant: Tenant, stream: str, changed: dict[str, object]
) -> None:
    tenant.send(stream, tenant.session(stream, 1))
    of = LoggedStream.objects.get(name=stream)
    row = {"stream_id": of.pk, "casino_id": of.casino_id, "gaming_day": str(of.gaming_day), "run": 0, **changed}
    assert refused(f"select audit_report_integrity('{json.dumps(row)}')", role=SEQUENCER) == "ES403"


# Rows that only an entry of the audit trail writes


def entries(casino_id: int = audit_trail.INSTALLATION) -> list[audit_trail.AuditEntry]:
    return list(audit_trail.entries_of(casino_id, datetime.now(UTC).date()))


def test_an_officer_is_added_promoted_and_given_a_password_by_entries(db: None) -> None:
    officer = Officer.objects.create_superuser("fanny", password="first-horse-9")
    assert [each.type for each in entries()][-2:] == ["officer.added", "officer.made_superuser"]
    assert entries()[-1].data == {"named": "fanny"}
    officer.set_password("second-horse-9")
    officer.save()
    assert entries()[-1].type == "officer.password_changed"
    stored = Officer.objects.get(username="fanny")
    assert (stored.is_superuser, stored.is_staff, stored.check_password("second-horse-9")) == (True, True, True)
    assert "horse" not in str(entries())
    assert stored.password not in str(entries())
    officer.first_name = "Fanny"
    before = len(entries())
    officer.save()
    assert len(entries()) == before
    assert Officer.objects.get(username="fanny").first_name == "Fanny"


def test_a_role_is_given_changed_and_taken_by_entries_of_its_casino(tenant: Tenant) -> None:
    officer = Officer.objects.create_user("gaston")
    membership = Membership.objects.create(officer=officer, casino=tenant.casino, role=Role.OFFICER)
    membership.role = Role.SECOND
    membership.save()
    assert officer.memberships.get().role == Role.SECOND
    membership.save()
    membership.delete()
    assert not officer.memberships.exists()
    assert [(each.type, each.data["role"]) for each in entries(tenant.casino.pk)] == [
        ("membership.given", "officer"),
        ("membership.given", "second"),
        ("membership.removed", "second"),
    ]


def performed_by(actor: str, type: str, **data: str) -> str | None:
    """Perform an entry as a web server does and roll it back. Return the code it was refused with."""
    try:
        with transaction.atomic(), acting_as(WEB):
            audit_trail.perform(actor, type, data=data, secret="x")
            transaction.set_rollback(True)
    except EntryRefused as refusal:
        return refusal.code
    return None


def test_at_the_desk_nobody_makes_a_superuser_or_touches_one(tenant: Tenant) -> None:
    chief = Officer.objects.create_superuser("chief")
    keeper = hired(tables.Tenant(), Role.ADMINISTRATOR, "keeper")
    for type in ("officer.made_superuser", "officer.unmade_superuser", "officer.added"):
        for officer in ("chief", keeper.username):
            assert performed_by(keeper.username, type, named=officer) == "not-allowed", type
            assert performed_by("chief", type, named=officer) == "not-allowed", type
        assert performed_by("nobody-at-all", type, named=keeper.username) == "not-an-officer", type
    assert performed_by(keeper.username, "membership.given", officer=keeper.username, role="second") == "not-allowed"
    Officer.objects.filter(pk=chief.pk).update(is_active=False)
    assert performed_by("chief", "officer.made_superuser", named=keeper.username) == "not-an-officer"
    assert performed_by(keeper.username, "officer.signed_in") == "no-effect"


class Night:
    """A night of a casino that may be signed."""

    def __init__(self, casino: Casino) -> None:
        events = session(casino, "R1")
        record(casino, events)
        record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, closed=False))
        seal()
        [self.report] = runs.reconcile(casino, DAY, actor="test", now=MORNING)

    def sign_as(self, actor: str, type: str, **changed: object) -> str | None:
        """Sign as a web server does and roll it back. Return the code of the refusal, or None."""
        named = {"gaming_day": str(DAY), "currency": self.report.currency, "version": 1, "digest": self.report.digest}
        try:
            with transaction.atomic(), acting_as(WEB):
                audit_trail.perform(actor, type, casino_id=self.report.casino_id, data={**named, **changed})
                transaction.set_rollback(True)
        except EntryRefused as refusal:
            return refusal.code
        return None


def test_the_database_refuses_a_second_signature_by_the_same_hands(tenant: Tenant) -> None:
    night = Night(tenant.casino)
    ada, eve = Officer.objects.create_user("ada"), Officer.objects.create_user("eve")
    for officer in (ada, eve):
        Membership.objects.create(officer=officer, casino=tenant.casino, role=Role.SECOND)
    bob = invited_by(ada, tenant.casino, Role.DIRECTOR)
    sign(night.report, officer=ada, now=MORNING)
    Membership.objects.get(officer=ada).delete()
    Membership.objects.create(officer=ada, casino=tenant.casino, role=Role.DIRECTOR)
    assert night.sign_as("ada", "night.closed") == "another-officer", "under another role"
    assert night.sign_as(bob.username, "night.closed") == "same-hands", "of an account that the first one opened"
    assert night.sign_as("eve", "night.closed") is None
    assert NightReport.objects.get(pk=night.report.pk).closed_by is None


@pytest.mark.superuser
def test_no_other_way_of_writing_puts_a_second_signature_of_the_same_hands_under_a_night(tenant: Tenant) -> None:
    night = Night(tenant.casino)
    ada = Officer.objects.create_user("ada")
    Membership.objects.create(officer=ada, casino=tenant.casino, role=Role.SECOND)
    bob = invited_by(ada, tenant.casino, Role.DIRECTOR)
    sign(night.report, officer=ada, now=MORNING)
    for signer in (ada, bob):
        closed = {"state": "closed", "closed_by": signer, "closed_at": MORNING}
        with pytest.raises(IntegrityError), transaction.atomic():
            NightReport.objects.filter(pk=night.report.pk).update(**closed)


def test_a_signature_is_refused_by_the_database_that_the_desk_would_refuse(tenant: Tenant) -> None:
    ada, bob = Officer.objects.create_user("ada"), Officer.objects.create_user("bob")
    night = Night(tenant.casino)
    report, sign_as = night.report, night.sign_as
    assert sign_as("ada", "night.reviewed") is None
    assert sign_as("nobody-at-all", "night.reviewed") == "not-an-officer"
    assert sign_as("ada", "night.reviewed", digest="0" * 64) == "no-such-report"
    assert sign_as("ada", "night.reviewed", version=2) == "no-such-report"
    assert sign_as("ada", "night.closed") == "not-reviewed"
    sign(report, officer=ada, now=MORNING)
    assert sign_as("bob", "night.reviewed") == "signed"
    assert sign_as("ada", "night.closed") == "another-officer"
    assert sign_as("bob", "night.closed") is None
    sign(report, officer=bob, now=MORNING)
    assert sign_as("bob", "night.closed") == "closed"
    assert sign_as("bob", "night.reserved", code="gap", reason="late") == "closed"
    assert NightReport.objects.get(pk=report.pk).closed_by == bob
