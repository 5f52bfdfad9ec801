"""Patterns: incidents of one rule and one croupier that an officer works on as one, each with a case of its own.

    DEA-26-0151 ─┐
    DEA-26-0153 ─┼─ the pattern DEA-26-0151, by the reference of its first incident
    DEA-26-0160 ─┘

A case belongs to one incident (the contract, practice, section 8), so a pattern is no case: it is a name that the
actions of its cases bear. A case is in the pattern that the newest of its actions about patterns names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from audit.models import Case, CaseAction, Finding

JOINED = ("case.joined", "case.linked")
"""The actions that put a case into a pattern: one that the officer took with it, one that an officer had."""

LEFT = ("case.left", "case.unlinked")

OF_PATTERNS = ("join", "leave", "link", "unlink")
"""The transitions that those are of."""


def pattern_among(actions: Iterable[CaseAction]) -> str:
    """Return the name of the pattern of a case whose ``actions`` are these, in their order; "" for none."""
    newest = [action for action in actions if action.type in (*JOINED, *LEFT)][-1:]
    return next((action.about for action in newest if action.type in JOINED), "")


def pattern_of(case: Case) -> str:
    """Return the name of the pattern that a case is in, "" for none."""
    return patterns_of([case.pk]).get(case.pk, "")


def patterns_of(cases: Sequence[int]) -> dict[int, str]:
    """Return the name of the pattern of each of ``cases`` that is in one: one query."""
    actions = CaseAction.objects.filter(case__in=cases, type__in=(*JOINED, *LEFT)).order_by("case", "at", "pk")
    named = {case_id: pattern_among(of_case) for case_id, of_case in groupby(actions, lambda each: each.case_id)}
    return {case_id: name for case_id, name in named.items() if name}


def members(finding: Finding, name: str) -> list[int]:
    """Return the cases of the pattern ``name``, of which ``finding`` is an incident, in the order of their ids."""
    alike = Finding.objects.filter(casino=finding.casino_id, rule=finding.rule, croupier=finding.croupier)
    cases = list(alike.exclude(case=None).order_by("case").values_list("case", flat=True).distinct())
    return [case_id for case_id, own in patterns_of(cases).items() if own == name]
