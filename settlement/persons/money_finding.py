"""A finding about money over several streams, and how the exchanges that make it up become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from settlement.catalogue import RULES, Language, message, remedy
from settlement.finding import NO_NAMES, Fact
from settlement.persons.day import Day
from settlement.persons.exchanges import Exchange


class MoneyFinding(Struct, frozen=True, kw_only=True):
    """One finding about money over several streams. Amounts are minor units.

    ``stream`` and ``seq`` are the event that completes it, ``evidence`` the events of that stream, ascending, that one
    included; what proves it in other streams is the fact ``elsewhere``. ``player`` is None where nobody is known.
    """

    rule: str
    stream: str
    seq: int
    evidence: tuple[int, ...]
    currency: str
    wager: str | None = None
    player: str | None = None
    expected: int | None = None
    recorded: int | None = None
    facts: dict[str, Fact] = {}

    @property
    def severity(self) -> str:
        return RULES[self.rule].severity

    @property
    def order(self) -> tuple[str, int, str, str]:
        """The sort key of an answer: no two findings have the same."""
        return (self.stream, self.seq, self.rule, self.wager or "")

    def message(self, language: Language) -> str:
        """Return the finding as a sentence, with ids for persons."""
        return message(self.rule, self._known_facts(), language, self.currency)

    def remedy(self, language: Language, names: Mapping[str, str] = NO_NAMES) -> str:
        """Return what to do about it, as a sentence. ``names`` are put where the ids of facts would stand."""
        return remedy(self.rule, self._known_facts() | dict(names), None, language, self.currency)

    def _known_facts(self) -> dict[str, Any]:
        return {"seq": self.seq, "wager": self.wager, "expected": self.expected, "recorded": self.recorded} | self.facts


def finding_of(
    rule: str,
    day: Day,
    exchanges: Sequence[Exchange],
    *,
    expected: int,
    recorded: int,
    player: str | None,
    **facts: Fact,
) -> MoneyFinding:
    """Return a finding that the last of ``exchanges`` completes."""
    last = exchanges[-1]
    known: dict[str, Fact] = {"player": player, "gaming_day": day.gaming_day, "count": len(exchanges), **facts}
    known["elsewhere"] = [each.written for each in exchanges if each.stream != last.stream]
    return MoneyFinding(
        rule=rule,
        stream=last.stream,
        seq=last.seq,
        evidence=tuple(sorted({each.seq for each in exchanges if each.stream == last.stream})),
        currency=day.currency,
        player=player,
        expected=expected,
        recorded=recorded,
        facts={name: value for name, value in known.items() if value not in (None, [])},
    )
