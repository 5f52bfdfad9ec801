"""What the page of a correction shows: what was recorded and what it would become, by whom, both readings and felts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext
from msgspec.structs import replace

from audit.adjudication import stream_reader
from audit.adjudication.both_readings import BothReadings, DifferingWager, WagerReading, both_readings
from audit.corrections.decisions import state_of
from audit.corrections.wording import decided_in_words
from audit.desk.corrections.felts import BothFelts
from audit.desk.corrections.speaks import notes_of
from audit.desk.findings.verdict import Term
from audit.desk.names import page_directory
from audit.desk.parts import due_ring
from audit.desk.tables.event_sentences import sentence
from audit.desk.tables.replay import persons_in
from audit.event_store import read
from audit.models import CorrectionDecision, Finding
from audit.models.cases import State
from audit.persons.directory import NO_NAMES, Directory, mentioned_in, named_facts, persons_of_facts, staff
from audit.presentation import (
    bet_label,
    finding_title,
    language,
    local,
    money,
    money_in_prose,
    payment_error,
    reference,
    signed_money,
    time_left,
    wager_status,
)
from settlement import Event
from settlement import Finding as FoundFinding
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount_in_prose
from settlement.codec import decode_one_stored
from settlement.corrections import as_corrected, fitting
from settlement.finding import Outcome

WAGERS_SHOWN = 50
FINDINGS_SHOWN = 50


def correction_context(
    finding: Finding, decisions: Sequence[CorrectionDecision], *, with_names: bool = False
) -> dict[str, Any]:
    """Return the context of the page of the correction that ``finding`` is of; ``with_names`` beside persons' ids."""
    change = _event(finding, finding.seq)
    target = _event(finding, int(finding.facts.get("corrects") or 0))
    corrected = _corrected(finding, change, target)
    both = both_readings(finding.stream_id, finding.seq)
    felts = BothFelts(finding, both) if both is not None else None
    directory = NO_NAMES
    people = [getattr(change, "actor", None), getattr(getattr(change, "data", None), "approved_by", None)]
    if with_names:
        named = [*mentioned_in(each for each in (target, corrected) if each is not None), *staff(people)]
        named += persons_of_facts(finding.facts)
        for playback in (felts.without, felts.with_it) if felts is not None else ():
            named += persons_in(playback)
        directory = page_directory(finding.casino_id, named, with_names=True)
    rule = RULES[finding.rule]
    recorded_by, approved_by = (directory.staff(each) if each else "" for each in people)
    value = replace(finding.as_value(), facts=named_facts(finding.facts, directory))
    return {
        "finding": finding,
        "reference": reference(finding),
        "state": state_of(decisions),
        "decisions": decisions,
        "message": f"{value.message(language(), amount_in_prose)} {decided_in_words(finding, decisions)}".strip(),
        "explanation": rule.explanation.in_language(language()),
        "no_clause": rule.reason.in_language(language()) if rule.reason else "",
        "target": _described(target, finding, directory),
        "corrected": _described(corrected, finding, directory),
        "annuls": corrected is None,
        "recorded_by": recorded_by,
        "approved_by": approved_by,
        "reason": finding.facts.get("reason") or "",
        "both": both is not None,
        "felts": felts.context(directory) if felts is not None else None,
        "outcomes": [_outcome(each, finding.currency) for each in value.outcomes],
        "outcomes_sum": _outcomes_sum(value),
        "wagers": list(islice(_wagers(both, finding.currency, finding.ruleset), WAGERS_SHOWN)) if both else [],
        "wagers_left_out": max(0, len(both.wagers) - WAGERS_SHOWN) if both else 0,
        "sums": _sums(both, finding.currency) if both is not None else None,
        "change": _change(value, both),
        "speaks": list(notes_of(finding, both, target.occurred_at if target is not None else None)),
        "due": _due(finding),
        "only_without": _titles(both.only_without) if both is not None else [],
        "only_with": _titles(both.only_with) if both is not None else [],
        "found": len(both.only_without) + len(both.only_with) if both is not None else 0,
        "found_shown": sum(min(len(each), FINDINGS_SHOWN) for each in (both.only_without, both.only_with))
        if both
        else 0,
    }


def _corrected(finding: Finding, change: Event | None, target: Event | None) -> Event | None:
    """Return how an entry reads by a change; None where it never happened."""
    if change is None or target is None:
        return None
    if not finding.facts.get("annulled"):
        return fitting(change, target)  # type: ignore[arg-type]
    before = stream_reader.corrections_of(finding.stream_id, known_through=finding.seq)
    return as_corrected(target, before)[0]


def _event(finding: Finding, seq: int) -> Event | None:
    stored = read.events_at(finding.stream_id, [seq]).get(seq)
    return decode_one_stored(stored) if stored else None


def _described(event: Event | None, finding: Finding, directory: Directory) -> dict[str, Any] | None:
    if event is None:
        return None
    text = sentence(event, language(), finding.currency, finding.ruleset, directory)
    return {"seq": event.seq, "at": local(event.occurred_at, finding.casino), "text": text}


def _wagers(both: BothReadings, currency: str, ruleset: str) -> Iterator[dict[str, Any]]:
    for each in both.wagers:
        one = each.without or each.with_it
        assert one is not None, "it differs in one reading at least"
        yield {
            "id": each.wager,
            "bet": bet_label(ruleset, one.bet),
            "without": _reading(each.without, currency),
            "with_it": _reading(each.with_it, currency),
        }


def _reading(reading: WagerReading | None, currency: str) -> dict[str, str] | None:
    if reading is None:
        return None
    due = money(reading.winnings_due + reading.stake_due, currency)
    paid = reading.winnings_paid + reading.stake_paid
    return {
        "stake": money(reading.stake, currency),
        "status": wager_status(reading.status, currency),
        "due": due,
        "paid": money(paid, currency),
        "difference": payment_error(paid - reading.winnings_due - reading.stake_due, currency),
    }


def _outcome(outcome: Outcome, currency: str) -> dict[str, str]:
    """Return whose outcome a correction changes, from what to what; the player as the page names persons."""
    return {
        "player": outcome.player or gettext("unknown player"),
        "wager": outcome.wager,
        "was": _gained(outcome.before, currency) or wager_status(outcome.was, currency),
        "now": _gained(outcome.after, currency) or wager_status(outcome.now, currency),
        "difference": _favours(outcome.after - outcome.before, currency),
    }


def _outcomes_sum(finding: FoundFinding) -> dict[str, Any] | None:
    """Return of how many wagers the outcome changes, and what that means for all of their players together."""
    sums = finding.outcomes_sum
    if sums is None:
        return None
    return {
        "number": sums["wagers"],
        "left_out": sums["wagers"] - len(finding.outcomes),
        "was": _gained(sums["before"], finding.currency) or gettext("nothing"),
        "now": _gained(sums["after"], finding.currency) or gettext("nothing"),
        "difference": _favours(sums["after"] - sums["before"], finding.currency),
    }


def _gained(minor: int, currency: str) -> str:
    """Return what a player wins or loses, in words instead of a sign; "" if neither."""
    if not minor:
        return ""
    words = gettext("wins %(amount)s") if minor > 0 else gettext("loses %(amount)s")
    return words % {"amount": money(abs(minor), currency)}


def _favours(minor: int, currency: str) -> str:
    """Return by how much an outcome is better for a player, or worse; "" if it is all the same in money."""
    if not minor:
        return ""
    words = gettext("%(amount)s more for the player") if minor > 0 else gettext("%(amount)s less for the player")
    return words % {"amount": money(abs(minor), currency)}


def _sums(both: BothReadings, currency: str) -> dict[str, dict[str, str]]:
    """Return what the house wins on the wagers that differ, by the rules and as recorded, in both readings."""

    def of(which: str) -> dict[str, str]:
        readings = [_side(each, which) for each in both.wagers]
        return {
            "recorded": signed_money(sum(each.recorded_win for each in readings if each is not None), currency),
            "adjudicated": signed_money(sum(each.adjudicated_win for each in readings if each is not None), currency),
        }

    return {"without": of("without"), "with_it": of("with_it")}


@dataclass(frozen=True, slots=True)
class Change:
    """What a correction moves by the rules: ``title`` says whom it favours; ``terms`` as on a finding's page."""

    title: str
    terms: tuple[Term, ...]
    is_difference: bool = False


def _change(finding: FoundFinding, both: BothReadings | None) -> Change | None:
    """Return whom a correction favours by the rules and by how much; None if nobody.

    It is the sum of the outcomes that the finding names, as they stood when the correction came, and so the one amount
    of the finding and of its page. A finding of an earlier engine names none: the two readings say it then.
    """
    sums = finding.outcomes_sum
    if sums is not None:
        wins = [-sums["before"], -sums["after"]]
    elif both is not None:
        wins = [
            sum(side.adjudicated_win for each in both.wagers if (side := _side(each, which)) is not None)
            for which in ("without", "with_it")
        ]
    else:
        return None
    gained = wins[1] - wins[0]
    if not gained:
        return None
    currency = finding.currency
    amount = money_in_prose(abs(gained), currency)
    if gained > 0:
        title, label = gettext("A correction would take %(amount)s from players"), gettext("Would stay with the house")
    else:
        title, label = gettext("A correction would give players %(amount)s"), gettext("Would go to players")
    terms = (
        Term(gettext("Without it"), _won(wins[0], currency)),
        Term(gettext("With it"), _won(wins[1], currency)),
        Term(label, amount, "bank" if gained > 0 else "player"),
    )
    return Change(title % {"amount": amount}, terms)


def _won(minor: int, currency: str) -> str:
    """Return who wins what, in words instead of a sign. ``minor`` is more than zero for the house."""
    words = gettext("%(amount)s for the house") if minor >= 0 else gettext("%(amount)s for players")
    return words % {"amount": money_in_prose(abs(minor), currency)}


def _side(wager: DifferingWager, which: str) -> WagerReading | None:
    return wager.without if which == "without" else wager.with_it


def _due(finding: Finding) -> str:
    """Return the ring and the time left until the deadline of a correction's case; "" without an open one."""
    case = finding.case
    return due_ring(time_left(case.deadline, since=case.opened_at)) if case and case.state != State.CLOSED else ""


def _titles(findings: Sequence[FoundFinding]) -> list[dict[str, Any]]:
    """Return the findings of one reading alone: each cause, with what follows from it under it."""
    shown = findings[:FINDINGS_SHOWN]
    known = {(each.rule, each.seq, each.wager) for each in shown}
    following: dict[tuple[str, int, str | None], list[FoundFinding]] = {}
    heads = []
    for each in shown:
        cause = each.caused_by
        key = (cause.rule, cause.seq, cause.wager) if cause is not None else None
        if key is not None and key in known:
            following.setdefault(key, []).append(each)
        else:
            heads.append(each)
    return [{**_title(each), "following": [*_under(each, following)]} for each in heads]


def _under(
    cause: FoundFinding, following: dict[tuple[str, int, str | None], list[FoundFinding]]
) -> Iterator[dict[str, Any]]:
    """Yield what follows from a finding, and from that in turn."""
    for each in following.get((cause.rule, cause.seq, cause.wager), ()):
        yield _title(each)
        yield from _under(each, following)


def _title(finding: FoundFinding) -> dict[str, Any]:
    return {
        "title": finding_title(finding.rule),
        "severity": finding.severity,
        "seq": finding.seq,
        "wager": finding.wager or "",
        "message": finding.message(language(), amount_in_prose),
    }
