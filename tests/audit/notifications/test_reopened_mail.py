"""The mail about a reopened night: who gets it, how often, and what it says."""

from __future__ import annotations

import smtplib

import pytest
from django.core import mail as outbox
from django.core.mail import EmailMessage
from django.utils import timezone

from audit import tasks
from audit.event_store import audit_trail
from audit.models import Casino, Membership, NightReport, NightSubscriber, Officer, ReopenedNotice, Role
from audit.notifications import mail
from audit.reconciliation import runs, versions
from audit.reconciliation.reopened import change_in_words
from tests import citus
from tests.audit.conftest import make_tenant
from tests.audit.reconciliation.played import DAY, MORNING, reconciled, session
from tests.audit.reconciliation.test_versions import append

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def played_night(module_db: None) -> int:
    """The id of the report of a night at one table, which the tests of the module share."""
    casino = make_tenant().casino
    return reconciled(casino, session(casino, "R1", coups=6)).pk


@pytest.fixture
def report(played_night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=played_night)


@pytest.fixture
def casino(report: NightReport) -> Casino:
    return report.casino


def officer(casino: Casino, name: str, *, role: Role = Role.SECOND) -> Officer:
    found = Officer.objects.create_user(name, email=f"{name}@casino.example")
    Membership.objects.create(officer=found, casino=casino, role=role)
    return found


def sign(report: NightReport, *officers: Officer) -> None:
    for each in officers:
        for code in versions.missing_signoff_exceptions(report):
            versions.add_signoff_exception(report, code, "known", officer=each)
        versions.sign(report, officer=each)
        report.refresh_from_db()


def reopened(report: NightReport, minor: int = 900) -> NightReport:
    """Return the version of the night after a credit that came late."""
    last = report.parsed_content()["sessions"][0]
    event = {"stream": last["stream"], "seq": last["last_seq"], "occurred_at": "2026-11-20T04:00:00+01:00", "v": 1}
    append(report.casino, [event], last["last_seq"] + 1, "bank.credited", amount=minor, slip=f"late-{minor}")
    (later,) = runs.reconcile(report.casino, DAY, actor="test", now=MORNING)
    return later


def receivers() -> list[str]:
    return [address for message in outbox.outbox for address in message.to]


def test_the_officers_who_had_signed_are_mailed_what_changed_and_how_much(report: NightReport, casino: Casino) -> None:
    ada, eve, other = (officer(casino, name) for name in ("ada", "eve", "other"))
    sign(report, ada, eve)
    later = reopened(report)
    assert tasks.night_mail(report_id=later.pk) == 2
    assert receivers() == ["ada@casino.example", "eve@casino.example"]
    message = outbox.outbox[0]
    assert message.subject.startswith("Reopened after your signature: night of Thu 19 Nov 2026 at ")
    assert "(+€9)" in message.body
    assert message.body.startswith(change_in_words(later))
    assert "Version 1 was signed: ada · eve. This version needs signatures of its own." in message.body
    assert tasks.night_mail(report_id=later.pk) == 0, "once a version"
    entries = audit_trail.entries_of(casino.pk, timezone.now().date())
    mailed = [each.data["to"] for each in entries if each.type == "night.reopened_mailed"]
    assert sorted(mailed) == ["ada", "eve"]
    assert not ReopenedNotice.objects.filter(officer=other).exists()


def test_the_mail_is_in_the_language_of_the_subscription(report: NightReport, casino: Casino) -> None:
    ada = officer(casino, "ada")
    NightSubscriber.objects.create(casino=casino, officer=ada, language="fr", receives_reports=False)
    sign(report, ada)
    assert tasks.night_mail(report_id=reopened(report).pk) == 1
    assert outbox.outbox[0].subject.startswith("Rouverte après")


def test_a_night_that_is_signed_again_or_followed_by_another_version_is_not_mailed(
    report: NightReport, casino: Casino
) -> None:
    ada, eve = officer(casino, "ada"), officer(casino, "eve")
    sign(report, ada)
    second = reopened(report)
    third = reopened(second, 700)
    assert tasks.night_mail(report_id=second.pk) == 0
    sign(third, eve)
    assert tasks.night_mail(report_id=third.pk) == 0


def test_an_officer_without_a_role_or_an_address_is_not_mailed(report: NightReport, casino: Casino) -> None:
    ada, eve = officer(casino, "ada"), officer(casino, "eve")
    sign(report, ada, eve)
    later = reopened(report)
    Membership.objects.filter(officer=ada).delete()
    Officer.objects.filter(pk=eve.pk).update(email="")
    assert tasks.night_mail(report_id=later.pk) == 0


def test_what_no_server_took_is_mailed_by_the_next_sweep(
    report: NightReport, casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign(report, officer(casino, "ada"))
    later = reopened(report)

    def refuse(self: object) -> int:
        raise smtplib.SMTPServerDisconnected

    with monkeypatch.context() as broken:
        broken.setattr(EmailMessage, "send", refuse)
        with pytest.raises(smtplib.SMTPServerDisconnected):
            tasks.night_mail(report_id=later.pk)
    assert not ReopenedNotice.objects.exists()
    sent: list[int] = []
    monkeypatch.setattr(tasks.night_mail, "delay", lambda *, report_id: sent.append(report_id))
    tasks.night_sweep()
    assert sent == [later.pk]
    assert tasks.night_mail(report_id=later.pk) == 1
    assert mail.waiting(timezone.now()) == []
