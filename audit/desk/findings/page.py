"""What the page of a finding shows, gathered from the finding, the event store and the law."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from msgspec.structs import replace

from audit.adjudication.incidents import incident_of
from audit.adjudication.results import wager_of
from audit.casework.debts import claim_of, stake_of_incident
from audit.casework.stakes import money_at_stake
from audit.casework.urgency import priority_of
from audit.corrections.decisions import decisions_about, needs_officers, state_of
from audit.corrections.superseding import decisions_behind, look_up_corrections
from audit.corrections.wording import decided_in_words
from audit.desk.findings.marked_law import MarkedText, marked_text
from audit.desk.findings.verdict import verdict_of
from audit.desk.names import page_directory
from audit.desk.parts import chip, person_address, priority_bars
from audit.desk.tables.corrections import CorrectedEntry, Correction, corrections_to
from audit.desk.tables.course import course_of
from audit.desk.tables.event_sentences import own_content, sentence
from audit.desk.tables.replay import Mark, persons_in, replay_context
from audit.event_store import merkle, read
from audit.exports.findings import names_of
from audit.felt.frames import Frame, Playback, playback_of, range_around
from audit.models import CORRECTION_RULES, AdjudicationRun, Finding, LedgerQuestion, RunCause
from audit.persons.directory import (
    NO_NAMES,
    Directory,
    PersonId,
    mentioned_in,
    named_facts,
    persons_of_facts,
    players,
    staff,
)
from audit.presentation import (
    bet_label,
    correction_name,
    date_time,
    finding_title,
    labelled,
    language,
    local,
    money,
    officer_name,
    reference,
    sentence_end,
    short_name,
    superseded_by,
    wager_status,
)
from audit.register import in_force, touched
from audit.register.readings import KINDS, written
from settlement import Event
from settlement.catalogue import RULES
from settlement.catalogue.questions import QUESTIONS
from settlement.catalogue.rule import Rule
from settlement.catalogue.sentences import amount_in_prose
from settlement.codec import decode_one_stored
from settlement.provisions import deciding_first, wager_provision
from settlement.state import Wager

INCIDENT_SHOWN = 20
"""Findings of one incident that the page of another lists."""

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
    own: list[tuple[str, str]]  # what the integrator sent beside the contract


QUESTION_RULES = frozenset(rule.name for rule in QUESTIONS)


def finding_context(finding: Finding, *, with_names: bool = False) -> dict[str, Any]:
    """Return the context of the page of ``finding``, in the active language; ``with_names`` beside persons' ids."""
    rule = RULES[finding.rule]
    batch = read.batch_holding(finding.stream_id, finding.seq)
    stored = read.events_at(finding.stream_id, [finding.seq]).get(finding.seq)
    wager = wager_of(finding.stream_id, finding.wager) if finding.wager else None
    playback = _playback(finding)
    events = _events_shown(finding, playback)
    corrections, directory, others = corrections_to(finding.stream_id, events.values()), NO_NAMES, incident_of(finding)
    if with_names:
        named = [
            *mentioned_in(events.values()),
            *chain.from_iterable(each.persons() for each in corrections.values()),
            *(persons_in(playback) if playback is not None else ()),
            *_concerned(finding, wager, others),
        ]
        directory = page_directory(finding.casino_id, named, with_names=True)
    lines = _lines(finding, events, corrections, directory)
    in_timeline = {frame.event.seq: line for frame, line in _with_lines(playback, lines)}
    player = short_name(names_of(finding, directory).get("player", ""), finding.player)
    incident, stake = _incident(finding, others), stake_of_incident(finding, player)
    verdict = verdict_of(finding, stake, others)
    value_with_names = replace(finding.as_value(), facts=named_facts(finding.facts, directory))
    return {
        "finding": finding,
        "directory": directory,
        "rule": rule,
        "verdict": verdict,
        "claims": _claims(verdict.claims, directory),
        "reference": reference(finding),
        "bars": priority_bars(finding) if priority_of(finding) is not None else "",
        "people": _people(finding, directory),
        "croupier": short_name(names_of(finding, directory).get("croupier", ""), finding.croupier),
        "player": player,
        "message": value_with_names.message(language(), amount_in_prose),
        "remedy": value_with_names.remedy(language(), names_of(finding, directory), amount_in_prose),
        "incident": incident,
        "consequences": [other for other in incident if not other["is_cause"]],
        "is_head": finding.case is not None and _is_head(finding),
        "explanation": rule.explanation.in_language(language()),
        "is_of_money": rule.expected_is == rule.recorded_is == "money",
        "first_shown": min(events, default=1),
        "clauses": _clauses(finding, rule),
        "no_clause": rule.reason.in_language(language()) if rule.reason else None,
        "all_lines": lines,
        "lines": [line for line in lines if line.seq not in in_timeline],
        "wager": _wager(wager, finding, directory) if wager else None,
        "batch": batch,
        "root": batch.root.hex() if batch else None,
        "chain": batch.chain.hex() if batch else None,
        "leaf": merkle.leaf(stored).hex() if stored else None,
        "replay": replay_context(
            finding.stream,
            playback,
            _opens_at(finding),
            directory,
            course=course_of(finding.stream),
            disputed={finding.wager} - {""},
            side=stake.side,
            lines=in_timeline,
            marks=_marks(finding),
        )
        if playback is not None
        else None,
        "superseded": _superseded(finding),
        "decisions": _decisions(finding),
        "correction": _correction(finding),
        "ledger_process": _ledger_process(finding),
        "sees_names": with_names,
    }


def _concerned(finding: Finding, wager: Wager | None, others: Iterable[Finding]) -> Iterator[PersonId]:
    """Yield who is concerned by a finding, and the players whom the claims of its incident are about."""
    yield from persons_of_facts(finding.facts)
    owed = (each.player for each in others if claim_of(each) is not None)
    yield from players([wager.player if wager else None, finding.player, *owed])
    yield from staff([finding.croupier])


def _ledger_process(finding: Finding) -> int | None:
    """Return the id of the process of the ledger that asks by a finding; None if none does."""
    if finding.rule not in QUESTION_RULES:
        return None
    return LedgerQuestion.objects.filter(finding_id=finding.pk).values_list("process_id", flat=True).first()


def _claims(findings: Iterable[Finding], directory: Directory) -> list[dict[str, Any]]:
    """Return the findings at which the claim of the incident stands, each with what to do about it."""
    return [
        {
            "finding": each,
            "reference": reference(each),
            "title": finding_title(each.rule),
            "remedy": each.as_value().remedy(language(), names_of(each, directory), amount_in_prose),
        }
        for each in findings
    ]


def _incident(finding: Finding, others: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return the other findings of the incident: the cause of this one, and what follows from the same cause."""
    causes = {(cause["rule"], cause["seq"], cause["wager"] or "") for cause in finding.causes}
    return [
        {
            "finding": other,
            "title": finding_title(other.rule),
            "is_cause": (other.rule, other.seq, other.wager) in causes,
            "money": money_at_stake(other),
        }
        for other in others[:INCIDENT_SHOWN]
    ]


def _correction(finding: Finding) -> dict[str, Any] | None:
    """Return where the correction is that a finding says was made; None if it takes no officers to decide."""
    decisions = decisions_about(finding.stream_id, finding.seq) if finding.rule in CORRECTION_RULES else []
    if not needs_officers(finding, decisions):
        return None
    finding.decided = decided_in_words(finding, decisions)
    return {"state": state_of(decisions), "decisions": decisions}


def _superseded(finding: Finding) -> dict[str, Any] | None:
    """Return why a finding is superseded: by which run, and the correction, the approvals or the entries of the
    register that began it; None if it is not."""
    if finding.superseded_at is None:
        return None
    look_up_corrections([finding])
    run = finding.superseded_by_run
    is_register = run is not None and run.cause == RunCause.REGISTER
    return {
        "removed_by": _removed_by(finding),
        "register": _changed_readings(finding, run) if run is not None and is_register else [],
        "by": superseded_by(finding),
        "at": sentence_end(date_time(finding.superseded_at, finding.casino)),
        "of_night": finding.run_id is None,
    }


def _decisions(finding: Finding) -> list[dict[str, Any]]:
    """Return the entries of the register on which a finding rests; ``entry`` is None where nothing is decided."""
    return [
        {
            "title": KINDS[name].title,
            "entry": entry,
            "value": written(name, entry.value, finding.currency) if entry is not None else "",
        }
        for name, entry in in_force.decisions_of(finding).items()
    ]


def _removed_by(finding: Finding) -> list[dict[str, Any]]:
    """Return the corrections that took a finding away, each with whoever approved it, at the table and after."""
    events = {
        seq: decode_one_stored(stored)
        for seq, stored in read.events_at(finding.stream_id, list(finding.removed_by)).items()
    }
    removed_by = []
    for seq, decisions in decisions_behind(finding).items():
        data = getattr(events.get(seq), "data", None)
        removed_by.append(
            {
                "seq": seq,
                "name": capfirst(correction_name(finding.removed_by[seq], seq)),
                "approved_by": getattr(data, "approved_by", None),
                "reason": reason if isinstance(reason := getattr(data, "reason", None), str) else "",
                "officers": ", ".join(officer_name(each.officer) for each in decisions),
            }
        )
    return removed_by


def _changed_readings(finding: Finding, run: AdjudicationRun) -> list[dict[str, Any]]:
    """Return the entries of the register because of which ``run`` began, each with who proposed and approved it."""
    before = run.replaces.register_version if run.replaces is not None else None
    return [
        {
            "id": entry.pk,
            "what": labelled(str(KINDS[entry.reading].title), written(entry.reading, entry.value, finding.currency)),
            "officers": ", ".join(officer_name(each) for each in (entry.proposed_by, entry.decided_by)),
        }
        for entry in touched.new_entries(finding.stream, before, run.register_version)
    ]


def _playback(finding: Finding) -> Playback | None:
    """Return the table around the finding; None if the stream is not a table's, or has no event there."""
    if finding.table_id is None:
        return None
    playback = playback_of(finding.stream_id, *range_around(finding.seq, finding.evidence))
    return playback if playback.frames else None


def _opens_at(finding: Finding) -> int:
    """Return the event at which the replay opens: the one that decides, else the one that completes the finding."""
    decided = finding.facts.get("decided_seq")
    return decided if isinstance(decided, int) and 0 < decided <= finding.seq else finding.seq


def _marks(finding: Finding) -> dict[int, Mark]:
    """Return the events that the timeline marks: the deciding one in gold, the completing one in red."""
    decided = _opens_at(finding)
    if decided == finding.seq:
        return {finding.seq: Mark("deciding", _("deciding event"))}
    return {
        decided: Mark("deciding", _("deciding event")),
        finding.seq: Mark("completing", _("completes the finding")),
    }


def _is_head(finding: Finding) -> bool:
    case = finding.case
    return case is not None and (case.seq, case.rule, case.wager) == (finding.seq, finding.rule, finding.wager)


def _people(finding: Finding, directory: Directory) -> list[dict[str, Any]]:
    """Return the persons concerned, each with the page or the list that has more about them."""
    named = names_of(finding, directory)
    people: list[dict[str, Any]] = []
    titles = {"croupier": gettext("Croupier"), "player": gettext("Player")}
    for role, code in (("croupier", finding.croupier), ("player", finding.player)):
        if code:
            address = person_address(role, finding.casino_id, code, month=f"{finding.gaming_day:%Y-%m}")
            people.append({"role": titles[role], "chip": chip(role, code, named.get(role, "")), "address": address})
    return people


def _clauses(finding: Finding, rule: Rule) -> list[MarkedText]:
    """Return the texts of the clauses that the finding cites, the deciding one first, then of its rule's others."""
    bet = finding.facts.get("bet")
    own = deciding_first(finding.provisions or [finding.provision], finding.rule, finding.ruleset, bet)
    labels = [*own, *rule.provisions.get(finding.ruleset, ())]
    texts = (marked_text(label, finding.rule) for label in dict.fromkeys(labels) if label)
    return [text for text in texts if text is not None]


def _events_shown(finding: Finding, playback: Playback | None) -> dict[int, Event]:
    """Return the events of the timeline, else those around the finding, and the evidence further back, by seq."""
    if playback is None:
        return _events_around(finding)
    events = {frame.event.seq: frame.event for frame in playback.frames}
    further_back = read.events_at(finding.stream_id, [seq for seq in finding.evidence if seq not in events])
    events |= {seq: decode_one_stored(stored) for seq, stored in further_back.items()}
    return dict(sorted(events.items()))


def _with_lines(playback: Playback | None, lines: Sequence[Line]) -> list[tuple[Frame, Line]]:
    """Return the frames of the timeline, each with the line of its event."""
    by_seq = {line.seq: line for line in lines}
    return [] if playback is None else [(frame, by_seq[frame.event.seq]) for frame in playback.frames]


def _events_around(finding: Finding) -> dict[int, Event]:
    """Return the events around the finding, preceded by the evidence that lies further back, by seq."""
    shown = read.events_at(finding.stream_id, list(finding.evidence))
    shown.update(read.before(finding.stream_id, seq=finding.seq, limit=BEFORE))
    shown.update(read.slice_of(finding.stream_id, after=finding.seq - 1, limit=1 + AFTER))
    return {seq: decode_one_stored(shown[seq]) for seq in sorted(shown)}


def _lines(
    finding: Finding, events: Mapping[int, Event], corrections: Mapping[int, CorrectedEntry], directory: Directory
) -> list[Line]:
    lines: list[Line] = []
    for seq, event in events.items():
        lines.append(
            Line(
                seq=seq,
                at=local(event.occurred_at, finding.casino),
                text=sentence(event, language(), finding.currency, finding.ruleset, directory),
                is_evidence=seq in finding.evidence,
                completes=seq == finding.seq,
                skipped=seq - lines[-1].seq - 1 if lines else 0,
                correction=corrections[seq].described(finding.currency, finding.ruleset, directory)
                if seq in corrections
                else None,
                own=own_content(event),
            )
        )
    return lines


def stake_shown(outcome: Wager, currency: str) -> str:
    """Return what is left of a wager's stake, and what was placed where a part of it was withdrawn or lost."""
    placed = money(outcome.stake, currency)
    if not 0 < outcome.standing < outcome.stake:
        return placed
    return gettext("%(left)s, of %(placed)s placed") % {"left": money(outcome.standing, currency), "placed": placed}


def _wager(outcome: Wager, finding: Finding, directory: Directory) -> dict[str, Any]:
    currency = finding.currency
    return {
        "id": outcome.id,
        "bet": bet_label(finding.ruleset, outcome.bet),
        "player": directory.player(outcome.player) if outcome.player else "",
        "player_id": outcome.player,
        "stake": stake_shown(outcome, currency),
        "status": wager_status(outcome.status, currency),
        "due": f"{money(outcome.winnings_due, currency)} + {money(outcome.stake_due, currency)}",
        "paid": f"{money(outcome.winnings_paid, currency)} + {money(outcome.stake_paid, currency)}",
        "provision": wager_provision(finding.ruleset, outcome.bet) if finding.ruleset else "",
    }
