"""The answer to a stream: what was due on every wager, and what was irregular. Section 6 of the event contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from settlement.finding import Finding
from settlement.law_coverage.session import SessionSentence, in_session
from settlement.provisions import wager_provision
from settlement.ruleset import Ruleset
from settlement.state import Session, Table, Wager


class WagerOutcome(Struct, frozen=True, gc=False):
    """One wager: what was due and what was paid, in minor units. ``decided_by`` is a seq, None while undecided.

    ``debt`` is that of its account: above zero the player owes it to the house, below zero the house to him.
    ``player`` is whose stake it is, None if that is not known.
    """

    bet: str
    stake: int
    status: str
    winnings_due: int
    stake_due: int
    winnings_paid: int
    stake_paid: int
    decided_by: int | None
    provision: str
    debt: int = 0
    player: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


def outcomes_of(
    wagers: Iterable[Wager], provisions: Mapping[str, str], debts: Mapping[str, int]
) -> dict[str, WagerOutcome]:
    """Return the outcome of each of ``wagers`` by its id.

    ``provisions`` has the label of the clause of each bet, and under "" that of any other. ``debts`` are those that the
    coup under way leaves, where it moves them.
    """
    other = provisions[""]
    label_of = provisions.get
    outcomes = {
        wager.id: WagerOutcome(
            wager.bet,
            wager.stake,
            wager.status,
            wager.winnings_due,
            wager.stake_due,
            wager.winnings_paid,
            wager.stake_paid,
            wager.decided_by,
            label_of(wager.bet) or other,
            0 if wager.account is None else wager.account.debt,
            wager.player,
        )
        for wager in wagers
    }
    for wager_id in debts.keys() & outcomes.keys():
        outcomes[wager_id] = replace(outcomes[wager_id], debt=debts[wager_id])
    return outcomes


class Adjudication(Struct, frozen=True, kw_only=True):
    """The whole answer to one stream.

    ``ruleset`` is the name that the stream gives, known or not; None if it gives none. ``unchecked`` are the families
    of events that some rule needs and the table does not observe. ``currency`` is that of the amounts, "" if no session
    was opened; the object of section 6 has none.
    """

    stream: str
    ruleset: str | None
    events: int
    wagers: dict[str, WagerOutcome]
    findings: list[Finding]
    corrections: list[dict[str, int | str]]
    unchecked: list[str]
    state: dict[str, Any]
    currency: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the object of section 6."""
        return {
            "stream": self.stream,
            "ruleset": self.ruleset,
            "events": self.events,
            "wagers": {wager_id: outcome.as_dict() for wager_id, outcome in self.wagers.items()},
            "findings": [finding.as_dict() for finding in self.findings],
            "corrections": self.corrections,
            "unchecked": self.unchecked,
            "state": self.state,
        }

    def coverage(self) -> tuple[SessionSentence, ...]:
        """Return what of the law this answer checked, sentence by sentence. Empty for an unknown ruleset."""
        return in_session(self.ruleset, self.unchecked)


def unchecked(table: Table, ruleset: Ruleset, session: Session) -> list[str]:
    """Return the families that rules need and the session does not observe, and the bets outside the text."""
    return sorted([*(ruleset.families - session.observes), *(f"bet:{bet}" for bet in table.bets_out_of_scope)])


def provisions_of(ruleset: Ruleset | None) -> dict[str, str]:
    """Return the label of the clause of each bet, and under "" that of any other."""
    if ruleset is None:
        return {"": ""}
    of_bets = {bet: wager_provision(ruleset.name, bet) for bet in ruleset.kinds}
    return of_bets | {"": wager_provision(ruleset.name, None)}
