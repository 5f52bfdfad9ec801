"""How a finding is reported: ``find``, with what follows from its rule, its amounts and its wager.

Which clauses it cites, whose stake it is, who paid or was on duty, who owes how much, and which other finding it is a
consequence of.
"""

from __future__ import annotations

from settlement.catalogue import RULES
from settlement.differences import difference_of, owed_by
from settlement.families import is_silent
from settlement.finding import Fact, Finding, FindingRef
from settlement.incidents import causes_of, note_at_once, remember
from settlement.provisions import analogy, cited, provision_of
from settlement.seats import player_at
from settlement.state import Table, Wager


def find(
    table: Table,
    rule: str,
    *evidence: int,
    wager: Wager | None = None,
    wager_id: str | None = None,
    about: Wager | None = None,
    expected: int | str | None = None,
    recorded: int | str | None = None,
    difference: int | None = None,
    croupier: str | None = None,
    severity: str | None = None,
    cites: str | None = None,
    **facts: Fact,
) -> None:
    """Report a finding of ``rule``. The last of ``evidence`` is the event that completes it; zeros are left out.

    Nothing is reported that rests on the absence of events which the session does not observe: ``families``.
    ``expected`` and ``recorded`` are amounts in minor units or text. ``difference`` overrides what follows from them.
    ``about`` is a wager whose player and payer are concerned although the finding does not name it; ``croupier`` is
    who paid where there is no wager. ``severity`` overrides the rule's own. ``cites`` is the rule whose clauses are
    cited in place of its own.
    """
    if table.session is not None and is_silent(
        rule,
        table.session.observes,
        is_unknown=wager is None and wager_id is not None,
        is_undecided=wager is not None and wager.undecided,
        was_zero=wager is not None and wager.zero_by > 0,
    ):
        return
    known, clauses = RULES[rule], RULES[cites or rule]
    seq = evidence[-1]
    about = about or wager
    if wager is not None:
        wager_id = wager.id
        facts = {"bet": wager.bet, "stake": wager.standing, "player": wager.player, **_placement_of(wager), **facts}
    ref = FindingRef(rule, seq, wager_id)
    causes = causes_of(table, rule, seq, wager, facts)
    remember(table, ref, wager, facts)
    if difference is None:
        difference = difference_of(rule, expected, recorded)
    provisions = cited(clauses, table.ruleset, wager.bet if wager else None, wager.status if wager else None)
    if (other_game := analogy(table.ruleset, provisions)) is not None:
        facts["analogy"] = other_game
    player = _player_of(table, about, facts)
    table.findings.append(
        Finding(
            rule=rule,
            severity=severity or known.severity,
            seq=seq,
            evidence=tuple(sorted({seq for seq in evidence if seq})),
            wager=wager_id,
            expected=expected,
            recorded=recorded,
            provision=provision_of(clauses, table.ruleset, wager.bet if wager else None),
            provisions=provisions,
            # A coup's money is judged when it ends: what was completed before a loss did not come after it.
            after_loss=table.after_loss and (table.loss is None or seq >= table.loss.seq),
            difference=difference,
            owed=owed_by(rule, difference, player),
            player=player,
            croupier=_croupier_of(table, about, croupier),
            causes=causes,
            facts=facts,
            currency=table.session.currency if table.session else "",
            ruleset=table.ruleset,
        )
    )
    note_at_once(table, table.findings[-1])


def _player_of(table: Table, wager: Wager | None, facts: dict[str, Fact]) -> str | None:
    """Return the player concerned: whose stake it is, or who is named, or who sits where it happened."""
    if wager is not None:
        return wager.player
    named, seat = facts.get("player"), facts.get("shooter")
    if isinstance(named, str):
        return named
    if not isinstance(seat, str):
        return None
    return seat if seat in table.seat_of else player_at(table, seat)


def _croupier_of(table: Table, wager: Wager | None, paid_by: str | None) -> str | None:
    """Return who paid, else who is on duty; None if that is not known."""
    if wager is not None and wager.payer is not None:
        paid_by = wager.payer
    return table.on_duty if paid_by is None else paid_by or None


def _placement_of(wager: Wager) -> dict[str, Fact]:
    placement: dict[str, Fact] = {}
    if wager.number is not None:
        placement["number"] = wager.number
    if wager.pockets:
        placement["numbers"] = list(wager.pockets)
    if wager.which:
        placement["which"] = list(wager.which)
    return placement
