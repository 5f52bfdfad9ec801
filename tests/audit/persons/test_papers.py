"""A person is erased: every paper, file, message and cache has the id from then on; PDFs are read as printed.

Each is fetched twice, before and after. What never had the name is fetched, too: it must not begin to have it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core import mail
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from audit.casework import actions, escalation, payment_orders
from audit.evidence.export import export
from audit.jobs import runner
from audit.jobs.queue import enqueue
from audit.models import (
    Case,
    Finding,
    Job,
    JobKind,
    NightSubscriber,
    Officer,
    OrderKind,
    Person,
    Role,
    SavedView,
)
from audit.notifications import case_mail, feed
from audit.notifications.mail import send
from audit.notifications.webhook_delivery import body_of
from audit.persons.erasure import erase
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.persons.test_erasure import CARD, LIST, NAME, NOTE, REASON, readable, tables_with_the_name, words_in
from tests.audit.transparency.sealed import seal

PDFTOTEXT = shutil.which("pdftotext")

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.superuser,
    pytest.mark.skipif(PDFTOTEXT is None, reason="pdftotext, of poppler, is not installed: papers are not read"),
]


def text_of(raw: bytes) -> str:
    """Return what a file says: of a PDF what is printed, of a workbook or a bundle its parts."""
    if not raw.startswith(b"%PDF"):
        return readable(raw)
    assert PDFTOTEXT is not None
    return subprocess.run([PDFTOTEXT, "-", "-"], input=raw, capture_output=True, check=True).stdout.decode()


class Paid:
    """A player to whom money is owed and a croupier of the night, in the directory by one name."""

    def __init__(self) -> None:
        self.night = NamedNight(irregularities=("payout-underpaid", "payout-overpaid", "colour-shared"))
        self.casino = self.night.casino
        self.officer = hired(self.night.tenant, Role.SECOND, "officer")
        self.keeper = hired(self.night.tenant, Role.ADMINISTRATOR, "keeper")
        self.client, self.keeping = client_of(self.officer), client_of(self.keeper)
        found = Finding.objects.standing().filter(stream_id=self.night.stream_id, rule="payout-underpaid")
        self.finding = found.exclude(player="")[0]
        self.person = Person.objects.get(casino=self.casino, code=self.finding.player)
        self.croupier = Person.objects.get(casino=self.casino, code="croupier-1")
        for each in (self.person, self.croupier):
            change = {"kind": each.kind, "name": NAME, "card_or_licence": CARD, "note": NOTE}
            assert self.keeping.post(f"{LIST}{each.pk}/change/", change).status_code == 302
            each.refresh_from_db()
            assert each.name == NAME
        Officer.objects.filter(pk=self.officer.pk).update(email="o@example.org")
        self.officer.refresh_from_db()
        NightSubscriber.objects.create(casino=self.casino, officer=self.officer, language="fr")
        actions.perform(self.finding.case_id, self.officer, "take")
        seal()

    def papers(self) -> Iterator[tuple[str, str]]:
        """Yield every file that an officer who may see names can take, and every message that would go out now."""
        code, pk = self.person.code, self.finding.pk
        for form in ("csv", "xlsx", "pdf", "json"):
            listed = self.client.post(f"/admin/audit/finding/export/{form}/?rule=payout-underpaid")
            yield f"findings.{form}", text_of(listed.content)
            yield f"directory.{form}", text_of(self.keeping.post(f"{LIST}export/{form}/").content)
            trail = reverse("admin:audit_trail_export", args=(form,))
            yield f"trail.{form}", text_of(client_of(self.keeper).post(f"{trail}?casino={self.casino.pk}").content)
        for name, form in (("en", "pdf"), ("fr", "pdf"), ("all", "xlsx"), ("croupiers", "csv"), ("all", "json")):
            address = reverse("admin:audit_nightreport_file", args=(self.night.report.pk, name, form))
            yield f"night.{name}.{form}", text_of(self.client.get(address).content)
        case = Case.objects.get(pk=self.finding.case_id)
        owing = payment_orders.owing_of(case.pk, "house", code)
        assert owing is not None
        ordered = owing.open or payment_orders.begin(self.officer, case, owing, OrderKind.PAYMENT)
        order = self.client.get(reverse("admin:audit_paymentorder_file", args=(ordered.pk,)))
        assert order["Content-Type"] == "application/pdf"
        yield "payment order", text_of(order.content)
        yield "evidence", text_of(self.client.post(reverse("admin:audit_finding_evidence", args=(pk,))).content)
        yield "evidence by command", text_of(export(self.finding, actor="test").raw)
        yield from self._of_jobs(code)
        yield from self._messages()
        for address in (f"/admin/search/?q={code}", f"/admin/?casino={self.casino.code}", f"{LIST}?q={code}"):
            yield address, self.client.get(address).content.decode()
        api = self.night.tenant
        yield "feed", api.ask("findings/feed?after=0").content.decode()
        yield "API", api.ask("findings?rule=payout-underpaid").content.decode()
        yield (
            "webhook",
            " ".join(body_of(each).decode() for each in feed.documents(feed.changes(self.casino.pk, 0, limit=1_000))),
        )
        yield "caches", " ".join(repr(cache.get(key.split(":", 2)[2])) for key in list(getattr(cache, "_cache", {})))

    def _of_jobs(self, code: str) -> Iterator[tuple[str, str]]:
        of_person = {"family": "player", "code": code}
        listed = {"findings": [self.finding.pk], "said": [], "language": "en"}
        jobs = [enqueue(JobKind.SUBJECT, self.officer, self.casino, of_person)]
        jobs += [
            enqueue(JobKind.EXPORT, self.officer, None, {**listed, "form": form}) for form in ("csv", "xlsx", "pdf")
        ]
        for job in jobs:
            runner.run(job.pk)
            job.refresh_from_db()
            assert job.file, job.error
            yield f"{job.kind} {job.params.get('form', '')}", text_of(bytes(job.file))

    def _messages(self) -> Iterator[tuple[str, str]]:
        """Yield the mails of now: of the night, and of cases that are late."""
        mail.outbox.clear()
        send(self.night.report)
        later = timezone.now() + timedelta(days=60)
        escalation.escalate_late(later)
        for officer, casino in escalation.officers_to_mail(later):
            case_mail.send_notices(officer, casino)
        yield "mails", " ".join(f"{each.subject} {each.body} {each.extra_headers}" for each in mail.outbox)
        files = [attachment[1] for each in mail.outbox for attachment in each.attachments]
        yield "attachments", " ".join(text_of(each) for each in files if isinstance(each, bytes))

    def with_the_name(self) -> set[str]:
        return {name for name, text in self.papers() if words_in(text)}


NAMED = {
    *("findings.csv", "findings.xlsx", "findings.pdf", "directory.csv", "directory.xlsx", "directory.pdf"),
    *("directory.json", "night.en.pdf", "night.fr.pdf", "payment order", "attachments"),
    *("night.all.xlsx", "night.croupiers.csv", "subject ", "export csv", "export xlsx", "export pdf"),
}
"""What shows a name before: of these, papers and files that are kept on the server are gone after, too."""

NEVER = {
    *(
        "findings.json",
        "night.all.json",
        "trail.csv",
        "trail.xlsx",
        "trail.pdf",
        "trail.json",
        "evidence",
        "feed",
        "API",
    ),
    *("evidence by command", "webhook", "caches", "mails"),
}


def test_no_paper_file_message_or_cache_has_the_name_of_who_was_erased() -> None:
    paid = Paid()
    SavedView.objects.create(officer=paid.officer, name="Quintefeuille", query="q=quintefeuille")
    before = paid.with_the_name()
    assert before >= NAMED
    assert not before & NEVER
    stored = Job.objects.filter(casino=paid.casino) | Job.objects.filter(officer=paid.officer)
    assert any(words_in(text_of(bytes(job.file))) for job in stored if job.file)
    for each in (paid.person, paid.croupier):
        erase(paid.keeper, each, reason=REASON)
    seal()
    assert not any(job.file for job in stored.all()), "papers that were kept on the server are gone"
    assert tables_with_the_name() == {}
    assert paid.with_the_name() == set()
    assert tables_with_the_name() == {}, "and none that was made since"
    orders = [text for name, text in paid.papers() if name == "payment order"]
    assert all(paid.person.code in each for each in orders), "a new paper has the id"
