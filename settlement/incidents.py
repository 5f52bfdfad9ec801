"""Incidents: which finding holds only because of another.

A *cause* and its *consequences* are one incident: one case, one deadline. The consequences are

    money of a wager that was found void      its cause: what made it void
    the same irregularity while it lasts      the first finding of it
    what follows a voided throw               `valid-throw-voided`; else the first of it, as a lawful «Coup nul» is none
    payouts on a result that decides nothing  `invalid-pocket`, `invalid-dice-values`
    the order of payments, players mixed up   `payments-interleaved` of the same event
    everything after a loss of events         the loss
    what holds only by a later correction     the finding of the correction: ``comparison``

A finding knows its causes when it is raised, so that a record can store it at once. It reads the ``Table`` and the
``Wager``. ``with_consequences`` looks the other way, over a whole answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from settlement.catalogue import RULES
from settlement.catalogue.groups import PAID_ON_A_DECISION, PAID_ON_NO_DECISION, STAKE_REFUSED
from settlement.finding import Fact, Finding, FindingRef
from settlement.state import Table, Wager

LOSSES = frozenset({"events-lost", "sequence-gap"})

VOIDING = frozenset(
    {
        *STAKE_REFUSED,
        "wager-after-no-more-bets",
        "commission-not-paid",
        "commission-not-renewed",
    }
)
"""The rules that find a wager void, beside those of a ruleset's own that say so."""

MONEY = frozenset(
    {
        *PAID_ON_A_DECISION,
        *PAID_ON_NO_DECISION,
        "void-stake-kept",
        "winning-wager-collected",
        "rounded-in-players-favour",
        "void-throw-settled",
    }
)
"""The rules about money that changed hands for a wager, or should have."""

SETTLED_UNDECIDED = frozenset({*PAID_ON_NO_DECISION, "winning-wager-collected"})
"""How a payout or a sweep is found that follows a result which decides nothing."""

_NO_RESULT = frozenset({"invalid-pocket", "invalid-dice-values"})
"""The rules that find a result of no effect, beside those of a ruleset's own that say so."""

LASTING: Mapping[str, str] = MappingProxyType(
    {
        "payment-before-collection": "result_seq",
        "shooter-kept-dice-after-seven-out": "seven_out_seq",
        "void-throw-settled": "voided_seq",
    }
)
"""The rules that are found again while the irregularity lasts, and the fact that says since which event."""

JUDGED_LATER = "void-throw-settled"
"""The one of them that a move or a marker raises at once, a payout and a sweep when their coup ends."""

MOST_REMEMBERED = 100
"""The pockets or dice of one coup that are remembered as deciding nothing."""


def decides_nothing(rule: str) -> bool:
    """Whether ``rule`` finds that a result decides nothing."""
    return rule in _NO_RESULT or RULES[rule].effect == "decides_nothing"


def causes_of(
    table: Table, rule: str, seq: int, wager: Wager | None, facts: Mapping[str, Fact]
) -> tuple[FindingRef, ...]:
    """Return the causes of a finding that is being raised, the earliest first."""
    causes: set[FindingRef] = set()
    if table.after_loss and table.loss is not None and seq >= table.loss.seq:
        causes.add(table.loss)
    if wager is not None and wager.void_by and rule in MONEY:
        causes.update(wager.void_by)
    if rule in LASTING:
        lasts_since = facts.get(LASTING[rule])
        first = table.first_of.get(_lasting(rule, lasts_since))
        if first is not None and first[0] == lasts_since and first[1].seq <= seq:
            causes.add(first[1])
    if rule in SETTLED_UNDECIDED and wager is not None and wager.undecided:
        since = max(table.coup_began, wager.placed_by)
        causes.update([each for each in table.no_results if since < each.seq <= seq][-1:])
    if rule == "payment-order-violated":
        causes.update(each.ref for each in _of_event(table, seq) if each.rule == "payments-interleaved")
    return tuple(sorted(causes, key=lambda cause: cause.order))


def remember(table: Table, ref: FindingRef, wager: Wager | None, facts: Mapping[str, Fact]) -> None:
    """Remember a finding as far as later ones may be its consequences."""
    rule = ref.rule
    if rule in LOSSES:
        table.loss = table.loss or ref
    elif wager is not None and (rule in VOIDING or RULES[rule].effect == "refuses_stake"):
        wager.void_by = (*wager.void_by, ref)
    elif decides_nothing(rule):
        of_this_coup = [each for each in table.no_results if each.seq > table.coup_began]
        table.no_results = [*of_this_coup[1 - MOST_REMEMBERED :], ref]
    elif rule == "valid-throw-voided":
        table.first_of[_lasting(JUDGED_LATER, ref.seq)] = (ref.seq, ref)
    elif rule in LASTING:
        since = facts.get(LASTING[rule])
        key = _lasting(rule, since)
        first = table.first_of.get(key)
        # Money is judged when its coup ends, after a move that came later: then it is the first.
        if isinstance(since, int) and (first is None or first[0] != since or first[1].seq > ref.seq):
            table.first_of[key] = (since, ref)


def note_at_once(table: Table, found: Finding) -> None:
    """Keep a finding of a move or a marker while a payout or a sweep before it waits for its verdict."""
    if found.rule == JUDGED_LATER and (table.moved or table.taken):
        table.found_at_once.append(found)


def caused_anew(table: Table, amended: Iterable[Finding]) -> list[Finding]:
    """Return the findings raised at once whose first is of money that has been judged since, as they read now.

    ``amended`` are those that the coup has changed, among which they may be.
    """
    anew: list[Finding] = []
    if not table.found_at_once:
        return anew
    as_amended = {each.order: each for each in amended}
    for raised in table.found_at_once:
        found = as_amended.get(raised.order, raised)
        since = found.facts.get(LASTING[JUDGED_LATER])
        _since, first = table.first_of[_lasting(JUDGED_LATER, since)]
        others = [cause for cause in found.causes if cause.rule not in (JUDGED_LATER, "valid-throw-voided")]
        if first.order != found.ref.order:
            others.append(first)
        causes = tuple(sorted(others, key=lambda cause: cause.order))
        if causes != found.causes:
            anew.append(replace(found, causes=causes))
    return anew


def forget_coup(table: Table) -> None:
    """Forget, when a coup has ended, what its findings were consequences of; not of the throw that is void now."""
    table.found_at_once.clear()
    now = _lasting(JUDGED_LATER, table.voided_by)
    for key in [key for key in table.first_of if key.startswith(JUDGED_LATER) and key != now]:
        del table.first_of[key]


def _lasting(rule: str, since: Fact) -> str:
    """Return where the first of ``rule`` is remembered: one that is judged later, for each event it may last since."""
    return f"{rule} {since}" if rule == JUDGED_LATER else rule


def _of_event(table: Table, seq: int) -> Iterable[Finding]:
    """Return the findings that event ``seq`` has raised so far, the last first."""
    for finding in reversed(table.findings):
        if finding.seq != seq:
            return
        yield finding


def as_consequence(finding: Finding, cause: FindingRef) -> Finding:
    """Return ``finding`` for information, as a consequence of ``cause``."""
    causes = tuple(sorted({*finding.causes, cause}, key=lambda each: each.order))
    return replace(finding, severity="info", causes=causes)


def with_consequences(findings: Sequence[Finding]) -> list[Finding]:
    """Return ``findings``, which are in order, each with the consequences that it has among them."""
    consequences: dict[FindingRef, list[FindingRef]] = {}
    for finding in findings:
        for cause in finding.causes:
            consequences.setdefault(cause, []).append(finding.ref)
    if not consequences:
        return list(findings)
    return [
        replace(finding, consequences=tuple(consequences[finding.ref])) if finding.ref in consequences else finding
        for finding in findings
    ]
