"""The navigation: what each role finds there, how much waits, and where on it a page is."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from audit.casework import actions
from audit.desk.chosen_casino import Choice
from audit.desk.menu import tabs
from audit.desk.navigation import PAGES, Link, Navigation
from audit.jobs.queue import enqueue
from audit.models import Casino, JobKind, Officer, Role
from tests.audit.casework.test_actions import Desk, client_of, hired, sign_in

pytestmark = pytest.mark.django_db

EVERYTHING = [
    *("Overview", "Inbox", "Findings", "To approve", "Nights", "Questions"),
    *("Tables", "People", "Rules and law", "What if"),
    *("Record and proofs", "Exports", "Officers’ trail", "Settings"),
]
EN_FRANCAIS = [
    *("Vue d’ensemble", "Boîte de réception", "Constats", "À approuver", "Nuits", "Questions"),
    *("Tables", "Personnes", "Règles et textes", "Et si"),
    *("Registre et preuves", "Exports", "Journal des agents", "Réglages"),
]


def links(client: Client, address: str = "/admin/", language: str = "en") -> dict[str, str]:
    """Return the links of the navigation by title, each with its address."""
    page = client.get(address, headers={"accept-language": language}).content.decode()
    menu = page[page.index('id="menu"') : page.index("</aside>")]
    found = re.findall(r'<a class="n(?: sub)?" href="([^"]+)"[^>]*>(?:<svg.*?</svg>)?([^<]+)', menu)
    return {title: address for address, title in found}


def current(client: Client, address: str) -> list[str]:
    page = client.get(address, headers={"accept-language": "en"}).content.decode()
    menu = page[page.index('id="menu"') : page.index("</aside>")]
    return re.findall(r'<a class="n[^"]*"[^>]* aria-current="page">(?:<svg.*?</svg>)?([^<]+)', menu)


@pytest.mark.parametrize(
    ("role", "missing"),
    [
        (Role.SECOND, set()),
        pytest.param(Role.DIRECTOR, set(), marks=pytest.mark.faults),
        (Role.AUDITOR, {"People", "To approve", "Inbox"}),
        (Role.ADMINISTRATOR, set(EVERYTHING) - {"Overview", "To approve", "People", "Settings"}),
    ],
)
def test_a_role_finds_the_sections_that_it_may_open_and_no_other(desk: Desk, role: Role, missing: set[str]) -> None:
    client = client_of(hired(desk.tenant, role, "anna"))
    found = links(client)
    assert list(found) == [title for title in EVERYTHING if title not in missing]
    assert {client.get(address).status_code for address in found.values()} == {200}


def test_the_sections_have_their_french_names(desk: Desk) -> None:
    assert list(links(client_of(desk.first), language="fr")) == EN_FRANCAIS


def test_a_tab_has_the_short_title_of_its_page_and_the_whole_one_without() -> None:
    """Whatever its icon is."""
    links = (
        Link("Everything that waits", "overview", "/admin/", False, 0, False, True, short="Waits"),
        Link("The month", "overview", "/admin/month/", False, 0, False, True),
    )
    written = tabs(Navigation((("", links),), Choice("", [], None), "auditor", 0, 0, 0))
    assert re.findall(r"</svg>([^<]+)</a>", written) == ["Waits", "The month"]


def test_the_tab_of_findings_is_marked_on_the_pages_of_complaints(desk: Desk) -> None:
    page = client_of(desk.first).get("/admin/audit/complaint/", headers={"accept-language": "en"}).content.decode()
    below = page[page.index('class="tabs-b"') :]
    assert re.findall(r'<a href="([^"]+)" aria-current="true">', below) == ["/admin/audit/finding/?queue=open"]


def test_the_tabs_have_their_french_names(desk: Desk) -> None:
    page = client_of(desk.first).get("/admin/", headers={"accept-language": "fr"}).content.decode()
    below = page[page.index('class="tabs-b"') :]
    below = below[: below.index("</nav>")]
    assert re.findall(r"</svg>([^<]+)", below)[:4] == ["Accueil", "Constats", "Nuits", "Tables"]


def test_an_open_incident_is_counted_until_it_is_closed(desk: Desk) -> None:
    client = client_of(desk.first)
    before = len(desk.findings)
    assert f"Findings<b>{before}</b>" in client.get("/admin/audit/job/").content.decode()
    desk.proposed_by(desk.first)
    actions.perform(desk.case.pk, desk.second, "approve")
    page = client.get("/admin/audit/job/").content.decode()
    assert (f"Findings<b>{before - 1}</b>" if before > 1 else "Findings</a>") in page


def test_a_page_is_marked_in_its_section_and_settings_open_within_theirs() -> None:
    Casino.objects.create(code="deauville", name="Deauville", time_zone="Europe/Paris")
    chief = Officer.objects.create_superuser("chief-of-navigation")
    client = Client()
    sign_in(client, chief)
    assert current(client, "/admin/") == ["Overview"]
    assert current(client, "/admin/audit/finding/groups/") == ["Findings"]
    assert current(client, reverse("admin:record_proof")) == ["Record and proofs"]
    assert current(client, reverse("admin:audit_job_changelist")) == ["Exports"]
    assert current(client, reverse("admin:audit_failedrun_changelist")) == ["Failed runs"]
    assert current(client, reverse("admin:audit_deadline_changelist")) == ["Deadlines"]
    assert "Deadlines" not in links(client)


def test_verifications_stand_under_the_record_and_other_jobs_under_exports(desk: Desk) -> None:
    client = client_of(desk.first)
    address = reverse("admin:audit_job_changelist")
    verification = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    export = enqueue(JobKind.EXPORT, desk.first, desk.tenant.casino, {"findings": [], "form": "csv"})
    assert current(client, f"{address}?kind__exact=verify") == ["Verifications"]
    assert current(client, reverse("admin:audit_job_change", args=(verification.pk,))) == ["Verifications"]
    assert current(client, reverse("admin:audit_job_change", args=(export.pk,))) == ["Exports"]
    assert current(client, f"{address}?kind__exact=export") == ["Exports"]
    page = client.get(f"{address}?kind__exact=verify", headers={"accept-language": "en"}).content.decode()
    assert "<title>Verifications · Cabochon</title>" in page
    assert re.search(r"<h1>\s*Verifications\s*</h1>", page)
    crumbs = re.search(r'<div class="breadcrumbs">(.*?)</div>', page)
    assert crumbs is not None
    assert re.sub("<[^>]+>", "", crumbs[1]) == "Record and proofs › Verifications"
    of_job = client.get(reverse("admin:audit_job_change", args=(verification.pk,)), headers={"accept-language": "en"})
    assert f'href="{address}?kind__exact=verify">Verifications</a> ›' in of_job.content.decode()


def test_the_settings_list_their_own_sections_and_no_link_of_the_navigation_stands_twice() -> None:
    client = Client()
    sign_in(client, Officer.objects.create_superuser("chief-of-navigation"))
    contents = client.get(reverse("admin:app_list", args=("audit",)), headers={"accept-language": "en"})
    shown = contents.content.decode()
    menu = shown[shown.index('id="menu"') : shown.index("</aside>")]
    assert 'class="n sub"' not in menu, "the page has them beside its sections"
    assert 'href="#tables">Tables' in shown
    for page in (each for _title, group in PAGES for section in group for each in (section, *section.children)):
        address = reverse(f"admin:{page.name}", args=("audit",) if page.name == "app_list" else ())
        text = client.get(address + page.query).content.decode()
        found = re.findall(r'<a class="n(?: sub)?" href="([^"]+)"', text)
        assert len(found) == len(set(found)), page.name


def test_who_is_not_signed_in_sees_no_navigation() -> None:
    page = Client().get("/admin/login/").content.decode()
    assert 'id="menu"' not in page
    assert 'name="language"' in page
