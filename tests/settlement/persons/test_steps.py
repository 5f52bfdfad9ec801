"""A session that is noted step by step, saved in between, answers byte for byte as one that is read whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from audit.simulation import IRREGULARITIES, RULESET_NAMES
from settlement import Event, State, load_wagers, save_wagers
from settlement import decode as decode_event
from settlement.corrections import changes_in
from settlement.eprocess.observations import Mark
from settlement.eprocess.observations import encode as encode_observations
from settlement.events import DiceSetIntroduced
from settlement.night.figures import encode as encode_figures
from settlement.night.notes import Memory
from settlement.persons.session import PersonNotes, PersonsProjection
from settlement.persons.stream_money import encode as encode_money
from settlement.streams import with_held
from tests.long_forms import in_short
from tests.settlement.persons.test_session import landed, night, paid, placed, session
from tests.settlement.streams import event, opener
from tests.settlement.test_properties import quick, streams

CASES = Path(__file__).parent.parent.parent / "conformance" / "cases.jsonl"
read_memory = msgspec.json.Decoder(Memory).decode
read_notes = msgspec.json.Decoder(PersonNotes).decode


def answers(projection: PersonsProjection) -> list[Any]:
    """Return everything that is kept of a session, as it is kept."""
    kept = [encode_figures(projection.figures()), projection.wins]
    return [*kept, encode_money(projection.money()), encode_observations(projection.evidence)]


def whole(events: Sequence[Event], held: Sequence[int] = ()) -> list[Any]:
    projection = PersonsProjection(changes_in(events), held=held)
    for first in range(0, len(events), 1_000):
        projection.feed(events[first : first + 1_000])
    return answers(projection)


def in_steps(
    events: Sequence[Event], size: int, held: frozenset[int] = frozenset(), approved: Sequence[int] | None = None
) -> Any:
    """Return the answers where state, memory and notes are saved after every ``size`` events, as replay saves them."""
    changes = changes_in(events)
    state = State(changes, approved=approved, held=held)
    memory, noted, retired = b"", [], dict[str, bytes]()
    for first in range(0, len(events), size):
        page = events[first : first + size]
        if first:
            state = State.from_bytes(state.to_bytes(), changes, approved=approved)
        projection = PersonsProjection.along(state, read_memory(memory) if memory else None)
        for wager_id in state.unheld(page) & retired.keys():
            state.recall(load_wagers(retired[wager_id]))
        state.feed_all(page, projection.interceptors)
        projection.note_findings()
        state.forget_findings()
        noted.append(msgspec.json.encode(projection.notes))
        memory = msgspec.json.encode(projection.memory)
        retired |= {wager.id: save_wagers([wager]) for wager in state.retire()}
    wagers = [wager for saved in retired.values() for wager in load_wagers(saved)]
    state = State.from_bytes(state.to_bytes(), compares=False)
    return answers(PersonsProjection.of(state, map(read_notes, noted), read_memory(memory), wagers))


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_a_night_with_every_irregularity_is_noted_alike_in_any_steps(ruleset: str) -> None:
    events = night(ruleset, 7, *IRREGULARITIES, coups=30)
    expected = whole(events)
    for size in (1, 7, 100, len(events)):
        assert in_steps(events, size) == expected


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(80))
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_four_hundred_nights_are_noted_alike_in_any_steps(ruleset: str, seed: int) -> None:
    irregularities = sorted(IRREGULARITIES) if seed % 2 else sorted(IRREGULARITIES)[seed % len(IRREGULARITIES) :][:3]
    events = night(ruleset, seed, *irregularities, coups=20 + seed % 30)
    expected = whole(events)
    for size in (1, 7, 100, len(events)):
        assert in_steps(events, size) == expected


def are_noted_alike(events: Sequence[Event], size: int) -> None:
    """Compare with the stream read whole, with the changes in effect that have one where two officers approved none."""
    held: frozenset[int] = frozenset()

    def folded(without: frozenset[int]) -> Any:
        nonlocal held
        held = without
        return in_steps(events, size, without, approved=())

    found = with_held(changes_in(events), folded)
    assert found == whole(events, sorted(held))


@quick
@given(stream=streams(), size=st.sampled_from([1, 3, 7, 100]))
def test_any_stream_is_noted_alike_in_any_steps(stream: list[Any], size: int) -> None:
    are_noted_alike([decode_event(raw) for raw in stream], size)


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.faults)])
def test_every_conformance_stream_is_noted_alike_in_any_steps(every: int) -> None:
    cases = [json.loads(line)["events"] for line in CASES.read_text().splitlines()[::every]]
    for raw in cases:
        events = [decode_event(json.dumps(each)) for each in raw]
        if [each.seq for each in events] == sorted({each.seq for each in events}):
            for size in (1, 7, 100):
                are_noted_alike(events, size)


def test_what_holds_only_by_a_correction_is_no_mark_however_it_is_read() -> None:
    """Half of the stake that was entered is paid by the unit; of the stake that is right it is not."""
    right = {"wager": "w1", "bet": "rouge", "stake": 300, "player": "p1"}
    events = session(
        placed("w1", stake=200, player="p1"),
        landed("0"),
        ("zero.decided", {"wager": "w1", "choice": "half"}),
        paid("w1", 0, 100),
        landed("1"),
        ("entry.corrected", {"corrects": 2, "data": right, "reason": "misread", "approved_by": "chief"}),
        params={"payout_unit": 100},
        staff=[{"person": "c1", "role": "croupier"}],
    )
    state = State(changes_in(events))
    state.feed_all(events)
    [put_down] = [each for each in state.new_findings if each.rule == "indivisible-stake"]
    assert [cause.rule for cause in put_down.causes] == ["entry-corrected"]
    projection = PersonsProjection(changes_in(events))
    projection.feed(events)
    assert [mark.rule for mark in projection.evidence.marks] == ["entry-corrected"]
    for size in (1, 3, len(events)):
        assert in_steps(events, size) == whole(events)


def relay(ruleset: str = "fr-roulette") -> list[Event]:
    """Return a session, closed twice, in which three croupiers relieve one another and pay the same wagers."""
    events = [json.loads(opener("s", ruleset, staff=[{"person": "c1", "role": "croupier"}]))]
    person = 1
    for coup in range(4):
        wagers = [f"w{coup}{letter}" for letter in "abc"]
        rest: list[tuple[str, dict[str, Any]]] = [placed(wager, player=f"p{coup % 2}") for wager in wagers]
        rest.append(landed("1"))
        for turn in range(3):
            rest += [paid(wager, 400, 0) for wager in wagers[turn:]]
            rest.append(("staff.relieved", {"person": f"c{person}", "role": "croupier"}))
            person = person % 3 + 1
            rest.append(("staff.assigned", {"person": f"c{person}", "role": "croupier"}))
            rest.append(("dispute.opened", {"wager": wagers[turn], "player": "p9"}))
        if coup > 1:
            rest += [("session.closed", {"float": coup}), ("bank.filled", {"amount": 5, "slip": f"F{coup}"})]
        events += [json.loads(event("s", len(events) + at, kind, **data)) for at, (kind, data) in enumerate(rest, 1)]
    return [decode_event(json.dumps(each)) for each in events]


def test_of_wagers_that_several_croupiers_pay_everybody_is_noted_in_any_steps() -> None:
    events = relay()
    projection = PersonsProjection()
    projection.feed(events)
    payouts = {croupier: paid.payouts for croupier, paid in projection.figures().croupiers.items()}
    assert sum(payouts.values()) > 12, "some wagers have several payers"
    for size in range(1, len(events)):
        assert in_steps(events, size) == whole(events)


def test_the_dice_on_the_table_are_known_in_every_step() -> None:
    events = [
        replace(each, data=replace(each.data, set="set-1")) if isinstance(each, DiceSetIntroduced) else each
        for each in night("fr-craps", 5, coups=5)
    ]
    expected = whole(events)
    assert b'"set-1"' in expected[-1]
    assert in_steps(events, 1) == expected


def test_what_a_finding_says_later_is_what_it_says() -> None:
    mark = Mark(7, "payout-short", "c1", "p1")
    for earlier, later in ((mark, None), (None, mark)):
        notes = PersonNotes(marks={"payout-short 7 w1": earlier})
        notes.add(PersonNotes(marks={"payout-short 7 w1": later}))
        assert notes.marks == {"payout-short 7 w1": later}
