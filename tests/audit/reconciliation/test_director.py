"""The director's page: who won what at the counted tables, the bridge, what is open and what is not known."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import translation

from audit.models import Casino, LoggedStream, NightReport, Person
from audit.presentation import money_in_prose, money_in_thousands
from audit.reconciliation import director, kept, pdf, sessions, win_lines
from audit.reconciliation.content import BRIDGE, figures_of
from audit.reconciliation.presentation import load_content
from audit.reconciliation.wording import money
from audit.register.in_force import digest_of, newest_readings
from settlement.night import figures
from tests import citus
from tests.audit.reconciliation.test_content import eventful_night

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def night(module_db: None) -> int:
    """The id of the report of an eventful night."""
    return eventful_night(Casino.objects.create(code="directed", name="Directed"))[-1].pk


@pytest.fixture
def report(night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=night)


@pytest.fixture
def content(report: NightReport) -> dict[str, Any]:
    return load_content(report)


def test_the_bridge_of_the_counted_tables_ends_at_their_win(content: dict[str, Any]) -> None:
    counted = director.counted_of(content)
    assert ([table["name"] for table in counted.tables], [table["name"] for table in counted.missing]) == (
        ["A1", "C1", "R1"],
        ["C2", "R2"],
    )
    steps = [counted.total(figure) for figure in BRIDGE]
    assert None not in steps
    assert sum(step or 0 for step in steps) == counted.total("W_acct")
    assert content["total"]["W_acct"] is None, "the night as a whole is not counted"
    *bars, last = director.waterfall_bars(content)
    assert sum(bar.amount or 0 for bar in bars) == last.amount


def test_a_night_without_a_count_has_a_bridge_without_its_end(content: dict[str, Any]) -> None:
    uncounted = [table for table in content["tables"] if table["W_acct"] is None]
    with translation.override("en"):
        bars = director.waterfall_bars({**content, "tables": uncounted})
        says = director.plain(director.sentence({**content, "tables": uncounted}))
    assert [bar.amount is None for bar in bars] == [False, False, False, True, True]
    assert {bar.value for bar in bars[-2:]} == {"not counted"}
    assert says.startswith("No table has been counted yet.")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            "The players won {won} at 3 tables counted out of 5. The house kept €1 that belongs to players and paid"
            " €4 too much. C2, R2 have not been counted: a win of {recorded} is expected, not included in the"
            " totals.",
        ),
        (
            "fr",
            "Les joueurs ont gagné {won} à 3 tables comptées sur 5. La banque a gardé 1 € dus à des joueurs et payé"
            " 4 € de trop. C2, R2 ne sont pas comptées : un gain de {recorded} est attendu, hors des totaux.",
        ),
    ],
)
def test_the_sentence_says_who_won_what_and_what_belongs_to_players(
    content: dict[str, Any], language: str, expected: str
) -> None:
    counted = director.counted_of(content)
    won = counted.total("W_acct")
    assert won is not None
    with translation.override(language):
        phrases = director.sentence(content)
        amounts = {
            "won": money_in_prose(abs(won), "EUR"),
            "recorded": money_in_prose(sum(table["W_rec"] for table in counted.missing), "EUR"),
        }
        says = director.plain(phrases)
    assert says.replace("\N{NO-BREAK SPACE}", " ") == expected.format(**amounts).replace("\N{NO-BREAK SPACE}", " ")
    assert [phrase.tone for phrase in phrases if phrase.tone] == ["strong", "player", "house"]
    assert "+" not in says
    assert "−" not in says


def test_paper_has_its_sentence_to_the_cent(report: NightReport, content: dict[str, Any]) -> None:
    with translation.override("en"):
        printed = "".join(each["text"] for each in pdf._data(report, "en")["sentence"])
        assert printed == director.plain(director.sentence(content, money))
    assert "€1.00 that belongs to players and paid €4.00 too much" in printed


def test_a_session_has_a_bridge_and_a_sentence_of_its_own(content: dict[str, Any]) -> None:
    for session in content["sessions"]:
        alone = director.of_session(content, session)
        with translation.override("en"):
            bars, says = director.waterfall_bars(alone), director.plain(director.session_sentence(alone))
            recorded = money_in_prose(abs(session["W_rec"]), "EUR")
        figures = figures_of(session)
        assert [bar.amount for bar in bars] == [figures.get(key) for key in (*BRIDGE, "W_acct")]
        won = session["W_acct"]
        assert bars[-1].kind == ("loss" if (won or 0) < 0 else "win"), "what the house lost is not in its colour"
        if won is None:
            assert says.startswith(f"Not counted: a {'win' if session['W_rec'] >= 0 else 'loss'} of {recorded}")
        else:
            winner = "house" if won >= 0 else "players"
            assert says.startswith(f"The {winner} won {money_in_prose(abs(won), 'EUR')} in this session.")
    kept, paid = director.errors_of(content)
    of_sessions = [director.errors_of(director.of_session(content, session)) for session in content["sessions"]]
    assert (sum(each[0] for each in of_sessions), sum(each[1] for each in of_sessions)) == (kept, paid) == (100, 400)


def test_what_is_open_not_counted_and_not_checked_is_listed_with_its_reason(content: dict[str, Any]) -> None:
    with translation.override("en"):
        still_open, not_counted, not_checked = director.listings(content)
    findings = next(line for line in content["lines"] if line["code"] == "findings")["rows"]
    with_case = [row for row in findings if row["verdict"] != "agrees" and row["facts"]["severity"] != "info"]
    assert still_open.count == sum(row["found"] for row in with_case)
    assert [bool(item.rule) for item in still_open.items] == [True] * director.ITEMS_SHOWN + [False]
    assert [(item.strong, item.text.split(";")[0]) for item in not_counted.items] == [
        ("C2", "box not counted"),
        ("R2", "no closing float"),
    ]
    texts = {(item.strong, item.text) for item in not_checked.items}
    assert ("C2", "2 events were declared lost") in texts
    assert not_checked.count == len(not_checked.items)


def test_what_is_for_information_is_not_open(content: dict[str, Any]) -> None:
    findings = next(line for line in content["lines"] if line["code"] == "findings")
    before = director.listings(content)[0].count
    facts = {"rule": "payout-put-right", "severity": "info", "hours": 0, "largest": []}
    findings["rows"].append({**findings["rows"][0], "verdict": "question", "found": 7, "facts": facts})
    assert director.listings(content)[0].count == before
    assert all(row["facts"]["severity"] != "info" for row in director.open_findings(content))


def test_a_question_is_open_though_it_is_for_information_and_comes_first_by_its_priority(
    content: dict[str, Any],
) -> None:
    findings = next(line for line in content["lines"] if line["code"] == "findings")
    before = director.listings(content)[0].count
    played = {"nights": 2, "staked": 76_000, "won": 903_200}
    question = {"table": "", "player": "p7", "by": "", "amount": 0, "is_overpaid": False, "second": False}
    largest = [{**question, "reference": "F-26-0912", "priority": 4, "croupier": "", "played": played}]
    facts = {"rule": "player-luck", "severity": "info", "hours": 0, "largest": largest, "cases": 1}
    for row in findings["rows"]:
        for each in row["facts"].get("largest", ()):
            each["priority"] = min(each.get("priority") or 1, 3)
    findings["rows"].append({**findings["rows"][0], "verdict": "question", "found": 7, "facts": facts})
    with translation.override("en"):
        still_open = director.listings(content)[0]
    assert still_open.count == before + 1
    first = still_open.items[0]
    assert (first.strong, first.text) == (
        "p7 won €9,032 on €760 in 2 nights",
        "Unexplained wins of a player. Priority 4 of 4.",
    )


def test_a_report_of_a_night_lists_what_is_open_by_priority(content: dict[str, Any]) -> None:
    levels = [each["priority"] for each in largest_of(content) if "priority" in each]
    assert len(set(levels)) > 1
    with translation.override("en"):
        shown = [item for item in director.listings(content)[0].items if item.rule]
    levels_shown = [int(found[1]) for item in shown if (found := re.search(r"Priority (\d) of 4\.", item.text))]
    assert levels_shown == sorted(levels, reverse=True)[: len(levels_shown)]
    assert len(levels_shown) == len(shown)


def test_what_is_open_says_who_owes_whom_how_much_at_which_table(content: dict[str, Any]) -> None:
    rows = [row for line in content["lines"] if line["code"] == "findings" for row in line["rows"]]
    named = [(row["facts"], each) for row in rows for each in row["facts"].get("largest", ())]
    assert named
    for facts, _each in named:
        facts["largest"] = [each for each in facts["largest"] if each["by"]]
    with translation.override("en"):
        still_open, *_others = director.listings(content)
    assert still_open.items[0].reference.startswith("DIR-")
    owing = [item for item in still_open.items if item.rule]
    assert owing
    for item in owing:
        assert re.match(r"The house owes .+ €|.+ (was overpaid|owes the house) €", item.strong), item.strong
        assert re.match(r"[A-Z]\d, ", item.text), item.text
    tables = {each["table"] for _facts, each in named}
    assert tables <= {table["name"] for table in content["tables"]} | {""}


def test_the_players_of_what_is_open_have_their_names_for_who_may_see_them(report: NightReport) -> None:
    incidents = [each for each in largest_of(load_content(report)) if each["player"]]
    code = incidents[0]["player"]
    Person.objects.create(casino=report.casino, kind="player", code=code, name="Bruno Keller")
    with translation.override("en"):
        plain, named = (director.listings(load_content(report, with_names=each))[0] for each in (False, True))
    assert not any("Bruno Keller" in item.text for item in plain.items)
    assert any(each["player"].startswith("Bruno Keller") for each in largest_of(load_content(report, with_names=True)))
    assert len(named.items) == len(plain.items)


def largest_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [row for line in content["lines"] if line["code"] == "findings" for row in line["rows"]]
    return [each for row in rows for each in row["facts"].get("largest", ())]


def test_a_report_of_before_incidents_were_named_lists_its_rules(content: dict[str, Any]) -> None:
    for line in content["lines"]:
        for row in line["rows"]:
            row["facts"].pop("largest", None)
    with translation.override("en"):
        still_open, *_others = director.listings(content)
    assert re.fullmatch(r"\d+ findings?", still_open.items[0].strong)
    assert still_open.items[-1].text.endswith("other findings")


def test_an_orderly_night_says_that_nothing_is_open(content: dict[str, Any]) -> None:
    tables = [table for table in content["tables"] if table["W_acct"] is not None]
    orderly = {**content, "tables": tables, "lines": []}
    with translation.override("en"):
        assert [listing.items for listing in director.listings(orderly)] == [[], [], []]
        assert "The house kept" not in director.plain(director.sentence(orderly))


def test_the_win_line_of_a_session_is_kept_with_its_figures(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    with monkeypatch.context() as patched:
        patched.setattr(sessions, "wager_lines", lambda *read: pytest.fail("a session was read"))
        lines = win_lines.win_lines(content["sessions"])
    recorded = {row["stream_id"]: figures_of(row)["W_rec"] for row in content["sessions"]}
    assert {stream_id: line[-1] for stream_id, line in lines.items()} == recorded
    assert max(map(len, lines.values())) > 2
    _are_of_before(monkeypatch)
    assert win_lines.win_lines(content["sessions"]) == lines


def test_a_session_of_more_wagers_than_are_noted_has_no_line(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = content["sessions"][0]
    readings = newest_readings(row["stream_id"])
    key = sessions.key_of(row["stream_id"], row["last_seq"], digest_of(readings))
    monkeypatch.setattr(figures, "WINS_NOTED", 3)
    monkeypatch.setattr(sessions, "WINS_NOTED", 3)
    assert sessions.sums_of(key, readings, None).win_line is None
    monkeypatch.undo()
    assert sessions.sums_of(key, readings, None).win_line


def _are_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have figures be those of a version that kept no lines with them."""
    monkeypatch.setattr(kept, "win_lines_of", lambda keys: {})


def test_the_win_line_of_a_session_of_before_ends_at_its_recorded_win_and_is_read_once(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    _are_of_before(monkeypatch)
    lines = win_lines.win_lines(content["sessions"])
    recorded = {row["stream_id"]: figures_of(row)["W_rec"] for row in content["sessions"]}
    assert {stream_id: line[-1] for stream_id, line in lines.items()} == recorded
    monkeypatch.setattr(sessions, "wager_lines", lambda *read: pytest.fail("it is kept"))
    assert win_lines.win_lines(content["sessions"]) == lines


def test_a_page_reads_no_more_events_for_lines_than_its_budget(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    _are_of_before(monkeypatch)
    first = LoggedStream.objects.filter(pk__in=[row["stream_id"] for row in content["sessions"]]).order_by("pk")[0]
    last_seqs = {row["stream_id"]: row["last_seq"] for row in content["sessions"]}
    monkeypatch.setattr(win_lines, "EVENTS_READ", last_seqs[first.pk])
    assert list(win_lines.win_lines(content["sessions"])) == [first.pk]


def test_what_somebody_else_put_into_the_cache_is_not_drawn(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    _are_of_before(monkeypatch)
    lines = win_lines.win_lines(content["sessions"])
    monkeypatch.setattr(cache, "get_many", lambda names: dict.fromkeys(names, "[1, 2, 3]"))
    assert win_lines.win_lines(content["sessions"]) == lines


@pytest.mark.parametrize(
    ("minor", "currency", "language", "expected"),
    [
        (86_400, "EUR", "en", "€864"),
        (86_450, "EUR", "en", "€864.50"),
        (100_000_000, "EUR", "en", "€1,000,000"),
        (-5_000, "EUR", "en", "−€50"),
        (0, "EUR", "en", "€0"),
        (86_400, "EUR", "fr", "864 €"),
        (120_000, "CAD", "fr", "1 200 $"),
        (700, "JPY", "en", "700"),
    ],
)
def test_money_in_prose_drops_round_cents(minor: int, currency: str, language: str, expected: str) -> None:
    with translation.override(language):
        written = re.sub(r"[\u00a0\u202f]", " ", money_in_prose(minor, currency))
    assert expected in written


@pytest.mark.parametrize(
    ("minor", "currency", "language", "expected"),
    [
        (1_324_400, "EUR", "en", "€13.2k"),
        (1_324_400, "EUR", "fr", "13,2 k€"),
        (-120_000_000, "EUR", "fr", "−1 200,0 k€"),
        (99_949, "EUR", "en", "€999"),
        (54_075, "EUR", "en", "€541"),
        (-54_075, "EUR", "en", "−€541"),
        (0, "EUR", "en", "€0"),
    ],
)
def test_a_calendar_has_thousands(minor: int, currency: str, language: str, expected: str) -> None:
    with translation.override(language):
        assert re.sub(r"[\u00a0\u202f]", " ", money_in_thousands(minor, currency)) == expected
