"""Families of events: what a session observes, and which rules are silent without it.

A table sees what its equipment sees: a reader of the wheel knows results and no stakes, a table with chip sensors knows
stakes and no payments. A missing event is no fault of a table that does not report its family. So a rule that takes
the *absence* of an event for a fact is silent where the family of that event is not observed, and the answer lists
the family as unchecked. A rule on an event that came is not silent, whatever else is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from settlement.catalogue.rule import Rule

PLAY = frozenset({"wagers", "results", "decisions", "payouts"})
"""The families of the play itself. A session that lists none of them observes all four."""

_RESULTS, _WAGERS, _DECISIONS, _PAYOUTS = (frozenset({name}) for name in ("results", "wagers", "decisions", "payouts"))

HEEDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # A result that decided the wager may have come unseen.
        "payout-without-result": _RESULTS,
        "push-paid": _RESULTS,
        "barred-number-settled": _RESULTS,
        "inactive-wager-settled": _RESULTS,
        "void-throw-settled": _RESULTS,
        "wager-left-open": _RESULTS,
        "imprisoned-at-close": _RESULTS,
        "zero-decision-without-zero": _RESULTS,
        "announcement-mismatch": _RESULTS,
        # A throw may have ended the series, or set a point, or been voided.
        "line-wager-after-come-out": _RESULTS,
        "come-wager-on-come-out": _RESULTS,
        "withdrawal-not-after-indecisive-roll": _RESULTS,
        "point-marker-mismatch": _RESULTS,
        "come-moved-to-wrong-number": _RESULTS,
        "dice-changed-during-point-series": _RESULTS,
        "dice-passed-without-seven-out": _RESULTS,
        "shooter-removed-without-repeated-violation": _RESULTS,
        # A result would have opened the betting again.
        "wager-after-no-more-bets": _RESULTS,
        "wager-near-call": _RESULTS,
        "withdrawal-after-no-more-bets": _RESULTS,
        "working-call-late": _RESULTS,
        # A stake may lie there unseen, or have been moved.
        "shooter-without-line-wager": _WAGERS,
        "unseated-player-over-limit": _WAGERS,
        "come-not-moved": _WAGERS,
        # The player may have chosen.
        "zero-decision-missing": _DECISIONS,
        "imprisoned-stake-withdrawn": _DECISIONS,
        # The money may have been handed over.
        "payout-missing": _PAYOUTS,
        "spin-before-payments-complete": _PAYOUTS,
    }
)
"""The families of the play without which a rule is silent, beside the one that its entry in the catalogue needs."""

OF_UNKNOWN_WAGERS = frozenset(
    {
        "payout-without-result",
        "winning-wager-collected",
        "zero-decision-without-zero",
        "come-moved-to-wrong-number",
        "void-throw-settled",
    }
)
"""The rules that are silent about an id that is not known where ``wagers`` are not observed: it was placed unseen."""

OF_UNDECIDED_WAGERS = frozenset({"winning-wager-collected"})
"""The rules that are silent about a wager that is not decided where ``results`` are not observed: it may be lost."""

AFTER_A_ZERO = frozenset(
    {"wager-left-open", "imprisoned-at-close", "losing-wager-not-collected", "winning-wager-collected"}
)
"""The rules that are silent about a wager that a zero hit, where neither ``decisions`` nor ``payouts`` are observed.

The player may have chosen the half and have it.
"""

_NONE: frozenset[str] = frozenset()


def observed(listed: Iterable[str]) -> frozenset[str]:
    """Return what a session observes that lists ``listed``."""
    families = frozenset(listed)
    return families if families & PLAY else families | PLAY


def is_silent(rule: str, observes: frozenset[str], *, is_unknown: bool, is_undecided: bool, was_zero: bool) -> bool:
    """Whether ``rule`` says nothing of a wager to a table that observes ``observes``, for what is not seen there.

    ``is_unknown``: nobody placed a wager of that id. ``is_undecided``: it plays. ``was_zero``: a zero has hit it.
    """
    unseen = PLAY - observes
    if not unseen:
        return False
    return (
        not unseen.isdisjoint(HEEDS.get(rule, _NONE))
        or (is_unknown and "wagers" in unseen and rule in OF_UNKNOWN_WAGERS)
        or (is_undecided and "results" in unseen and rule in OF_UNDECIDED_WAGERS)
        or (was_zero and unseen >= _DECISIONS | _PAYOUTS and rule in AFTER_A_ZERO)
    )


def families_of(rule: Rule) -> frozenset[str]:
    """Return the families that ``rule`` needs, wholly or for some of its cases."""
    needed = frozenset({rule.needs}) if rule.needs else _NONE
    if rule.name in OF_UNKNOWN_WAGERS:
        needed |= _WAGERS
    if rule.name in OF_UNDECIDED_WAGERS:
        needed |= _RESULTS
    if rule.name in AFTER_A_ZERO:
        needed |= _DECISIONS | _PAYOUTS
    return needed | HEEDS.get(rule.name, _NONE)
