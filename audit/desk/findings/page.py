"""What the page of a finding shows, gathered from the finding, the log and the law."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from audit.adjudication.results import wager_of
from audit.desk.findings.marked_law import MarkedText, marked_text
from audit.desk.tables.corrections import Corrected, corrections_to
from audit.desk.tables.event_sentences import Language, sentence
from audit.desk.tables.replay import replay_context
from audit.event_store import merkle, read
from audit.felt.moments import stretch_around
from audit.models import Finding
from settlement import decode
from settlement.catalogue import BET_LABELS, RULES
from settlement.catalogue.rule import Rule
from settlement.catalogue.sentences import amount, written
from settlement.provisions import wager_provision
from settlement.state import Wager

BEFORE, AFTER = 8, 5
"""Events shown before the one that completes a finding, and after it. Earlier evidence is shown on its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event of the stretch."""

    seq: int
    at: datetime
    words: str
    is_evidence: bool
    completes: bool
    skipped: int  # events between the line before and this one that are not shown
    corrected: Corrected | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Expected against recorded, written out; ``difference`` where both are money."""

    expected: str | None
    recorded: str | None
    difference: str | None


def page_of(finding: Finding, language: str) -> dict[str, Any]:
    """Return the context of the page of ``finding`` in ``language``."""
    tongue: Language = "fr" if language == "fr" else "en"
    rule = RULES[finding.rule]
    value = finding.as_value()
    batch = read.batch_holding(finding.stream_id, finding.seq)
    stored = read.events_at(finding.stream_id, [finding.seq]).get(finding.seq)
    wager = wager_of(finding.stream_id, finding.wager) if finding.wager else None
    return {
        "finding": finding,
        "rule": rule,
        "message": value.message(tongue),
        "explanation": rule.explanation.in_language(tongue),
        "comparison": _comparison(finding, rule, tongue),
        "clauses": _clauses(finding, rule),
        "no_clause": rule.reason.in_language(tongue) if rule.reason else None,
        "lines": _lines(finding, tongue),
        "wager": _wager(wager, finding, tongue) if wager else None,
        "batch": batch,
        "root": batch.root.hex() if batch else None,
        "chain": batch.chain.hex() if batch else None,
        "leaf": merkle.leaf(stored).hex() if stored else None,
        "replay": _replay(finding, tongue),
    }


def _replay(finding: Finding, language: Language) -> dict[str, Any] | None:
    """Return the table around the finding, opened at the event that completes it; None for what is no table's."""
    if finding.table_id is None:
        return None
    first, last = stretch_around(finding.seq, finding.evidence)
    wagers = {finding.wager} if finding.wager else ()
    return replay_context(finding.stream, first, last, finding.seq, language, wagers=wagers)


def _comparison(finding: Finding, rule: Rule, language: Language) -> Comparison | None:
    expected, recorded = finding.expected, finding.recorded
    if expected is None and recorded is None:
        return None
    money = rule.expected_is == "money" and rule.recorded_is == "money"
    both = money and isinstance(expected, int) and isinstance(recorded, int)
    return Comparison(
        expected=written(expected, rule.expected_is, language, finding.currency),
        recorded=written(recorded, rule.recorded_is, language, finding.currency),
        difference=_signed(recorded - expected, finding.currency, language) if both else None,
    )


def _signed(minor: int, currency: str, language: Language) -> str:
    return ("+" if minor > 0 else "") + amount(minor, currency, language)


def _clauses(finding: Finding, rule: Rule) -> list[MarkedText]:
    """Return the texts with the finding's own clause first, then the others that the rule rests on."""
    labels = [finding.provision, *rule.provisions.get(finding.ruleset, ())]
    texts = (marked_text(label) for label in dict.fromkeys(labels) if label)
    return [text for text in texts if text is not None]


def _lines(finding: Finding, language: Language) -> list[Line]:
    """Return the events around the finding, the evidence that lies further back before them."""
    zone = ZoneInfo(finding.casino.time_zone)
    shown = read.events_at(finding.stream_id, list(finding.evidence))
    shown.update(read.before(finding.stream_id, seq=finding.seq, limit=BEFORE))
    shown.update(read.slice_of(finding.stream_id, after=finding.seq - 1, limit=1 + AFTER))
    lines: list[Line] = []
    events = {seq: decode(shown[seq]) for seq in sorted(shown)}
    corrected = corrections_to(finding.stream_id, events.values(), language, finding.currency)
    for seq, event in events.items():
        lines.append(
            Line(
                seq=seq,
                at=event.occurred_at.astimezone(zone),
                words=sentence(event, language, finding.currency),
                is_evidence=seq in finding.evidence,
                completes=seq == finding.seq,
                skipped=seq - lines[-1].seq - 1 if lines else 0,
                corrected=corrected.get(seq),
            )
        )
    return lines


def _wager(outcome: Wager, finding: Finding, language: Language) -> dict[str, Any]:
    def money(minor: int) -> str:
        return amount(minor, finding.currency, language)

    label = BET_LABELS.get(outcome.bet)
    return {
        "id": outcome.id,
        "bet": label[language] if label else outcome.bet,
        "player": outcome.player,
        "stake": money(outcome.stake),
        "status": written(outcome.status, "status", language, finding.currency),
        "due": f"{money(outcome.winnings_due)} + {money(outcome.stake_due)}",
        "paid": f"{money(outcome.winnings_paid)} + {money(outcome.stake_paid)}",
        "provision": wager_provision(finding.ruleset, outcome.bet) if finding.ruleset else "",
    }
