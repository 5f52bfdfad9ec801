"""*What if*: what stands beside what a run finds, rule by rule and stake by stake; who sees it; what it costs."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from audit.adjudication import replay, what_if_sums
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.charts.dumbbell import draw_dumbbell
from audit.desk.what_if.comparison import facts_of
from audit.desk.what_if.comparison_pdf import pdf_data
from audit.desk.what_if.comparison_sheets import comparison_workbook
from audit.event_store import audit_trail
from audit.exports.sheets import XLSX
from audit.models import Finding, Job, LoggedStream, Role, WhatIf, WhatIfFinding
from audit.presentation import finding_title
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db

AMERICAN = {"game": "american_roulette", "ruleset": "fr-american-roulette"}


def play(tenant: Tenant, *streams: str) -> None:
    """Play a coup of American roulette: a zero takes rouge, unless the text is read as giving half of it back."""
    coup = [
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1000, "player": "Anna"}),
        ("ball.settled", {"pocket": "0"}),
        ("ball.settled", {"pocket": "1"}),
    ]
    for stream in streams:
        assert tenant.post(stream, numbered(tenant.opener(stream, **AMERICAN, observes=[]), *coup)).status_code == 201
        while (step := replay.advance(tenant.stream(stream).stream_id)) and step.behind:
            pass


def run(tenant: Tenant, casino: str | None = None, **readings: object) -> WhatIf:
    what_if = what_if_runs.begin(
        f"run-{tenant.code}", readings=readings, selection=Selection(casino=casino or tenant.code), actor="test"
    )
    for stream_id in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, stream_id)
    what_if_runs.end(what_if)
    return what_if


def desk_of(tenant: Tenant, role: Role = Role.OFFICER, language: str = "en") -> Client:
    client = Client(headers={"accept-language": language})
    sign_in(client, hired(tenant, role, f"{role}-{tenant.code}"))
    return client


def shown(client: Client, what_if: WhatIf, **query: str) -> str:
    response = client.get(reverse("admin:audit_whatif_change", args=(what_if.pk,)), query)
    assert response.status_code == 200
    return response.content.decode()


def read(page: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


def test_each_side_has_all_its_findings_and_the_money_that_it_finds_due() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    compared = {each.rule: each for each in what_if_sums.by_rule(what_if)}
    before = Counter(Finding.objects.standing().filter(casino=tenant.casino).values_list("rule", flat=True))
    after = Counter(WhatIfFinding.objects.filter(what_if=what_if).values_list("rule", flat=True))
    assert before != after
    assert {rule: each.before.findings for rule, each in compared.items() if each.before.findings} == before
    assert {rule: each.after.findings for rule, each in compared.items() if each.after.findings} == after
    owed = WhatIfFinding.objects.filter(what_if=what_if, owed__by="house").exclude(difference=0)
    [all_rules] = what_if_sums.in_all(compared.values())
    assert all_rules.after.to_players_minor == sum(each.owed["amount"] for each in owed) > 0


def test_the_page_says_what_would_differ_for_whom() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    text = read(shown(desk_of(tenant), what_if))
    [compared] = what_if_sums.in_all(what_if_sums.by_rule(what_if))
    assert f"In force {compared.before.findings} finding" in text
    assert f"What if {compared.after.findings} finding" in text
    assert compared.after.to_players_minor == 500
    assert re.search(r"Owed to players €5 more", text)
    assert "€5 more to the player" in text


def test_a_finding_that_differs_has_its_session_in_words_and_its_reference_on_hovering() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    [change] = what_if_runs.difference(what_if)
    stream = LoggedStream.objects.get(pk=change.stream_id)
    page = shown(desk_of(tenant), what_if)
    assert f'title="r #{change.seq}">Table {stream.table.code} · Night of ' in page


def test_a_rule_leads_to_the_stakes_behind_it_alone_and_a_rule_that_there_is_not_to_all() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    client = desk_of(tenant)
    assert {change.rule for change in what_if_runs.difference(what_if)} == {"payout-missing"}

    def rows(**query: str) -> int:
        return shown(client, what_if, **query).count("See the coup")

    assert rows(rule="payout-missing") == rows(rule="no-such-rule") == rows() == 1
    assert rows(rule="payout-overpaid") == 0


def test_a_reading_of_the_register_is_proposed_there_by_who_keeps_it() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    address = f'href="{reverse("admin:audit_registerentry_add")}?reading=zero_rule"'
    assert address in shown(desk_of(tenant, Role.SECOND), what_if)
    assert address not in shown(desk_of(tenant, Role.AUDITOR), what_if)


def test_of_a_run_over_every_casino_an_officer_sees_the_sums_of_their_own() -> None:
    one, other = Tenant(), Tenant()
    play(one, "r")
    play(other, "r", "s")
    what_if = what_if_runs.begin(f"all-{one.code}", readings={"zero_rule": "half"}, selection=Selection(), actor="test")
    for tenant, stream in ((one, "r"), (other, "r"), (other, "s")):
        what_if_runs.replay_one(what_if, tenant.stream(stream).stream_id)
    [own] = what_if_sums.in_all(what_if_sums.by_rule(what_if, [one.casino.pk]))
    assert own.after.to_players_minor == 500
    page = shown(desk_of(one), what_if)
    assert f"What if {own.after.findings} finding" in read(page)
    assert "€5 more" in read(page)
    assert 'title="r #' in page
    assert 'title="s #' not in page


def test_the_page_of_another_casino_is_not_there() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    address = reverse("admin:audit_whatif_change", args=(what_if.pk,))
    assert desk_of(Tenant()).get(address).status_code in (403, 404)


def test_the_list_offers_the_readings_and_starts_a_run_of_the_one_that_is_chosen() -> None:
    tenant = Tenant()
    client = desk_of(tenant)
    page = client.get(reverse("admin:audit_whatif_changelist"), {"reading": "release_value"})
    assert page.status_code == 200
    assert '<input type="hidden" name="reading" value="release_value">' in page.content.decode()
    assert "The same events judged twice." in page.content.decode()
    start = reverse("admin:audit_job_start", args=("what_if",))
    form = {"casino": tenant.code, "name": "freed whole", "reading": "release_value"}
    client.post(start, form)
    assert not WhatIf.objects.filter(casino=tenant.casino).exists(), "no value was given"
    client.post(start, form | {"value": "full"})
    assert WhatIf.objects.get(casino=tenant.casino).readings == {"release_value": "full"}
    assert Job.objects.filter(casino=tenant.casino).count() == 1


@pytest.mark.parametrize(
    "reading", ["no_such_reading", "rubbing_the_dice", pytest.param("..", marks=pytest.mark.faults), ""]
)
def test_a_reading_that_may_not_be_set_is_not_offered(reading: str) -> None:
    page = desk_of(Tenant()).get(reverse("admin:audit_whatif_changelist"), {"reading": reading})
    assert page.status_code == 200
    assert 'name="reading"' not in page.content.decode()


def test_who_may_not_start_a_run_sees_no_form() -> None:
    page = desk_of(Tenant(), Role.AUDITOR).get(reverse("admin:audit_whatif_changelist"))
    assert "Judge again" not in page.content.decode()


@pytest.mark.django_db(transaction=True)  # as a request is, of which something is kept
def test_the_page_costs_the_same_with_more_streams() -> None:
    one, other = Tenant(), Tenant()
    play(one, "r")
    play(other, "r", "s", "t")

    def queries(tenant: Tenant) -> int:
        client, what_if = desk_of(tenant), run(tenant, zero_rule="half")
        shown(client, what_if)
        with CaptureQueriesContext(connection) as captured:
            shown(client, what_if)
        return len(captured)

    assert queries(one) == queries(other) <= 16


def test_the_page_is_in_french() -> None:
    tenant = Tenant()
    play(tenant, "r")
    text = read(shown(desk_of(tenant, language="fr"), run(tenant, zero_rule="half")))
    assert "Selon une autre lecture" in text
    assert "de plus pour le joueur" in text
    assert "Zéro sur une chance simple" in text
    assert "la moitié" in text
    assert "zero_rule" not in text.split("Quelle lecture")[0], "a code is no word"


@pytest.mark.parametrize(
    ("language", "words", "clauses"),
    [("en", "halved by each further zero", "art. 54 last al."), ("fr", "divisée par deux", "art. 54 dernier al.")],
)
def test_the_values_of_a_reading_and_its_clauses_are_offered_in_words(language: str, words: str, clauses: str) -> None:
    client = desk_of(Tenant(), language=language)
    page = client.get(reverse("admin:audit_whatif_changelist"), {"reading": "release_value"}).content.decode()
    select = page.split('<select id="judge-as"')[1].split("</select>")[0]
    assert re.findall(r'<option value="(\w+)"', select) == ["halving", "full"]
    assert words in select
    assert clauses in page
    other = client.get(reverse("admin:audit_whatif_changelist"), {"reading": "throw_delay_s"}).content.decode()
    assert '<input id="judge-as"' in other


@pytest.mark.parametrize(("before", "after", "kind"), [(1, 4, "more"), (4, 1, "fewer"), (4, 4, "same"), (0, 0, "same")])
def test_a_dumbbell_says_which_way_it_goes(before: int, after: int, kind: str) -> None:
    drawn = draw_dumbbell(before, after, 4)
    assert f'class="chart dumbbell {kind}"' in drawn
    places = [float(x) for x in re.findall(r'cx="([\d.]+)"', drawn)]
    assert places == [8 + 184 * number / 4 for number in (before, after)]


def test_the_comparison_is_a_pdf_of_what_the_page_shows() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    client = desk_of(tenant)
    address = reverse("admin:audit_whatif_file", args=(what_if.pk, "pdf"))
    shown_page = shown(client, what_if)
    page = read(shown_page)
    answer = client.get(address)
    assert (answer["Content-Type"], answer.content[:5]) == ("application/pdf", b"%PDF-")
    assert answer.content == client.get(address).content, "the same bytes for the same data"
    data = pdf_data(what_if, what_if_sums.by_rule(what_if), what_if_runs.difference(what_if))
    assert ["Zero on a simple chance", "half of it is lost"] in data["facts"]
    for part in data["verdicts"][0]:
        assert part["name"] in page
        assert part["value"] in page
        assert part["note"] in page
    by_rule, by_finding = data["parts"]
    assert len(by_rule["rows"]) == len(what_if_sums.by_rule(what_if)) > 0
    for title, before, after, *_money in by_rule["rows"]:
        assert f"{title} {before} {after}" in page
    assert len(by_finding["rows"]) == len(list(what_if_runs.difference(what_if))) > 0
    assert all(f'title="{row[1]}"' in shown_page and row[2] in page for row in by_finding["rows"])


def test_the_files_of_a_run_say_of_which_days_and_tables_it_is() -> None:
    of_january = {"first_day": "2025-12-31", "last_day": "2026-01-02", "tables": ["T1", "T2"]}
    with translation.override("en"):
        facts = dict(facts_of(WhatIf(readings={}, selection=of_january, streams=2, started_at=timezone.now())))
    assert facts["gaming days from"] == "31 Dec 2025"
    assert facts["up to"] == "2 Jan 2026"
    assert facts["tables"] == "T1, T2"


def test_a_pdf_says_how_many_changes_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    play(tenant, "r", "q")
    what_if = run(tenant, zero_rule="half")
    changes = list(what_if_runs.difference(what_if))
    monkeypatch.setattr("audit.desk.what_if.comparison_pdf.MAX_PRINTED", 1)
    part = pdf_data(what_if, what_if_sums.by_rule(what_if), iter(changes))["parts"][1]
    assert len(part["rows"]) == 1
    assert str(len(changes) - 1) in part["after"]


def test_a_run_of_another_casino_is_no_pdf() -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    address = reverse("admin:audit_whatif_file", args=(what_if.pk, "pdf"))
    assert desk_of(Tenant()).get(address).status_code == 404


def cells_of(body: bytes, number: int) -> list[list[str]]:
    """Return the rows of the sheet ``number``, from 1, of a workbook: every cell as text, of a number its value."""
    with zipfile.ZipFile(io.BytesIO(body)) as book:
        shared = re.findall(r"<si><t[^>]*>(.*?)</t></si>", book.read("xl/sharedStrings.xml").decode(), re.DOTALL)
        sheet = book.read(f"xl/worksheets/sheet{number}.xml").decode()
    rows = re.findall(r"<row .*?</row>", sheet, re.DOTALL)
    cell = re.compile(r'<c r="\w+"(?: s="\d+")?( t="s")?><v>(.*?)</v></c>')
    return [[unescape(shared[int(value)]) if text else value for text, value in cell.findall(row)] for row in rows]


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.faults), "fr"])
def test_the_comparison_is_a_workbook_whose_amounts_are_numbers_and_an_entry_of_the_trail(language: str) -> None:
    tenant = Tenant()
    play(tenant, "r")
    what_if = run(tenant, zero_rule="half")
    client = desk_of(tenant, language=language)
    address = reverse("admin:audit_whatif_file", args=(what_if.pk, "xlsx"))
    assert f'href="{address}"' in shown(client, what_if)
    answer = client.get(address)
    assert answer["Content-Type"] == XLSX
    assert f'filename="what-if-{what_if.pk}.xlsx"' in answer["Content-Disposition"]
    assert answer.content == client.get(address).content, "the same bytes for the same data"
    tried, by_rule, by_finding = (cells_of(answer.content, number) for number in (1, 2, 3))
    assert {
        "en": ["Zero on a simple chance", "half of it is lost"],
        "fr": ["Zéro sur une chance simple", "la moitié est perdue"],
    }[language] in tried
    [missing] = [row for row in by_rule if row[0] == finding_title_in(language, "payout-missing")]
    assert missing[1:] == ["0", "1", "EUR", "0", "5", "0", "0"]
    [heading, change] = by_finding
    assert change[1:3] == ["r", str(next(iter(what_if_runs.difference(what_if))).seq)]
    assert change[-2:] == ["5", "EUR"]
    assert len(heading) == 9
    entries = [
        each
        for each in audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
        if each.type == "difference.exported"
    ]
    assert [each.data["form"] for each in entries] == ["xlsx", "xlsx"]


def finding_title_in(language: str, rule: str) -> str:
    with translation.override(language):
        return finding_title(rule)


def test_a_workbook_says_how_many_changes_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    play(tenant, "r", "q")
    what_if = run(tenant, zero_rule="half")
    monkeypatch.setattr("audit.desk.what_if.comparison_sheets.MAX_ROWS", 1)
    body = comparison_workbook(what_if, what_if_sums.by_rule(what_if), what_if_runs.difference(what_if))
    _heading, _change, last = cells_of(body, 3)
    assert last == ["1 further finding that differs is in the CSV."]
