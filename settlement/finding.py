"""A finding: one irregularity, the events that show it, and the facts of its message.

A finding is a value, never an exception: the replay reports it and reads on, so one bad throw at 22:10 does not hide a
bad payout at 22:15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from settlement.catalogue import Language, message

Fact: TypeAlias = int | str | Sequence[int | str] | None


class Finding(Struct, frozen=True, kw_only=True):
    """One irregularity. ``seq`` is the event that completes it; ``evidence`` ends no later than there.

    ``expected`` and ``recorded`` are amounts in minor units or text, as ``Rule.expected_is`` and ``recorded_is`` say in
    the catalogue. ``provision`` is the label of the clause (``provisions.PROVISIONS``), None for a rule that rests on
    the event contract alone. ``after_loss``: events before it are missing, so the state may be wrong.
    """

    rule: str
    severity: str
    seq: int
    evidence: tuple[int, ...]
    wager: str | None = None
    expected: int | str | None = None
    recorded: int | str | None = None
    provision: str | None = None
    after_loss: bool = False
    facts: dict[str, Fact] = {}
    currency: str = ""

    @property
    def order(self) -> tuple[int, str, str]:
        """The sort key of findings in an answer."""
        return (self.seq, self.rule, self.wager or "")

    def message(self, language: Language) -> str:
        """Return the finding as a sentence."""
        standard = {"wager": self.wager, "expected": self.expected, "recorded": self.recorded, "seq": self.seq}
        return message(self.rule, standard | self.facts, language, self.currency)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of section 6 of the event contract."""
        answer: dict[str, Any] = {
            "rule": self.rule,
            "severity": self.severity,
            "seq": self.seq,
            "evidence": list(self.evidence),
        }
        if self.wager is not None:
            answer["wager"] = self.wager
        answer["expected"] = self.expected
        answer["recorded"] = self.recorded
        answer["provision"] = self.provision
        if self.after_loss:
            answer["after_loss"] = True
        answer["message"] = {"en": self.message("en"), "fr": self.message("fr")}
        return answer
