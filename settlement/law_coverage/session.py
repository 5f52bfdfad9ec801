"""What of the law was checked in one session: the list of clauses crossed with what its table observes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from settlement.catalogue import RULES
from settlement.law_coverage import Covered, covered, governing
from settlement.law_coverage.families import looked_at
from settlement.ruleset import RULESETS

State: TypeAlias = Literal["checked", "partly checked", "not checked", "not observable", "reading", "defines"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class SessionSentence:
    """One clause in one session.

    ``silent`` are those of its rules that had nothing to look at, for lack of the families ``lacking``. *checked*:
    every rule could speak; *partly checked*: some; *not checked*: none. A clause without a rule is what its kind is,
    what is not observable before the reading, and that before the definition. ``is_by_analogy``: its text governs
    another game.
    """

    sentence: Covered
    state: State
    silent: tuple[str, ...]
    lacking: tuple[str, ...]
    is_by_analogy: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.sentence.as_dict(),
            "state": self.state,
            "silent": list(self.silent),
            "lacking": list(self.lacking),
            "by_analogy": self.is_by_analogy,
        }


def in_session(ruleset: str | None, unchecked: Collection[str]) -> tuple[SessionSentence, ...]:
    """Return every clause that ``ruleset`` rests on, for a session that lacks the families ``unchecked``.

    Texts that govern another game are left out, but for the clauses that are followed by analogy, which come last.
    Nothing for a ruleset that does not exist: such a session is not adjudicated.
    """
    if ruleset is None or ruleset not in RULESETS:
        return ()
    own = governing(ruleset)
    missing = frozenset(unchecked)
    every = [_crossed(each, missing, is_by_analogy=each.text not in own) for each in covered(ruleset)]
    return (
        *(each for each in every if not each.is_by_analogy),
        *(each for each in every if each.is_by_analogy and (each.sentence.rules or each.sentence.readings)),
    )


def counts(sentences: Collection[SessionSentence]) -> Mapping[State, int]:
    """Return how many of ``sentences`` are in each state, every state included."""
    found = Counter(each.state for each in sentences)
    return {state: found[state] for state in STATES}


def _crossed(sentence: Covered, missing: frozenset[str], *, is_by_analogy: bool) -> SessionSentence:
    engine_rules = [rule for rule in sentence.rules if RULES[rule].raised_by != "record"]
    silent = tuple(rule for rule in engine_rules if looked_at(rule) & missing)
    lacking = tuple(sorted(missing & frozenset[str]().union(*map(looked_at, silent))))
    state: State
    if sentence.rules:
        state = _state_of_rules(len(engine_rules), len(silent))
    elif "not observable" in sentence.kinds:
        state = "not observable"
    else:
        state = "reading" if sentence.readings else "defines"
    return SessionSentence(sentence, state, silent, lacking, is_by_analogy)


def _state_of_rules(rules: int, silent: int) -> State:
    if not silent:
        return "checked"
    return "partly checked" if silent < rules else "not checked"
