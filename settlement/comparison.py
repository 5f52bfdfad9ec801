"""The same stream under one other condition, folded beside it: what a change to an earlier event took away.

``hides`` of a change are the findings that would stand without it, others standing but later ones of the same entry.
The other state begins where the change takes hold, at its entry, and is folded event by event with the main one until
both are the same again, which is usually at the next result. A wager settled otherwise is kept, and wakes the
comparison when it is mentioned.

          entry              change      result
    ────────┬────────────────┬──────────┬───────────────────► the stream as it stands
            └────────────────┴──────────┘  - - wagers apart   the same without the change

So a change costs a few events folded twice, wherever it is, and needs no second reading of a stream that is too long
for memory: the comparisons are part of the saved state. At most ``MOST_AWAKE`` run at once; another ends the oldest,
whose finding says through which event it was compared. The payments under another reading of the session are found
likewise.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable
from typing import Protocol

import msgspec

from settlement.changes import ref_of
from settlement.corrections import Change, Corrections
from settlement.events import Event, EventsLost, SessionClosed, SessionOpened
from settlement.finding import HIDING, Fact, Finding, FindingRef
from settlement.incidents import as_consequence
from settlement.mentions import mentioned
from settlement.state import Difference, Ledger, Table, Wager
from settlement.verdicts import as_it_stands

MOST_AWAKE = 16
"""The comparisons that run at once: a stream costs at most so many times as much to fold."""

MOST_APART = 2_000
"""The wagers kept of one comparison that were settled otherwise."""

OF_CHANGES = (*HIDING, "correction-without-effect")
"""The rules that tell of a change itself: only the main state raises them."""

PARAMS = 0
"""The comparison with the session's own params, in place of the seq of a change."""

_encode_table = msgspec.json.Encoder().encode
_decode_table = msgspec.json.Decoder(Table).decode
_encode_wagers = msgspec.msgpack.Encoder().encode
_decode_wagers = msgspec.msgpack.Decoder(list[Wager]).decode


def pending(table: Table) -> set[str]:
    """Return the ids of the wagers that something is pending on."""
    of_coup = (
        {change.wager for change in table.stake_changes}
        | table.moved.keys()
        | table.taken.keys()
        | table.left_up.keys()
    )
    of_coup |= {link.source for link in table.left_up.values()}
    of_coup |= {act.first.wager or "" for act in table.acts.values()} & table.wagers.keys()
    of_coup |= table.off_and_on.keys() & table.wagers.keys()
    return of_coup | table.live.keys() | table.due.keys() | table.swept.keys()


class Folded(Protocol):
    """What a comparison asks of a state, the main one and the others alike: ``engine.State`` is one."""

    corrections: Corrections
    table: Table

    @property
    def handled(self) -> Collection[type]: ...
    def corrected(self, event: Event) -> Event: ...
    def feed_all(self, events: Iterable[Event]) -> list[Finding]: ...
    def forget_findings(self) -> None: ...
    def recall(self, wagers: Iterable[Wager]) -> None: ...
    def twin(self, table: Table, without: int) -> Folded: ...


def beginning(state: Folded, event: Event) -> list[Change]:
    """Return the changes by which ``event``, their entry, is another than it was when each came; the oldest first."""
    kind, corrections = type(event), state.corrections
    if kind not in state.handled and kind not in (SessionOpened, EventsLost):
        return []
    here = (corrections.removed_by(event), corrections.corrected(event))
    return [
        change
        for change, before, after in corrections.steps(event)
        if here != (after if change.seq in corrections.held else before)
    ]


class Comparisons:
    """The states folded beside ``state``, by the seq of the change that they differ in."""

    __slots__ = ("_woken_by", "others", "state")

    def __init__(self, state: Folded) -> None:
        self.state: Folded = weakref.proxy(state)  # it has these: a circle is freed only by the garbage collector
        self.others: dict[int, Folded] = {}
        self._woken_by: dict[str, set[int]] = {}  # a wager -> the comparisons that an event about it wakes
        for key, difference in state.table.differences.items():
            if difference.table is not None:
                self.others[key] = self._other(key, difference.table)
            else:
                self._sleep(key)

    def begin(self, event: Event) -> None:
        """Begin a comparison for each change that makes ``event`` another; it comes next."""
        table, held = self.state.table, self.state.corrections.held
        changes = beginning(self.state, event)
        for left, change in zip(range(len(changes), 0, -1), changes, strict=True):
            cause = None if change.seq in held else ref_of(change)
            difference = Difference(table=None, entry=event.seq, cause=cause)
            if left <= MOST_AWAKE:
                difference.table = self._copy()
                self._set_going(change.seq, difference)
            else:  # the next would end it
                difference.ended_at, difference.revised = table.last_seq, True
                table.differences[change.seq] = difference

    def begin_with(self, other: Folded) -> None:
        """Begin the comparison with the session's own params."""
        self.state.table.differences[PARAMS] = Difference(table=other.table)
        self.others[PARAMS] = other

    def before(self, event: Event, ids: set[str]) -> None:
        """Make ready for ``event``, which mentions ``ids``: wake what it concerns, lend what the others do not hold."""
        held = self.state.table.wagers
        if woken := {key for each in ids for key in self._woken_by.get(each, ())}:
            for key in [each for each in self.state.table.differences if each in woken]:
                self._wake(key)
        for key, other in self.others.items():
            never_placed = self.state.table.differences[key].absent
            # Looked up one by one: to subtract the keys of a dictionary costs as much as it has wagers.
            absent = [
                each
                for each in sorted(ids)
                if each in held and each not in other.table.wagers and each not in never_placed
            ]
            # One that is undecided here, and not held there, does not play there at all: its source does.
            lent = [held[wager_id] for wager_id in absent if not held[wager_id].undecided]
            if lent:
                other.recall(_copied(lent))

    def _wake(self, key: int) -> None:
        difference = self.state.table.differences[key]
        for wager_id in _otherwise(difference):
            self._woken_by[wager_id].discard(key)
        difference.table = self._copy()
        difference.table.wagers.update((wager.id, wager) for wager in difference.apart)
        difference.apart = []
        self._set_going(key, difference)

    def _sleep(self, key: int) -> None:
        for wager_id in _otherwise(self.state.table.differences[key]):
            self._woken_by.setdefault(wager_id, set()).add(key)

    def after(self, event: Event, found: list[Finding]) -> None:
        """Fold ``event`` in the others, too; ``found`` is what it raised here."""
        if not self.others:
            return
        here = [finding.ref for finding in found if finding.rule not in OF_CHANGES]
        ids = mentioned((event, self.state.corrected(event))) & self.state.table.wagers.keys()
        for key, other in list(self.others.items()):
            if other.table.last_seq >= event.seq:  # the opener, which began it
                continue
            difference = self.state.table.differences[key]
            before = len(other.table.findings)
            other.feed_all((event,))
            # ``before`` lent what the others did not hold: what is missing now, was placed here alone.
            difference.absent = sorted(each for each in {*difference.absent, *ids} if each not in other.table.wagers)
            there = [finding.ref for finding in other.table.findings[before:]]
            other.forget_findings()
            if key != PARAMS and here != there:
                _cancel(difference, here, there)
                difference.revised = True
                self._excuse(difference, len(found))
        if event.is_result or type(event) is SessionClosed:
            self.settle(event.seq)

    def _excuse(self, difference: Difference, raised: int) -> None:
        """Put the last ``raised`` findings down to a change, as far as they hold only by it: for information.

        What was done between an entry and its correction was done under the entry. Money is judged by what stands.
        """
        findings = self.state.table.findings
        for at in range(len(findings) - raised, len(findings)):
            finding = findings[at]
            if finding.ref in difference.only_here and _is_by(difference, finding):
                assert difference.cause is not None
                findings[at] = as_consequence(finding, difference.cause)
                difference.has_consequences = True
                _keep_in_account(self.state.table, findings[at])

    def excused(self, standing: list[Finding]) -> list[Finding]:
        """Return the findings of the coup under way, those put down to a change that hold only by it."""
        for key, other in self.others.items():
            difference = self.state.table.differences[key]
            if difference.cause is not None and standing:
                there = {finding.ref for finding in as_it_stands(other.table).found}
                standing = [
                    as_consequence(finding, difference.cause)
                    if finding.ref not in there and _is_by(difference, finding)
                    else finding
                    for finding in standing
                ]
        return standing

    def is_followed(self, key: int) -> bool:
        """Whether findings hold only by change ``key``, or may when the coup ends."""
        other = self.others.get(key)
        is_pending = other is not None and other.table.acts != self.state.table.acts
        return is_pending or self.state.table.differences[key].has_consequences

    def differing(self, key: int) -> set[str]:
        """Return the wagers that may differ without change ``key``, or with it."""
        other = self.others.get(key) if key != PARAMS else None
        return set() if other is None else {*other.table.wagers, *self.state.table.differences[key].absent}

    def settle(self, seq: int) -> None:
        """Drop what is the same in both, and end the comparisons of states that are the same again."""
        table = self.state.table
        for key, other in list(self.others.items()):
            difference = table.differences[key]
            if key == PARAMS and self.pays_otherwise():
                self._give_up(key)
                continue
            there = other.table
            kept = pending(there)
            for wager in [each for each in there.wagers.values() if each.id not in kept]:
                if key == PARAMS or table.wagers.get(wager.id) == wager:
                    del there.wagers[wager.id]
            if (
                seq > key != PARAMS
                and _play(there) == _play(table)
                and all(table.wagers.get(wager_id) == there.wagers[wager_id] for wager_id in kept)
            ):
                difference.apart = [wager for wager in there.wagers.values() if wager.id not in kept]
                difference.table = None
                del self.others[key]
                self._sleep(key)
            elif len(there.wagers) > MOST_APART + len(kept):
                self._end(key, seq)

    def pending(self) -> set[str]:
        """Return the ids of the wagers that something is pending on in a comparison."""
        return set().union(*(pending(other.table) for other in self.others.values()))

    def pays_otherwise(self) -> bool:
        """Whether the session's own params make another amount due to a wager; once found, it stays so."""
        difference = self.state.table.differences.get(PARAMS)
        if difference is None:
            return False
        if difference.table is None:
            return True
        held = self.state.table.wagers
        return any(
            (wager.winnings_due, wager.stake_due) != (here.winnings_due, here.stake_due)
            for wager in difference.table.wagers.values()
            if (here := held.get(wager.id)) is not None
        )

    def is_revised(self, key: int) -> bool:
        """Whether the finding of a comparison says more than when it was raised, or last told."""
        if key == PARAMS and self.pays_otherwise() and key in self.others:
            self._give_up(key)
        return self.state.table.differences[key].revised

    def revise(self, findings: list[Finding], standing: Collection[Finding] | None) -> list[Finding]:
        """Return ``findings``, those that a comparison is about as they read now.

        ``standing`` are those on the money of the coup under way, which the others are then asked for, too; None: of
        money, what ended coups say.
        """
        here = None if standing is None else [finding.ref for finding in standing]
        now = {
            (difference.finding.rule, difference.finding.seq): self.as_it_reads(key, here)
            for key, difference in self.state.table.differences.items()
            if difference.finding is not None
        }
        if not now:
            return findings
        return [now.get((finding.rule, finding.seq), finding) for finding in findings]

    def as_it_reads(self, key: int, standing: list[FindingRef] | None = None) -> Finding:
        """Return the finding of a comparison as it reads now.

        Of money it has what ended coups say, and with ``standing``, what is found here of the coup under way, that too.
        """
        difference = self.state.table.differences[key]
        if key == PARAMS:
            assert difference.finding is not None
            severity = "critical" if self.pays_otherwise() else difference.finding.severity
            return msgspec.structs.replace(difference.finding, severity=severity)
        if standing is not None and key in self.others:
            difference = msgspec.structs.replace(
                difference, only_here=[*difference.only_here], only_there=[*difference.only_there]
            )
            _cancel(difference, standing, [finding.ref for finding in as_it_stands(self.others[key].table).found])
        return as_it_reads(difference)

    def _set_going(self, key: int, difference: Difference) -> None:
        going = [each for each in self.others if each != PARAMS]
        if len(going) >= MOST_AWAKE:
            self._end(min(going), self.state.table.last_seq)
        self.state.table.differences[key] = difference
        assert difference.table is not None
        self.others[key] = self._other(key, difference.table)

    def _end(self, key: int, seq: int) -> None:
        self._give_up(key)
        difference = self.state.table.differences[key]
        difference.ended_at = seq
        difference.revised = True

    def _give_up(self, key: int) -> None:
        difference = self.state.table.differences[key]
        difference.table, difference.ended_at, difference.revised = None, self.state.table.last_seq, True
        difference.absent = []
        del self.others[key]

    def _other(self, key: int, table: Table) -> Folded:
        return self.state.twin(table, without=key)

    def _copy(self) -> Table:
        """Return a copy of the state's table, with the wagers that something is pending on."""
        table = self.state.table
        kept = pending(table)
        wagers = {wager_id: table.wagers[wager_id] for wager_id in sorted(kept)}
        # Beside the main state nothing is judged: of what changes are judged by, a voiding needs the last result.
        acted_on = {seq: noted for seq, noted in table.acted_on.items() if seq >= table.counted}
        plain = msgspec.structs.replace(
            table,
            wagers=wagers,
            found=[],
            findings=[],
            amended=[],
            differences={},
            corrections=[],
            acted_on=acted_on,
            last_money={},
        )
        return _decode_table(_encode_table(plain))


def as_it_reads(difference: Difference) -> Finding:
    """Return the finding of a change with what it hides by now: what stands without it, and does not with it."""
    assert difference.finding is not None
    hides = sorted(difference.only_here if difference.waits else difference.only_there, key=lambda each: each.order)
    facts: dict[str, Fact] = {**difference.finding.facts, "hides": [each.written() for each in hides]}
    facts["hidden"] = len(hides) or None
    if difference.ended_at:
        facts["compared_through"] = difference.ended_at
    return msgspec.structs.replace(difference.finding, facts=facts)


def _otherwise(difference: Difference) -> set[str]:
    """Return the wagers that are another in a comparison that is not under way, or that it does not have."""
    return {*(wager.id for wager in difference.apart), *difference.absent}


def _is_by(difference: Difference, finding: Finding) -> bool:
    """Whether ``finding`` is about what was done between an entry and its change, and not about money."""
    if difference.cause is None or finding.owed is not None:
        return False
    done = finding.facts.get("first_seq", finding.seq)  # what was put right names the event at which it was done
    return isinstance(done, int) and difference.entry < done < difference.cause.seq


def _keep_in_account(table: Table, finding: Finding) -> None:
    """Let the account of a wager, of whose chips ``finding`` is, know it as it reads now."""
    wager = table.wagers.get(finding.wager or "")
    if wager is not None and wager.account is not None:
        claims = wager.account.claims
        wager.account.claims = tuple(finding if each.ref == finding.ref else each for each in claims)


def _cancel(difference: Difference, here: list[FindingRef], there: list[FindingRef]) -> None:
    """Note findings of both sides; what is raised on both, at whatever event, cancels out."""
    for found, own, others in (
        (here, difference.only_here, difference.only_there),
        (there, difference.only_there, difference.only_here),
    ):
        for key in found:
            if key in others:
                others.remove(key)
            else:
                own.append(key)


def _play(table: Table) -> Table:
    """Return what of a table decides how it goes on, wagers aside."""
    return msgspec.structs.replace(
        table,
        wagers={},
        findings=[],
        amended=[],
        ledger=Ledger(),
        corrections=[],
        announced=[],
        held=[],
        found=[],
        acted_on={},
        counted=0,
        money=[],
        last_money={},
        read=0,
        differences={},
        first_of={},  # these three tell causes, which do not make another finding
        no_results=[],
        found_at_once=[],
    )


def _copied(wagers: Iterable[Wager]) -> list[Wager]:
    return _decode_wagers(_encode_wagers(list(wagers)))
