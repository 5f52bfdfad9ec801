"""Names at the desk: beside ids for officers who may see them, on every page and paper; never in what is stored."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from audit.adjudication.replay import advance
from audit.event_store import audit_trail, read
from audit.evidence.export import export
from audit.models import Casino, Finding, GamingTable, LoggedStream, NightReport, NightSubscriber, Person, Role
from audit.notifications.mail import send
from audit.persons.directory import Directory, players
from audit.persons.erasure import erase
from audit.reconciliation import runs, sheets
from audit.simulation import play
from audit.simulation.people import fill_directory
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


def _next_casino() -> Tenant:
    """Return a casino whose code is the same however many tests came before: a simulated night is by its casino."""
    return Tenant(f"named-{Casino.objects.filter(code__startswith='named-').count() + 1}")


@dataclass
class NamedNight:
    """A simulated night whose people are in the directory, with its findings and its report."""

    tenant: Tenant = field(default_factory=_next_casino)
    irregularities: tuple[str, ...] = ("payout-overpaid", "colour-shared")

    def __post_init__(self) -> None:
        self.casino: Casino = self.tenant.casino
        GamingTable.objects.get_or_create(casino=self.casino, code="A1")
        self.played = play(
            "fr-american-roulette",
            casino=self.casino.code,
            code="A1",
            gaming_day=DAY,
            seed=1,
            coups=45,
            irregularities=self.irregularities,
        )
        self.stream_id = record(self.casino, self.played.events)
        record(self.casino, count(self.casino, {self.played.stream: buy_ins(self.played.events)}))
        while (progress := advance(self.stream_id)) is not None and progress.behind:
            pass
        seal()
        fill_directory(self.casino, [self.played], seed=1)
        (self.report,) = runs.reconcile(self.casino, DAY, actor="test", now=MORNING)

    @property
    def names(self) -> list[str]:
        return list(Person.objects.filter(casino=self.casino).values_list("name", flat=True))

    def erase_all(self) -> None:
        """Erase everybody from the directory of the casino."""
        keeper = hired(self.tenant, Role.ADMINISTRATOR, "keeper")
        for person in Person.objects.filter(casino=self.casino):
            erase(keeper, person, reason="asked for it")

    @property
    def finding(self) -> Finding:
        """A finding at a payment."""
        return Finding.objects.filter(stream_id=self.stream_id, rule="payout-overpaid", superseded_at=None)[0]

    def pages(self) -> dict[str, str]:
        """Return the addresses of the pages that name persons."""
        night = self.report.pk
        return {
            "finding": f"/admin/audit/finding/{self.finding.pk}/change/",
            "events": f"/admin/audit/loggedstream/{self.stream_id}/events/",
            "table": f"/admin/audit/loggedstream/{self.stream_id}/table/?at=60",
            "night": reverse("admin:audit_nightreport_change", args=(night,)),
            "bank": reverse("admin:audit_nightreport_session", args=(night, self.stream_id)) + "?line=B",
            "month": reverse(
                "admin:audit_nightreport_month", args=(self.casino.pk, DAY.year, DAY.month, self.report.currency)
            ),
        }


def shown(client: Client, address: str) -> str:
    response = client.get(address, headers={"accept-language": "fr"})
    assert response.status_code == 200, address
    # json_script escapes what is not ASCII no differently from HTML: only <, > and & are of interest.
    return response.content.decode()


@pytest.mark.parametrize("page", ["overview", "night", "month"])
@pytest.mark.parametrize("role", [Role.OFFICER, pytest.param(Role.AUDITOR, marks=pytest.mark.faults)])
def test_a_croupier_who_is_named_leads_to_his_page_of_the_month(night: NamedNight, page: str, role: Role) -> None:
    reader = client_of(hired(night.tenant, role, "reader"))
    link = reverse("admin:audit_person_croupier", args=(night.casino.pk, night.finding.croupier))
    assert f'href="{link}?month={DAY:%Y-%m}"' in shown(reader, {"overview": "/admin/", **night.pages()}[page])


def test_a_page_has_the_id_of_a_person_on_hovering_and_on_their_own_page_alone(night: NamedNight) -> None:
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    own = reverse("admin:audit_person_player", args=(night.casino.pk, night.finding.player))
    addresses = night.pages() | {"player": own, "overview": "/admin/", "queue": "/admin/audit/finding/?queue=open"}
    for page, address in addresses.items():
        text = re.sub(r'<[^>]* title="[^"]*"', "", shown(officer, address))
        for person in Person.objects.filter(casino=night.casino):
            assert f"{person.name} ({person.code})" not in text, page
    named = Person.objects.get(casino=night.casino, code=night.finding.player)
    page = shown(officer, addresses["finding"])
    assert f'title="{escape(named.name)} ({named.code})"' in page
    assert f'<span class="ref">{named.code}</span>' in shown(officer, own)


def test_two_persons_of_one_name_are_told_apart_by_their_ids(night: NamedNight) -> None:
    one, other = Person.objects.filter(casino=night.casino, kind="player").order_by("code")[:2]
    Person.objects.filter(pk__in=(one.pk, other.pk)).update(name="Jean Martin")
    known = players([one.code, other.code])
    page = Directory.of(night.casino.pk, known).for_page()
    assert [page.player(code) for code in (one.code, other.code)] == [
        f"Jean Martin ({one.code})",
        f"Jean Martin ({other.code})",
    ]
    assert Directory.of(night.casino.pk, players([one.code])).for_page().player(one.code) == "Jean Martin"


def names_in(text: str, names: list[str]) -> set[str]:
    return {name for name in names if name in text or json.dumps(name)[1:-1] in text}


def test_every_page_shows_names_to_those_who_may_see_them_and_ids_to_the_others(night: NamedNight) -> None:
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor"))
    for page, address in night.pages().items():
        assert names_in(shown(officer, address), night.names), page
        assert not names_in(shown(auditor, address), night.names), page
        assert re.search(r"\b(p0\d{3}|croupier-1)\b", shown(auditor, address)), page


def test_every_page_asks_for_its_names_once(night: NamedNight) -> None:
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    for page, address in night.pages().items():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            shown(officer, address)
        wanted = [each["sql"] for each in queries.captured_queries if "audit_person" in each["sql"]]
        assert len(wanted) == 1, page


def test_the_names_of_another_casino_never_show(night: NamedNight) -> None:
    other = Tenant()
    Person.objects.bulk_create(
        Person(casino=other.casino, code=each.code, kind=each.kind, name=f"Foreign {each.code}")
        for each in Person.objects.filter(casino=night.casino)
    )
    night.erase_all()
    both = hired(night.tenant, Role.OFFICER, "both")
    both.memberships.create(casino=other.casino, role=Role.OFFICER)
    for page, address in night.pages().items():
        assert "Foreign" not in shown(client_of(both), address), page


def test_a_hostile_name_is_only_text(night: NamedNight) -> None:
    Person.objects.filter(casino=night.casino).update(name=HOSTILE)
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    for page, address in night.pages().items():
        text = shown(officer, address)
        assert HOSTILE not in text, page
        assert "&lt;script&gt;alert(1)" in text or "\\u003Cscript\\u003Ealert(1)" in text, page


def test_the_pages_of_a_finding_name_its_players_in_the_message_too(night: NamedNight) -> None:
    finding = Finding.objects.filter(stream_id=night.stream_id, rule="colour-shared", superseded_at=None)[0]
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    page = shown(officer, f"/admin/audit/finding/{finding.pk}/change/")
    message = re.search(r'<p class="message">(.*?)</p>', page, re.DOTALL)
    assert message
    owner = Person.objects.get(casino=night.casino, code=finding.facts["owner"])
    assert f"le joueur {owner.name}" in message[1]
    assert owner.code not in message[1], "on a page a name stands alone"
    listed = officer.post("/admin/audit/finding/export/csv/?rule=colour-shared").content.decode()
    assert f"player {owner.name} ({owner.code})" in listed
    finding.refresh_from_db()
    assert not names_in(str(finding.facts), night.names)


def test_the_files_of_a_night_have_names_at_the_desk_and_ids_elsewhere(night: NamedNight) -> None:
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor"))
    croupier = Person.objects.get(casino=night.casino, code="croupier-1").name

    def csv_of(client: Client) -> str:
        address = reverse("admin:audit_nightreport_file", args=(night.report.pk, "croupiers", "csv"))
        return client.get(address).content.decode()

    assert f"{croupier} (croupier-1)" in csv_of(officer)
    assert "\r\ncroupier-1," in csv_of(auditor)
    workbook = reverse("admin:audit_nightreport_file", args=(night.report.pk, "all", "xlsx"))
    with zipfile.ZipFile(io.BytesIO(officer.get(workbook).content)) as book:
        assert f"{croupier} (croupier-1)" in book.read("xl/sharedStrings.xml").decode()
    document = reverse("admin:audit_nightreport_file", args=(night.report.pk, "all", "json"))
    assert not names_in(officer.get(document).content.decode(), night.names)
    path = f"/reconciliations/{night.casino.code}/{DAY}"
    for answer in (night.tenant.get(path), night.tenant.get(f"{path}/csv?table=croupiers")):
        assert not names_in(answer.content.decode(), night.names)


def test_a_subscriber_gets_the_names_that_their_role_shows(night: NamedNight) -> None:
    for role in (Role.OFFICER, Role.AUDITOR):
        receiver = hired(night.tenant, role, role)
        receiver.email = f"{role}@example.org"
        receiver.save()
        NightSubscriber.objects.create(casino=night.casino, officer=receiver, language="fr")
    send(night.report)
    by_address = {message.to[0]: message.attachments[0][1] for message in mail.outbox}
    from audit.reconciliation.pdf import as_pdf

    assert by_address["officer@example.org"] == as_pdf(night.report, "fr", with_names=True)
    assert by_address["auditor@example.org"] == as_pdf(night.report, "fr")
    assert by_address["officer@example.org"] != by_address["auditor@example.org"]


def test_no_name_is_stored_with_an_event_a_finding_a_night_or_a_proof(night: NamedNight) -> None:
    officer = hired(night.tenant, Role.OFFICER, "officer")
    for address in night.pages().values():
        shown(client_of(officer), address)
    client_of(officer).get("/admin/audit/person/?q=" + night.names[0])
    streams = LoggedStream.objects.filter(casino=night.casino)
    stored = b"".join(raw for stream in streams for _seq, raw in read.whole(stream.stream_id)).decode()
    assert "persons.listed" in stored, "the audit trail is among the streams"
    report = NightReport.objects.get(pk=night.report.pk)
    findings = str(list(Finding.objects.filter(casino=night.casino).values()))
    content = json.dumps([report.parsed_content(), report.sheet, sheets.document(report)], ensure_ascii=False)
    bundle = export(night.finding, actor="test").raw
    with zipfile.ZipFile(io.BytesIO(bundle)) as files:
        proofs = b"".join(files.read(name) for name in files.namelist()).decode("utf-8", "replace")
    for text in (stored, findings, content, proofs):
        assert not names_in(text, night.names)


def test_a_file_of_a_night_is_the_same_whoever_is_in_the_directory_where_it_leaves_the_casino(
    night: NamedNight,
) -> None:
    before = sheets.as_json(night.report), sheets.as_xlsx(night.report), night.report.digest
    night.erase_all()
    report = NightReport.objects.get(pk=night.report.pk)
    assert (sheets.as_json(report), sheets.as_xlsx(report), report.digest) == before


def test_who_looks_at_somebody_is_in_the_audit_trail_by_id(night: NamedNight) -> None:
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    person = Person.objects.get(casino=night.casino, code="croupier-1")
    assert person.name in shown(officer, f"/admin/audit/person/{person.pk}/change/")
    entries = audit_trail.entries_of(night.casino.pk, datetime.now(UTC).date())
    viewed = [entry.data for entry in entries if entry.type == "person.viewed"]
    assert viewed == [{"id": person.pk, "named": "croupier-1"}]
