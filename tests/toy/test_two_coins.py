"""The toy ruleset, end to end: adjudicated, reckoned, simulated, recorded, replayed, found and drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from django.test import Client
from two_coins.ruleset import BETS, NAME, TEXT, TOY, CoinsTossed, TossVoided

from audit.adjudication.replay import advance
from audit.adjudication.stream_reader import corrections_of
from audit.api.event_schemas import event_schemas
from audit.models import Officer
from audit.simulation import Night, play
from settlement import RULESETS, ShapeError, adjudicate, coverage, decode
from settlement.catalogue import BET_LABELS, RULES
from settlement.codec import decode_canonical_all
from settlement.eprocess.channels import of_evening, of_session
from settlement.events import TYPES
from settlement.law import LAW_TEXTS
from settlement.night.chances import Priced, Readings
from settlement.night.edges import edges
from settlement.night.figures import SessionProjection
from settlement.persons.session import PersonsProjection
from settlement.provisions import PROVISIONS
from settlement.rulesets import register, registered
from tests.audit.tables import Tenant
from tests.settlement import tapes
from tests.settlement.streams import event, opener

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-ruleset.md"


@pytest.fixture
def toy() -> Iterator[None]:
    with registered(TOY):
        yield


def session(*rest: tuple[str, dict[str, object]], **data: object) -> list[bytes]:
    """Return a session of two coins: its opener, then an event a second for each type and data."""
    first = opener("coins", NAME, game="two_coins", **data)
    return [first, *(event("coins", seq, kind, **fields) for seq, (kind, fields) in enumerate(rest, start=2))]


def night(*irregularities: str, casino: str = "demo", coups: int = 30) -> Night:
    day = date(2026, 11, 19)
    return play(
        NAME, casino=casino, code="T1", gaming_day=day, seed=3, coups=coups, irregularities=list(irregularities)
    )


# The law


#  toss         deux_piles   deux_faces   une_de_chaque  pair, on 1000 each: status and winnings
TOSSES = """
   pile pile    won 2800     lost 0       lost 0         won 900
   pile face    lost 0       lost 0       won 900        lost 0
   face pile    lost 0       lost 0       won 900        lost 0
   face face    lost 0       won 2800     lost 0         won 900
"""


@pytest.mark.parametrize("row", TOSSES.strip().splitlines(), ids=str.strip)
@pytest.mark.usefixtures("toy")
def test_a_toss_decides_every_bet(row: str) -> None:
    first, second, *expected = row.split()
    placed = [("wager.placed", {"wager": bet, "bet": bet, "stake": 1000}) for bet in BETS]
    answer = adjudicate(session(*placed, ("coins.tossed", {"first": first, "second": second})))
    found = [(wager.status, wager.winnings_due) for wager in answer.wagers.values()]
    assert found == [(status, int(due)) for status, due in zip(expected[::2], expected[1::2], strict=True)]


TAPE = """
    toy-two-coins calls
    place w1 deux_piles 1000
    place w2 deux_faces 1000
    place w3 une_de_chaque 1000
    place w4 deux_pile 1000               ! wager-not-permitted
    place w5 pair 1000
    call
    toss pile face                        ? coins-tossed-before-call => w1:lost w3:won w5:lost
    pay w3 900+1000
    toss face face                        ! coins-tossed-before-call:-
"""


@pytest.mark.usefixtures("toy")
def test_its_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tapes.VERBS, "toss", ("coins.tossed", lambda w, n: {"first": w[0], "second": w[1]}))
    assert len(tapes.play(TAPE)) == 2


VOIDED_TOSS = (
    ("wager.placed", {"wager": "w1", "bet": "deux_piles", "stake": 1000}),
    ("coins.tossed", {"first": "pile", "second": "pile"}),
)
VOID_3 = ("toss.voided", {"voids": 3})

VOIDED = """
    toy-two-coins
    place w1 deux_piles 1000
    toss pile pile                        => w1:open
    void 3                                ! entry-annulled
    toss pile face                        => w1:lost
    toss pile pile
    void 5                                ! correction-without-effect:-
    void                                  ? correction-without-effect
"""


@pytest.mark.usefixtures("toy")
def test_a_toss_that_is_void_is_undone_as_a_result_of_the_contract_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tapes.VERBS, "toss", ("coins.tossed", lambda w, n: {"first": w[0], "second": w[1]}))
    monkeypatch.setitem(tapes.VERBS, "void", ("toss.voided", lambda w, n: {"voids": int(w[0])} if w else {}))
    _voided, found = tapes.play(VOIDED)
    assert (found.rule, found.facts["fault"]) == ("correction-without-effect", "not_last_result")


@pytest.mark.usefixtures("toy")
def test_a_toss_that_is_voided_after_money_moved_is_a_finding_and_changes_what_was_due() -> None:
    paid = ("payout.made", {"wager": "w1", "winnings": 2800, "stake_returned": 1000})
    answer = adjudicate(session(*VOIDED_TOSS, paid, VOID_3))
    assert [(found.rule, found.seq, found.severity) for found in answer.findings][-1] == (
        "entry-annulled",
        5,
        "critical",
    )
    assert answer.wagers["w1"].status == "open"


@pytest.mark.usefixtures("toy")
def test_the_rule_of_its_own_is_raised_where_its_text_says() -> None:
    stakes = [("wager.placed", {"wager": "w1", "bet": "deux_piles", "stake": 1000})]
    tossed = ("coins.tossed", {"first": "face", "second": "face"})
    early = adjudicate(session(*stakes, tossed, observes=["calls"])).findings
    assert [(found.rule, found.seq, found.provision) for found in early] == [
        ("coins-tossed-before-call", 3, "toy art. 1 al. 6")
    ]
    assert early[0].remedy("fr").startswith("Visionner les images de l’événement 3")
    assert adjudicate(session(*stakes, ("no_more_bets", {}), tossed, observes=["calls"])).findings == []
    unseen = adjudicate(session(*stakes, tossed))
    assert unseen.findings == []
    assert "calls" in unseen.unchecked


@pytest.mark.usefixtures("toy")
def test_a_bet_that_is_not_on_the_list_rests_on_the_clause_that_closes_it() -> None:
    wrong = ("wager.placed", {"wager": "w1", "bet": "deux_pile", "stake": 1000})
    (found,) = adjudicate(session(wrong)).findings
    assert (found.rule, found.provision, found.expected) == ("wager-not-permitted", "toy art. 1 al. 1", "deux_piles")


@pytest.mark.usefixtures("toy")
def test_every_sentence_of_its_text_is_accounted_for() -> None:
    own = [each for each in coverage(NAME) if each["text"] == TEXT.id]
    assert "".join(TEXT.content[each["start"] : each["end"]] for each in own) == TEXT.content
    assert all(each["kinds"] for each in own)
    assert own[-1]["rules"][0] == "coins-tossed-before-call"


# Its event


def test_its_event_is_refused_at_another_ruleset_and_where_nobody_knows_it() -> None:
    tossed = event("coins", 2, "coins.tossed", first="pile", second="pile")
    with registered(TOY):
        assert decode(tossed).type == "coins.tossed"
        with pytest.raises(ShapeError, match="an event of toy-two-coins alone"):
            adjudicate([opener("coins", "fr-roulette"), tossed])
        with pytest.raises(ShapeError, match="/data/first"):
            decode(event("coins", 2, "coins.tossed", first="edge", second="pile"))
        assert decode_canonical_all(b"[%b]" % tossed) is not None, "read at once with others"
    assert decode_canonical_all(b"[%b]" % tossed) is None
    with pytest.raises(ShapeError, match="no type of event"):
        decode(tossed)


@pytest.mark.usefixtures("toy")
def test_the_document_of_the_interface_has_its_event_which_says_no_meanings() -> None:
    schema = event_schemas()["coins.tossed"]
    assert schema["description"] == "The coins fall on {first} and {second}"
    assert schema["properties"].keys() == {"first", "second"}


def test_an_event_that_voids_a_result_has_a_name_that_officers_can_decide_about() -> None:
    class Undone(TossVoided, frozen=True, gc=False, tag="toss.undone"):  # type: ignore[misc]
        """Its name ends otherwise."""

    with pytest.raises(ValueError, match=r"has to end in '\.voided'"):
        register(replace(TOY, events=(CoinsTossed, Undone)))


def test_what_a_ruleset_brings_goes_with_it() -> None:
    before = [dict(table) for table in (RULESETS, RULES, PROVISIONS, TYPES, BET_LABELS, LAW_TEXTS)]
    with registered(TOY):
        assert "coins-tossed-before-call" in RULES
        assert NAME in RULES["payout-overpaid"].rulesets
        with pytest.raises(ValueError, match="already"):
            register(TOY)
    assert [dict(table) for table in (RULESETS, RULES, PROVISIONS, TYPES, BET_LABELS, LAW_TEXTS)] == before


# The night


@pytest.mark.usefixtures("toy")
def test_its_edges_are_those_of_the_odds() -> None:
    assert edges(Readings(NAME)) == {Priced(bet): Fraction(1, 20) for bet in BETS}


@pytest.mark.usefixtures("toy")
def test_its_figures_add_up_to_the_cent() -> None:
    projection = SessionProjection()
    projection.feed([decode(json.dumps(each)) for each in night().events])
    figures = projection.figures()
    bridge = figures.bridge
    assert len(figures.draws) == 30
    assert figures.variance > 0
    assert bridge.theoretical == sum((each.stakes for each in figures.bets.values()), 0) * Fraction(1, 20)
    assert bridge.theoretical + figures.luck == bridge.adjudicated.total
    assert figures.errors == []


@pytest.mark.usefixtures("toy")
def test_an_orderly_night_has_no_finding_and_an_irregular_one_has_that_which_was_asked_for() -> None:
    assert adjudicate([json.dumps(each) for each in night().events]).findings == []
    for name in ("coins-tossed-before-call", "payout-overpaid", "payout-missing", "losing-wager-paid", "events-lost"):
        played = night(name)
        assert [each for each, _seq in played.irregularities] == [name]
        assert name in {found.rule for found in adjudicate([json.dumps(each) for each in played.events]).findings}


# The record and the desk


@pytest.mark.django_db
@pytest.mark.usefixtures("toy")
def test_it_is_recorded_replayed_found_and_drawn() -> None:
    tenant = Tenant()
    played = night("coins-tossed-before-call", casino=tenant.code)
    assert tenant.post(played.stream, played.events).status_code == 201
    stream = tenant.stream(played.stream)
    while (progress := advance(stream.pk)) is not None and progress.behind:
        pass
    (finding,) = stream.findings.all()
    (_name, seq) = played.irregularities[0]
    assert (finding.rule, finding.seq) == ("coins-tossed-before-call", seq)

    client = Client()
    client.force_login(Officer.objects.create_superuser("chief", password="x"))
    content = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert "Coins tossed before the call" in content
    assert TEXT.content.splitlines()[-1].split("«")[0] in content.replace("&#x27;", "'")
    assert f'class="felt {NAME}"' in content
    data = json.loads(re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', content)[1])
    step = next(each for each in data["steps"] if each["seq"] == seq)
    tossed = played.events[seq - 1]["data"]
    assert step["text"] == f"The coins fall on {tossed['first']} and {tossed['second']}"
    assert (step["result"], step["is_tick"]) == (f"{tossed['first']}-{tossed['second']}", True)
    assert any(step["chips"].values())


@pytest.mark.django_db
@pytest.mark.usefixtures("toy")
def test_a_toss_that_is_void_is_found_in_the_record() -> None:
    tenant = Tenant()
    events = [json.loads(line) for line in session(*VOIDED_TOSS, VOID_3)]
    events[0]["data"]["casino"] = tenant.code
    assert tenant.post("coins", events).status_code == 201
    (change,) = corrections_of(tenant.stream("coins").pk)
    assert (change.seq, change.type) == (4, "toss.voided")


@pytest.mark.django_db
@pytest.mark.usefixtures("toy")
def test_the_interface_refuses_its_event_in_a_session_of_another_ruleset() -> None:
    tenant = Tenant()
    first = tenant.opener("dice")
    tossed = {
        "stream": "dice",
        "seq": 2,
        "type": "coins.tossed",
        "occurred_at": "2026-11-19T20:00:02+01:00",
        "data": {"first": "pile", "second": "face"},
    }
    answer = tenant.post("dice", [first, tossed])
    assert answer.status_code == 422
    assert "an event of toy-two-coins alone" in answer.content.decode()


# The page


_INCLUDED = re.compile(r'^```{.python}\n--8<-- "tests/toy/two_coins/(\w+\.py)(?::(\w+))?"\n```$', re.MULTILINE)
_SECTION = re.compile(r"^# --8<-- \[start:(\w+)\]\n.*?^# --8<-- \[end:\1\]$", re.MULTILINE | re.DOTALL)


def test_the_page_includes_every_line_of_this_ruleset_once() -> None:
    parts = []
    for path in (ROOT / "tests" / "toy" / "two_coins").glob("*.py"):
        sections = _SECTION.findall(path.read_text())
        parts += [(path.name, section) for section in sections] or [(path.name, "")]
        assert not sections or _SECTION.sub("", path.read_text()).split() == []
    page = PAGE.read_text()
    assert sorted(_INCLUDED.findall(page)) == sorted(parts)
    assert page.count("```{.python}") == len(parts)


@pytest.mark.usefixtures("toy")
def test_the_ledger_follows_its_luck_and_tests_no_dice_and_no_wheel() -> None:
    projection = PersonsProjection()
    projection.feed([decode(json.dumps(each)) for each in night().events])
    fed = [*of_session(projection.evidence), *of_evening([projection.evidence])]
    assert {each.kind for each in fed} <= {"table-luck", "player-luck", "pair-luck", "late-luck"}
    assert any(each.kind == "table-luck" for each in fed)
