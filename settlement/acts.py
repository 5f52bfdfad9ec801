"""Acts that may still be put right: each is judged when its coup ends, or its throw, by what then stands.

    wrong ──► pending ──► put right in time ──► `act-put-right`, and nothing else
               ▲  │             │
               │  │         wrong again
               │  └──────┐      │
               └─────────│──────┘
                         └─► still wrong ─────► the finding of the last wrong act, at its own event

An article calls ``wrong`` with the finding that the act is unless it is put right, and ``right`` when a later act of
the same ``key`` is in order. The key is the type of the event, and what it is about: "wager.moved w1". Acts whose
outcome depends on money or on other stakes have a check of their own, by the rule of their first finding.

An answer in mid-coup has the acts as they stand; nothing is persisted of them before the coup, or the throw, ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from msgspec.structs import replace

from settlement.catalogue import RULES
from settlement.catalogue.rule import STANDARD_FACTS
from settlement.events import DisputeSettled, PayoutRecovered, StakesCollected, WagerWithdrawn
from settlement.finding import Fact, Finding, FindingRef
from settlement.findings import find
from settlement.state import PendingAct, Table, Wager

VoidBy: TypeAlias = list[tuple[Wager, tuple[FindingRef, ...]]]
"""Wagers, and what made them void before it was put right."""

PUT_RIGHT = "act-put-right"

LATE, LIMITS, COLOUR, AMOUNT = (
    "wager-after-no-more-bets",
    "stake-out-of-limits",
    "payment-wrong-colour",
    "payment-not-as-announced",
)

MOST_TOGETHER = 500
"""The last stakes, or acts, among which those are looked for that lie together."""

OFFER, MARKER, WHEEL, BALL, RESULT = (
    "dice.offered",
    "point.marked",
    "wheel.spun",
    "ball.launched",
    "result.announced",
)
"""The keys of acts that a coup has one of: the types of their events."""

OF_THROW = (OFFER, MARKER)
"""What every throw ends, a voided one too."""

OF_SPIN = (WHEEL, BALL)
"""What the ball ends when it comes to rest, in a pocket that does not exist, too."""


def wrong(
    table: Table,
    key: str,
    rule: str,
    *evidence: int,
    wager: Wager | None = None,
    expected: int | str | None = None,
    recorded: int | str | None = None,
    back: int = 0,
    adds: bool = False,
    **facts: Fact,
) -> None:
    """Report an act as ``find`` does, but only when its coup ends, and unless it is put right by then.

    It stands in place of the wrong act before it, unless it ``adds`` to it. ``back`` is how much of it, in minor units,
    has to go back before it can be right. After the close nothing can put it right: it is found at once.
    """
    raised = len(table.findings)
    find(table, rule, *evidence, wager=wager, expected=expected, recorded=recorded, **cast(dict[str, Any], facts))
    if len(table.findings) == raised or table.closed_by:
        return
    found = table.findings.pop()
    act = table.acts.get(key)
    if act is None:
        table.acts[key] = PendingAct([found], found, back=back)
        return
    if act.right_by or not act.found or not (adds or act.found[-1].seq == found.seq):
        act.found.clear()
    act.found.append(found)
    act.right_by = 0
    act.back += back


def right(table: Table, key: str, seq: int) -> None:
    """Note that event ``seq`` puts right the act of ``key``, if it was wrong."""
    act = table.acts.get(key)
    if act is not None and not act.right_by and not act.is_closed:
        act.right_by = seq


def close(table: Table, key: str) -> None:
    """Fix how the act of ``key`` stands: what comes later can neither put it right nor make it wrong."""
    act = table.acts.pop(key, None)
    if act is not None:
        act.right_by, act.is_closed = _right_by(table, act), True
        table.acts[f"{key} until {act.first.seq}"] = act


def end(table: Table, *types: str) -> None:
    """Report every act, or those by events of ``types``: their coup has ended, or their throw."""
    ended = {key: act for key, act in table.acts.items() if not types or key.partition(" ")[0] in types}
    _report(table, ended)
    for key in ended:
        del table.acts[key]
    if not types or OFFER in types:
        table.dice_before = None


def give(table: Table) -> VoidBy:
    """Report every act of the coup under way, as it stands. Return what ``take_away`` needs to undo it."""
    return _report(table, table.acts)


def take_away(void_by: VoidBy) -> None:
    """Undo what ``give`` changed, but for the findings."""
    for wager, before in void_by:
        wager.void_by = before


def _report(table: Table, acts: Mapping[str, PendingAct]) -> VoidBy:
    """Report ``acts`` by what stands. Return the wagers that are void no longer by what was put right."""
    put_right: dict[tuple[int, str | None], Finding] = {}
    void_by: VoidBy = []
    for key, act in acts.items():
        right_by = _right_by(table, act)
        if not right_by:
            table.findings += act.found
            continue
        found = _as_put_right(table, key, act, right_by)
        known = put_right.get((found.seq, found.wager))
        if known is not None:  # one event put several acts right
            found = replace(known, evidence=tuple(sorted({*known.evidence, *found.evidence})))
        put_right[found.seq, found.wager] = found
        wager = table.wagers.get(found.wager or "")
        if act.first.rule == LATE and wager is not None:
            void_by.append((wager, wager.void_by))
            wager.void_by = tuple(ref for ref in wager.void_by if ref != act.first.ref)
    table.findings += put_right.values()
    return void_by


def _as_put_right(table: Table, key: str, act: PendingAct, right_by: int) -> Finding:
    first, last = act.first, (act.found or [act.first])[-1]
    evidence = tuple(sorted({*first.evidence, last.seq, right_by}))
    seq = evidence[-1]
    is_after_loss = table.after_loss and (table.loss is None or seq >= table.loss.seq)
    known: dict[str, Fact] = {name: fact for name, fact in first.facts.items() if name in STANDARD_FACTS}
    return replace(
        first,
        rule=PUT_RIGHT,
        severity=RULES[PUT_RIGHT].severity,
        seq=seq,
        evidence=evidence,
        expected=None,
        recorded=None,
        after_loss=is_after_loss,
        difference=None,
        owed=None,
        causes=(table.loss,) if is_after_loss and table.loss is not None else (),
        facts=known | facts_of(key.partition(" ")[0], first.rule, first.recorded, first.seq, right_by),
    )


def facts_of(event_type: str, rule: str, recorded: int | str | None, first_seq: int, right_seq: int) -> dict[str, Fact]:
    """Return the facts of an act that was put right: what broke ``rule`` first, and which event made it good."""
    facts: dict[str, Fact] = {"act": event_type, "first_seq": first_seq, "right_seq": right_seq}
    if recorded is not None:
        facts[f"first_{RULES[rule].recorded_is}"] = recorded
    return facts


def _right_by(table: Table, act: PendingAct) -> int:
    """Return the event that put ``act`` right, as things stand; 0 if it is wrong."""
    check = None if act.is_closed else _CHECKS.get(act.first.rule)
    return act.right_by if check is None else check(table, act)


# Stakes


def place_late(table: Table, wager: Wager, *evidence: int, back: int, seq: int = 0) -> None:
    """Report a stake that was laid after the call, of which ``back`` still lies there; ``seq`` took the rest back."""
    key = _late(wager.id)
    wrong(table, key, LATE, *evidence, wager=wager, call_seq=table.call, back=back)
    if seq:
        right(table, key, seq)


def note_return(table: Table, wager_id: str, seq: int, amount: int | None) -> None:
    """Note that the player took ``amount`` of a stake back, None for all: of a late one, as he has to."""
    act = table.acts.get(_late(wager_id))
    if act is not None and act.back and not act.is_closed:
        act.back = 0 if amount is None else max(0, act.back - amount)
        act.right_by = seq
    wager = table.wagers.get(wager_id)
    if wager is not None:
        note_change(table, wager, seq)


def note_withdrawal(table: Table, event: WagerWithdrawn) -> None:
    """Note a stake that is taken back: it may be late, or too much."""
    amount = event.data.amount
    note_return(table, event.data.wager, event.seq, amount if isinstance(amount, int) else None)


def note_sweep(table: Table, event: StakesCollected) -> None:
    """Note what is swept: a late stake that was swept was not sent back. And money moves."""
    close(table, RESULT)
    for wager_id in event.data.wagers:
        _spoil(table, wager_id)


def note_settlement(table: Table, event: DisputeSettled) -> None:
    """Note a settlement: a late stake that was paid was not sent back."""
    _spoil(table, table.disputes.get(event.data.opened) or "")


def note_change(table: Table, wager: Wager, seq: int) -> None:
    """Note that event ``seq`` changed how much lies where ``wager`` lies."""
    changed = [
        (act, other)
        for act in islice(reversed(table.acts.values()), MOST_TOGETHER)
        if act.first.rule == LIMITS
        and (other := table.wagers.get(act.first.wager or "")) is not None
        and (other is wager or _lie_together(wager, other))
    ]
    if changed:
        sums = _sums_with(table, wager)
        for act, other in changed:
            act.right_by = (act.right_by or seq) if _lies_within(act, other, sums) else 0


def lying_with(table: Table, wager: Wager) -> list[Wager]:
    """Return the other stakes of the same player that play on the same combination, the last first."""
    if wager.player is None:
        return []
    wagers = table.wagers
    others = (wagers[live] for live in islice(reversed(table.live), MOST_TOGETHER))
    return [other for other in others if other is not wager and _lie_together(wager, other)]


def _lie_together(wager: Wager, other: Wager) -> bool:
    return (
        other.player == wager.player
        and other.player is not None
        and other.bet == wager.bet
        and other.number == wager.number
        and other.pockets == wager.pockets
        and other.which == wager.which
        and other.status == "open"
    )


def _late(wager_id: str) -> str:
    return f"wager.placed {wager_id} late"


def _spoil(table: Table, wager_id: str) -> None:
    act = table.acts.get(_late(wager_id))
    if act is not None:
        act.right_by, act.is_closed = 0, True


def _went_back(table: Table, act: PendingAct) -> int:
    """Art. 57-1 al. 6: whether a late stake went back to its player whole, and nothing else was paid on it."""
    wager = table.wagers[act.first.wager or ""]
    if wager.winnings_paid or not 0 <= wager.stake_paid <= wager.stake:
        return 0
    # What is taken back and what is handed back are one movement.
    is_whole = not act.back or wager.stake_paid == wager.stake
    return max(act.right_by, wager.changed_by) if is_whole else 0


def _is_within(table: Table, act: PendingAct) -> int:
    """Whether a stake is gone, or lies within the limits with those of its player on the same combination.

    What is laid or taken back after the call has no effect: as it lies at the call, so it lies when the coup ends.
    """
    wager = table.wagers.get(act.first.wager or "")
    if wager is None:
        return act.right_by
    if wager.status == "void":
        late = table.acts.get(_late(wager.id))
        return 0 if late is None else _right_by(table, late)
    # Or other stakes were found late when the call came.
    is_within = _lies_within(act, wager, _sums_with(table, wager))
    return act.right_by or table.call or wager.changed_by if is_within else 0


def _sums_with(table: Table, wager: Wager) -> dict[str, int]:
    """Return of each of the stakes that lie together what lies there with it, in order of placement; "" is all."""
    lying = [*lying_with(table, wager), *([wager] if wager.status == "open" else [])]
    lying.sort(key=lambda each: each.placed_by)
    sums, total = {}, 0
    for each in lying:
        total += each.standing
        sums[each.id] = total
    return sums | {"": total}


def _lies_within(act: PendingAct, wager: Wager, sums: Mapping[str, int]) -> bool:
    """Whether a stake is gone or within the limits: the minimum binds what lies there, the maximum what did with it."""
    limit = act.first.expected if isinstance(act.first.expected, int) else 0
    if wager.status != "open":
        return True
    if act.first.facts["bound"] == "minimum":
        return sums[""] >= limit
    return sums.get(wager.id, sums[""]) <= limit


# Payments


def announce_again(table: Table, wager: Wager, seq: int, amount: int) -> None:
    """Note that another ``amount`` is announced in place of one that was wrong. It judges payments."""
    key = f"payment.announced {wager.id}"
    if wager.announced != wager.winnings_due and key not in table.acts and not table.closed_by:
        wrong(
            table,
            key,
            AMOUNT,
            wager.announced_by,
            wager=wager,
            expected=wager.winnings_due,
            recorded=wager.announced,
            announced_seq=wager.announced_by,
        )
    act = table.acts.get(key)
    if act is not None:
        act.found.clear()
        act.right_by = seq


def note_recovery(table: Table, event: PayoutRecovered) -> None:
    """Note what is taken back from a player: it may have been paid in another's colour."""
    data = event.data
    act = table.acts.get(f"payout.made {data.wager}")
    if act is not None:
        act.back -= data.winnings or data.stake
        act.right_by = event.seq if act.right_by else 0


def _is_in_own_colour(table: Table, act: PendingAct) -> int:
    return act.right_by if act.back <= 0 else 0


def _is_announced_right(table: Table, act: PendingAct) -> int:
    wager = table.wagers[act.first.wager or ""]
    return act.right_by if wager.announced == wager.winnings_due else 0


_CHECKS: Mapping[str, Callable[[Table, PendingAct], int]] = MappingProxyType(
    {LATE: _went_back, LIMITS: _is_within, COLOUR: _is_in_own_colour, AMOUNT: _is_announced_right}
)
"""By rule: the event that put an act right, as things stand, 0 if it is wrong. Of the others ``right`` says it."""
