"""What must hold on any stream: generated events of every type, plausible and not."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.simulation import play
from settlement import (
    AnotherStream,
    Event,
    Finding,
    NeedsReplay,
    State,
    adjudicate,
    decode,
    load_wagers,
    save_wagers,
)
from settlement.catalogue import RULES
from settlement.codec import decode_all
from settlement.corrections import changes_in
from settlement.events import TYPES
from settlement.finding import latest
from settlement.incidents import with_consequences
from settlement.interceptors import Fold, Interceptors
from settlement.rulesets import RULESETS
from settlement.state import Table
from settlement.streams import fold
from tests.settlement.streams import GAMES

RULESET_NAMES = sorted(GAMES)
FAMILIES = (
    "calls custody marker wheel announcements collections seating colours handling staff bank "
    "wagers results decisions payouts"
).split()

# Few names, so that events meet: a payout names a wager that was placed, a seat throws that was offered the dice.
wagers = st.sampled_from([f"w{number}" for number in range(6)])
players = st.sampled_from(["Anna", "Bruno", "Chloe"])
seats = st.sampled_from(["S1", "S2", "S3"])
colours = st.sampled_from([f"c{number}" for number in range(12)])
roles = st.sampled_from(["chef_de_partie", "chef_de_table", "croupier", "stickman", "employe", "shooter", "opening"])
amounts = st.one_of(st.sampled_from([0, 1, 5, 25, 100, 500, 700, 900, 1000]), st.integers(0, 2**53 - 1))
stakes = st.one_of(st.sampled_from([1, 5, 100, 500, 600, 1000]), st.integers(1, 2**53 - 1))
pockets = st.sampled_from(["0", "00", "1", "2", "3", "4", "17", "36", "37", "x"])
directions = st.sampled_from(["clockwise", "counterclockwise"])
dice = st.lists(st.sampled_from("a b c d e f g".split()), max_size=7)
faces = st.one_of(
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.sampled_from([(1, 1), (6, 6), (3, 4), (2, 2), (7, 2), (0, 0)]),
)
flags = st.lists(st.sampled_from(["slid", "broken", "off_table", "rubbed_or_held"]), max_size=2)
bets = st.sampled_from(sorted({bet for ruleset in RULESETS.values() for bet in ruleset.kinds} | {"tip"}))


def data(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


placements = data(
    {"wager": wagers, "bet": bets, "stake": stakes},
    player=players,
    seat=seats,
    number=st.sampled_from([2, 4, 5, 6, 7, 8, 9, 10]),
    numbers=st.lists(pockets, max_size=4),
    which=st.lists(st.integers(0, 4), max_size=3),
    base=wagers,
    commission=amounts,
    marker=st.sampled_from(["wrong_bet", "buy", "lay"]),
    working=st.booleans(),
    left_up_from=wagers,
    colour=colours,
    medium=st.sampled_from(["chips", "cash", "credit"]),
)

EVENTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "session.closed": data({"float": amounts}),
    "staff.assigned": data({"person": players, "role": roles}),
    "staff.relieved": data({"person": players, "role": roles}),
    "player.seated": data({"player": players}, seat=seats),
    "player.left": data({"player": players}),
    "bank.filled": data({"amount": amounts, "slip": seats}),
    "wager.withdrawn": data({"wager": wagers}, amount=amounts),
    "wager.switched": data({"wager": wagers, "working": st.booleans()}),
    "wager.moved": data({"wager": wagers, "number": st.sampled_from([4, 5, 6, 8, 9, 10])}),
    "no_more_bets": data({}),
    "stakes.collected": data({"wagers": st.lists(wagers, max_size=4)}),
    "payment.announced": data({"wager": wagers, "amount": amounts}),
    "payout.made": data(
        {"wager": wagers, "winnings": amounts, "stake_returned": amounts}, colour=colours, continues_as=wagers
    ),
    "payout.recovered": data({"wager": wagers}, winnings=amounts, stake=amounts, reason=players),
    "tip.given": data({"amount": amounts}, player=players),
    "goodwill.paid": data({"amount": amounts, "reason": players}, player=players, approved_by=players),
    "dispute.opened": data({}, wager=wagers, player=players),
    "dispute.settled": data(
        {"opened": st.integers(1, 40)},
        amount=amounts,
        approved_by=players,
        by=st.sampled_from(["house", "player"]),
    ),
    "orphan.recorded": data({"amount": amounts}, wager=wagers, slip=seats),
    "dice.offered": data({"seat": seats}),
    "dice.declined": data({"seat": seats}),
    "dice.set_introduced": data(
        {"dice": dice, "decided_by": roles, "announced": st.booleans()}, cause=st.sampled_from(["broken", "lost"])
    ),
    "dice.selected": data({"seat": seats, "dice": dice, "boxed": dice}),
    "dice.touched": data({"by": roles, "cause": st.sampled_from(["examine", "fell_off_table", "habit"])}),
    "dice.thrown": data({"faces": faces}, seat=seats, dice=dice, total=st.integers(0, 13), flags=flags),
    "throw.voided": data({"announced_by": roles, "flags": flags}, faces=faces, seat=seats, dice=dice),
    "point.marked": data({"number": st.sampled_from([4, 6, 8, 11])}),
    "shooter.removed": data({"seat": seats, "by": roles}),
    "wheel.spun": data({"direction": directions}, by=roles),
    "ball.launched": data({"direction": directions}, by=roles),
    "chip.fell_in_wheel": data({}),
    "ball.retrieved": data({}),
    "ball.settled": data({"pocket": pockets}),
    "result.announced": data({"pocket": pockets, "chances": st.lists(st.sampled_from(["rouge", "pair"]), max_size=2)}),
    "zero.decided": data({"wager": wagers, "choice": st.sampled_from(["half", "prison"])}),
    "last_coup.announced": data({}),
    "stacks.rebuilt": data({}),
    "colour.assigned": data(
        {"player": players, "colour": colours, "value": st.one_of(st.none(), amounts)}, marker_from=roles
    ),
    "chips.handled": data({"by": roles}),
}

anything = st.one_of(
    *[st.tuples(st.just(kind), fields) for kind, fields in EVENTS.items()],
    # Stakes and results more often, or nothing is ever decided.
    *[st.tuples(st.just("wager.placed"), placements)] * 8,
    *[st.tuples(st.just("dice.thrown"), data({"faces": faces}))] * 3,
    *[st.tuples(st.just("ball.settled"), data({"pocket": pockets}))] * 3,
)

params = data(
    {},
    payout_unit=st.sampled_from([1, 5, 100]),
    commission_rounding=st.sampled_from(["ceil", "floor", "nearest"]),
    commission_refunded_on_withdrawal=st.booleans(),
    zero_rule=st.sampled_from(["choice", "half", "lose"]),
    release_value=st.sampled_from(["halving", "full"]),
    seat_limit=st.integers(0, 3),
    maximum=st.just({"win": 500, "plein": 100}),
)


def envelope(seq: int, kind: str, fields: dict[str, Any], second: int) -> bytes:
    at = f"2010-11-19T20:{second // 60:02}:{second % 60:02}+01:00"
    return json.dumps({"stream": "s", "seq": seq, "type": kind, "occurred_at": at, "data": fields}).encode()


@st.composite
def streams(draw: st.DrawFn, most: int = 40, without: frozenset[str] = frozenset()) -> list[bytes]:
    """A well-shaped stream of any ruleset, contiguous, of any events but the types, and any fields, in ``without``."""
    ruleset = draw(st.sampled_from(RULESET_NAMES))
    opener = {
        "casino": "demo",
        "table": "T1",
        "gaming_day": "2010-11-19",
        "game": GAMES[ruleset],
        "ruleset": ruleset,
        "currency": "EUR",
        "float": 0,
        "observes": draw(st.one_of(st.just(FAMILIES), st.lists(st.sampled_from(FAMILIES), unique=True))),
        "seats": ["S1", "S2", "S3"],
        "params": draw(params),
    }
    rest = [
        (kind, {name: value for name, value in fields.items() if name not in without})
        for kind, fields in draw(st.lists(anything, max_size=most))
        if kind not in without
    ]
    seconds = [draw(st.integers(0, 3000)) if draw(st.integers(0, 9)) == 0 else index for index in range(len(rest))]
    return [envelope(1, "session.opened", opener, 0)] + [
        envelope(seq, kind, dict(fields), second)
        for seq, ((kind, fields), second) in enumerate(zip(rest, seconds, strict=True), start=2)
    ]


REPEATED, DRAWN = 60, settings().max_examples
quick = settings(
    deadline=None,
    # A stream takes long: half as many as of other properties, but in a search as many as of any.
    max_examples=REPEATED // 2 if DRAWN == REPEATED else DRAWN,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def sorted_by_order(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.order)


@quick
@given(streams())
def test_every_well_shaped_stream_has_an_answer_and_every_finding_a_sentence(stream: list[bytes]) -> None:
    answer = adjudicate(stream).as_dict()
    assert answer["events"] == len(stream)
    assert json.loads(json.dumps(answer)) == answer
    for finding in answer["findings"]:
        assert finding["message"]["en"]
        assert finding["message"]["fr"]


@quick
@given(streams(), st.integers(0, 40))
def test_a_stream_may_be_cut_anywhere_and_taken_up_again(stream: list[bytes], cut: int) -> None:
    state = State()
    for index, raw in enumerate(stream):
        if index == cut:
            state = State.from_bytes(state.to_bytes())
        state.feed(decode(raw))
    assert state.adjudication().as_dict() == adjudicate(stream).as_dict()


@st.composite
def corrected_streams(draw: st.DrawFn) -> list[Event]:
    """A stream followed by corrections: of its events or of each other, with data that may or may not fit."""
    raw = draw(streams())
    events = decode_all(raw)
    for _ in range(draw(st.integers(0, 3))):
        seq = len(events) + 1
        donor = draw(st.sampled_from(raw))
        fields = {
            "corrects": draw(st.integers(1, seq + 1)),
            "data": json.loads(donor)["data"],
            "reason": "slip",
            "approved_by": "chef",
        }
        events.append(decode(envelope(seq, "entry.corrected", fields, seq)))
    return events


def played(state: State) -> dict[str, Any]:
    """Return the table as it is, without what counts its events."""
    counts = ("next_seq", "last_seq", "events", "clock")
    return {name: value for name, value in msgspec.structs.asdict(state.table).items() if name not in counts}


@quick
@given(corrected_streams(), st.integers(1, 7), st.sets(st.sampled_from(sorted(TYPES))))
def test_pages_single_events_and_intercepted_ones_are_folded_alike(
    events: list[Event], page: int, intercepted: set[str]
) -> None:
    corrections = changes_in(events)
    singly, paged, watched = State(corrections), State(corrections), State(corrections)
    plain = State(corrections)
    ahead = iter(events)
    seen: list[int] = []

    def intercept(event: Event, fold: Fold) -> None:
        for each in ahead:
            if each is event:
                break
            plain.feed(each)
        assert played(watched) == played(plain), "called before the event is folded, and after those before it"
        fold(event)
        plain.feed(event)
        assert played(watched) == played(plain)
        seen.append(event.seq)

    findings = [finding for event in events for finding in singly.feed(event)]
    interceptors: Interceptors = {TYPES[kind]: intercept for kind in intercepted}
    in_pages: list[Finding] = []
    for low in range(0, len(events), page):
        in_pages += paged.feed_all(events[low : low + page])
        watched.feed_all(events[low : low + page], interceptors)
    assert (
        sorted_by_order(latest(findings)) == sorted_by_order(latest(in_pages)) == sorted_by_order(singly.new_findings)
    )
    assert paged.to_bytes() == watched.to_bytes() == singly.to_bytes()
    assert singly.adjudication().as_dict() == adjudicate(events).as_dict()
    assert seen == [event.seq for event in events if event.type in intercepted]


@quick
@given(streams(), st.integers(1, 40), st.sampled_from(["another stream", "again", "correction"]))
def test_what_comes_before_an_event_that_cannot_be_fed_is_folded(stream: list[bytes], index: int, fault: str) -> None:
    events = decode_all(stream)
    index = min(index, len(events))
    bad, expected = events[index - 1], NeedsReplay
    if fault == "another stream":
        bad, expected = msgspec.structs.replace(bad, stream="other", seq=index + 1), AnotherStream
    elif fault == "correction":
        fields = {"corrects": 1, "data": {}, "reason": "slip", "approved_by": "chef"}
        bad = decode(envelope(index + 1, "entry.corrected", fields, index))
    state, until = State(), State()
    until.feed_all(events[:index])
    with pytest.raises(expected):
        state.feed_all([*events[:index], bad, *events[index:]])
    assert state.to_bytes() == until.to_bytes()
    with pytest.raises(expected):
        state.feed(bad)
    assert state.to_bytes() == until.to_bytes()


@quick
@given(streams(), st.booleans())
def test_a_stream_with_an_event_of_another_is_refused_with_both_names(stream: list[bytes], is_unbroken: bool) -> None:
    events = decode_all(stream)
    moved = msgspec.structs.replace(events[-1], stream="other", seq=events[-1].seq + (1 if is_unbroken else 9))
    with pytest.raises(AnotherStream) as refused:
        adjudicate([*events, moved])
    assert (refused.value.stream, refused.value.other) == (events[0].stream, "other")


@quick
@given(streams(), st.lists(st.integers(1, 6), min_size=1, max_size=20))
def test_wagers_may_be_retired_and_recalled_anywhere(stream: list[bytes], steps: list[int]) -> None:
    events = decode_all(stream)
    state, retired, held = State(), {}, []
    findings: list[Finding] = []
    while events:
        step, events = events[: steps[0]], events[steps[0] :]
        steps = [*steps[1:], steps[0]]
        state = State.from_bytes(state.to_bytes())
        state.recall(retired[wager] for wager in state.unheld(step) if wager in retired)
        findings += state.feed_all(step)
        state.forget_findings()
        retired.update({wager.id: wager for wager in load_wagers(save_wagers(state.retire()))})
        held.append(len(state.table.wagers))
    still = {wager.id for wager in state.table.wagers.values()}
    state.recall(wager for wager_id, wager in retired.items() if wager_id not in still)
    answer, whole = state.adjudication().as_dict(), adjudicate(stream).as_dict()
    assert {**answer, "findings": []} == {**whole, "findings": []}
    stored = with_consequences(sorted_by_order(latest([*findings, *state.adjudication().findings])))
    assert [finding.as_dict() for finding in stored] == whole["findings"]
    assert len(state.table.findings) == 0


@pytest.mark.parametrize("coups", [1_000, pytest.param(3_000, marks=pytest.mark.faults)])
def test_a_state_that_retires_stays_small(coups: int) -> None:
    state = State()
    sizes: list[int] = []
    played = play("fr-roulette", casino="c", code="R1", gaming_day=date(2026, 11, 19), seed=1, coups=coups)
    events = decode_all(json.dumps(event).encode() for event in played.events)
    assert len(events) > 10 * coups
    for low in range(0, len(events), 1_000):
        state.feed_all(events[low : low + 1_000])
        state.forget_findings()
        state.retire()
        sizes.append(len(state.to_bytes()))
    assert max(sizes) < 20_000


@quick
@given(streams(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(stream: list[bytes], chance: Any) -> None:
    shuffled = [*stream, *chance.sample(stream, k=min(3, len(stream)))]
    chance.shuffle(shuffled)
    assert adjudicate(shuffled).as_dict() == adjudicate(stream).as_dict()


@quick
@given(streams())
def test_findings_are_in_order_and_their_evidence_is_of_the_stream(stream: list[bytes]) -> None:
    findings = adjudicate(stream).findings
    assert [finding.order for finding in findings] == sorted(finding.order for finding in findings)
    for finding in findings:
        assert finding.evidence == tuple(sorted(set(finding.evidence)))
        assert finding.evidence[-1] == finding.seq
        assert 1 <= finding.evidence[0] <= finding.seq <= len(stream)
        rule = RULES[finding.rule]
        assert finding.severity in (rule.severity, rule.exceptional_severity)


def standing(table: Table) -> int:
    return sum(table.wagers[wager].standing for wager in table.live)


@quick
@given(streams())
def test_money_is_conserved_after_every_event(stream: list[bytes]) -> None:
    state = State()
    for raw in stream:
        state.feed(decode(raw))
        assert state.table.ledger.imbalance(standing(state.table)) == 0
    ledger = state.table.ledger
    assert all(getattr(ledger, field) >= 0 for field in ledger.__struct_fields__)
    assert not [finding for finding in state.table.findings if finding.rule == "ledger-imbalance"]


@quick
@given(streams())
def test_every_stake_ends_in_one_place(stream: list[bytes]) -> None:
    table = fold([decode(raw) for raw in stream]).table
    for wager in table.wagers.values():
        assert 0 <= wager.standing <= wager.stake
        assert 0 <= wager.stake_due <= wager.stake
        assert wager.undecided == (wager.id in table.live)
        if wager.undecided or wager.status == "lost":
            assert (wager.winnings_due, wager.stake_due) == (0, 0)
        if wager.status != "won":
            assert wager.winnings_due == 0


@quick
@given(streams(), st.integers(2, 40), st.integers(1, 5))
def test_a_gap_is_found_once_and_marks_all_that_follows(stream: list[bytes], index: int, width: int) -> None:
    with_gap = stream[:index] + stream[index + width :]
    findings = adjudicate(with_gap).findings
    gaps = [finding for finding in findings if finding.rule == "sequence-gap"]
    if len(with_gap) == index or not stream[index:]:
        assert gaps == []
        return
    (gap,) = gaps
    assert gap.seq == index + width + 1
    assert all(finding.after_loss for finding in findings if finding.seq > gap.seq)
    assert not any(finding.after_loss for finding in findings if finding.seq < gap.seq)
