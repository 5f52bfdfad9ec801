"""What the page of a finding shows, gathered from the finding, the event store and the law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from msgspec.structs import replace

from audit.adjudication.results import wager_of
from audit.desk.findings.marked_law import MarkedText, marked_text
from audit.desk.tables.corrections import CorrectedEntry, Correction, corrections_to
from audit.desk.tables.event_sentences import sentence
from audit.desk.tables.replay import persons_in, replay_context
from audit.event_store import merkle, read
from audit.felt.frames import Playback, playback_of, range_around
from audit.models import Finding, RunCause
from audit.persons.directory import NO_NAMES, Directory, mentioned_in, named_facts, players, players_of_facts
from audit.presentation import (
    date_time,
    language,
    local,
    money,
    signed_money,
    superseded_by,
    value,
    wager_status,
)
from settlement import Event, decode
from settlement.catalogue import BET_LABELS, RULES
from settlement.catalogue.rule import Rule
from settlement.events import EntryCorrected
from settlement.provisions import wager_provision
from settlement.state import Wager

BEFORE, AFTER = 8, 5
"""Events shown before the one that completes a finding, and after it. Earlier evidence is shown on its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event around the finding."""

    seq: int
    at: datetime
    text: str
    is_evidence: bool
    completes: bool  # the finding is at this event
    skipped: int  # events left out between the line before and this one
    correction: Correction | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the rule expected and what was recorded. Each is None if the rule has none; ``difference`` is an amount."""

    expected: str | None
    recorded: str | None
    difference: str | None


def finding_context(finding: Finding, *, with_names: bool = False) -> dict[str, Any]:
    """Return the context of the page of ``finding``, in the active language; ``with_names`` beside persons' ids."""
    rule = RULES[finding.rule]
    batch = read.batch_holding(finding.stream_id, finding.seq)
    stored = read.events_at(finding.stream_id, [finding.seq]).get(finding.seq)
    wager = wager_of(finding.stream_id, finding.wager) if finding.wager else None
    events = _events_around(finding)
    corrections = corrections_to(finding.stream_id, events.values())
    playback = _playback(finding)
    directory = NO_NAMES
    if with_names:
        named = [
            *mentioned_in(events.values()),
            *chain.from_iterable(each.persons() for each in corrections.values()),
            *(persons_in(playback) if playback is not None else ()),
            *players_of_facts(finding.facts),
            *players([wager.player] if wager else []),
        ]
        directory = Directory.of(finding.casino_id, named)
    disputed = {finding.wager} if finding.wager else ()
    value_with_names = replace(finding.as_value(), facts=named_facts(finding.facts, directory))
    return {
        "finding": finding,
        "rule": rule,
        "message": value_with_names.message(language()),
        "explanation": rule.explanation.in_language(language()),
        "comparison": _comparison(finding, rule),
        "clauses": _clauses(finding, rule),
        "no_clause": rule.reason.in_language(language()) if rule.reason else None,
        "lines": _lines(finding, events, corrections, directory),
        "wager": _wager(wager, finding, directory) if wager else None,
        "batch": batch,
        "root": batch.root.hex() if batch else None,
        "chain": batch.chain.hex() if batch else None,
        "leaf": merkle.leaf(stored).hex() if stored else None,
        "replay": replay_context(finding.stream, playback, finding.seq, directory, disputed=disputed)
        if playback is not None
        else None,
        "superseded": _superseded(finding),
    }


def _superseded(finding: Finding) -> dict[str, Any] | None:
    """Return why a finding is superseded: by which run, and the correction that began it; None if it is not."""
    if finding.superseded_at is None:
        return None
    run = finding.superseded_by_run
    seq = run.corrections_through if run is not None and run.cause == RunCause.CORRECTION else 0
    stored = read.events_at(finding.stream_id, [seq]).get(seq) if seq else None
    event = decode(stored) if stored else None
    return {
        "by": superseded_by(finding),
        "at": date_time(finding.superseded_at, finding.casino),
        "correction": event if isinstance(event, EntryCorrected) else None,
        "of_night": finding.run_id is None,
    }


def _playback(finding: Finding) -> Playback | None:
    """Return the table around the finding; None if the stream is not a table's, or has no event there."""
    if finding.table_id is None:
        return None
    playback = playback_of(finding.stream_id, *range_around(finding.seq, finding.evidence))
    return playback if playback.frames else None


def _comparison(finding: Finding, rule: Rule) -> Comparison | None:
    expected, recorded, currency = finding.expected, finding.recorded, finding.currency
    if expected is None and recorded is None:
        return None
    difference = None
    if rule.expected_is == rule.recorded_is == "money" and isinstance(expected, int) and isinstance(recorded, int):
        difference = signed_money(recorded - expected, currency)
    return Comparison(
        expected=value(expected, rule.expected_is, currency),
        recorded=value(recorded, rule.recorded_is, currency),
        difference=difference,
    )


def _clauses(finding: Finding, rule: Rule) -> list[MarkedText]:
    """Return the texts of the finding's own provision, then of the others that the rule rests on."""
    labels = [finding.provision, *rule.provisions.get(finding.ruleset, ())]
    texts = (marked_text(label) for label in dict.fromkeys(labels) if label)
    return [text for text in texts if text is not None]


def _events_around(finding: Finding) -> dict[int, Event]:
    """Return the events around the finding, preceded by the evidence that lies further back, by seq."""
    shown = read.events_at(finding.stream_id, list(finding.evidence))
    shown.update(read.before(finding.stream_id, seq=finding.seq, limit=BEFORE))
    shown.update(read.slice_of(finding.stream_id, after=finding.seq - 1, limit=1 + AFTER))
    return {seq: decode(shown[seq]) for seq in sorted(shown)}


def _lines(
    finding: Finding, events: Mapping[int, Event], corrections: Mapping[int, CorrectedEntry], directory: Directory
) -> list[Line]:
    lines: list[Line] = []
    for seq, event in events.items():
        lines.append(
            Line(
                seq=seq,
                at=local(event.occurred_at, finding.casino),
                text=sentence(event, language(), finding.currency, directory),
                is_evidence=seq in finding.evidence,
                completes=seq == finding.seq,
                skipped=seq - lines[-1].seq - 1 if lines else 0,
                correction=corrections[seq].described(finding.currency, directory) if seq in corrections else None,
            )
        )
    return lines


def _wager(outcome: Wager, finding: Finding, directory: Directory) -> dict[str, Any]:
    currency = finding.currency
    label = BET_LABELS.get(outcome.bet)
    return {
        "id": outcome.id,
        "bet": label[language()] if label else outcome.bet,
        "player": directory.player(outcome.player) if outcome.player else "",
        "stake": money(outcome.stake, currency),
        "status": wager_status(outcome.status, currency),
        "due": f"{money(outcome.winnings_due, currency)} + {money(outcome.stake_due, currency)}",
        "paid": f"{money(outcome.winnings_paid, currency)} + {money(outcome.stake_paid, currency)}",
        "provision": wager_provision(finding.ruleset, outcome.bet) if finding.ruleset else "",
    }
