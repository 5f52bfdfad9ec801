"""Questions: a process has reached its level of the year, and a finding asks, once.

The finding is at the event that made it known: the close of the session, or the last coup that a croupier paid wrong. A
question that was asked stays asked: no run supersedes it, whatever is corrected afterwards.
"""

from __future__ import annotations

from datetime import UTC, timedelta

import msgspec

from audit.event_store import read
from audit.ledger import evenings
from audit.models import BatchKind, Finding, LedgerBatch, LedgerProcess, LedgerQuestion, LoggedStream
from audit.models.ledger import BY_PERSON, kept
from audit.persons.play import sessions_of
from audit.presentation import whole_times
from audit.transparency import kept_findings
from audit.transparency.integrity_findings import integrity_finding
from settlement.codec import decode_one_stored
from settlement.eprocess.channels import is_seen
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Question
from settlement.eprocess.observations import Payout, decode
from settlement.persons.stream_money import Play

NEAR = 200
"""Events before the close at one of which a question is put where another of its rule is at the close."""

_IN_MESSAGE = (
    "shooter", "player-luck", "pair-luck", "late-luck", "corrected-luck", "croupier-luck", "concentration",
    "pair-concentration", "player-concentration", "croupier-voids", "pair-voids", "closer-drift", "duty-drift",
)  # fmt: skip
"""Kinds whose message names the persons; that of another has the subject."""

_OF_LUCK = ("player-luck", "pair-luck", "late-luck", "corrected-luck")
"""Kinds about what a player won or lost: their findings say how much."""

_NAMED = {
    "shift-drift": "shift",
    "closer-drift": "closer",
    **dict.fromkeys(("croupier-voids", "pair-voids", "duty-drift"), "croupier"),
}
"""By the kind of a process: the fact that holds its subject, where a message says what it is the name of."""


MOST_POWER = 4_000
"""The largest power of ten of odds that a finding keeps: beyond it nothing differs."""


def ask(process: LedgerProcess, batch: LedgerBatch, question: Question) -> LedgerQuestion:
    """Store the question of a process that a batch raised, with its finding."""
    crossing = question.crossing
    stream, seq = _where(process, batch)
    finding = _finding(stream, _free_seq(stream, seq, question.rule), process, question)
    finding.save()
    kept_findings.keep({}, [stream.pk], [question.rule])
    return LedgerQuestion.objects.create(
        process=process,
        batch=batch,
        year=crossing.year,
        alpha=crossing.alpha,
        draws=crossing.draws,
        evidence=kept(crossing.evidence),
        finding_id=finding.pk,
    )


def power_of(evidence: int) -> int:
    """Return the power of ten of odds against chance, rounded down: 0 below ten, at most ``MOST_POWER``."""
    return MOST_POWER if evidence >= 10**MOST_POWER else len(str(evidence)) - 1


def _where(process: LedgerProcess, batch: LedgerBatch) -> tuple[LoggedStream, int]:
    """Return the stream and the event at which a question of a batch is put."""
    if batch.kind in BY_PERSON:
        return _last_seen(process, batch)
    if batch.kind != BatchKind.PAYOUTS:
        assert batch.stream is not None, "only a batch of a whole night has no session"
        return batch.stream, batch.last_seq
    payouts = msgspec.json.decode(bytes(batch.content), type=list[Payout])
    own = [payout for payout in payouts if payout.croupier == process.subject]
    coup = max(own, key=lambda payout: (payout.error != 0, _place(payout.coup))).coup
    name, seq = _place(coup)
    return LoggedStream.objects.get(casino=batch.casino_id, name=name, is_of_desk=False), seq


def _last_seen(process: LedgerProcess, batch: LedgerBatch) -> tuple[LoggedStream, int]:
    """Return the last session of an evening in which the person was seen whom a process is about, at its close."""
    person = process.subject.partition(", ")[0]
    last_first = evenings.draws_of(batch).reverse()
    last = next(each for each in last_first if is_seen(decode(bytes(each.content)), person))
    assert last.stream is not None, "every batch of draws has a session"
    return last.stream, last.last_seq


def _place(coup: str) -> tuple[str, int]:
    name, _, seq = coup.rpartition("#")
    return name, int(seq)


def _free_seq(stream: LoggedStream, seq: int, rule: str) -> int:
    """Return ``seq``, or the last event before it where no question of ``rule`` is: two subjects are two cases."""
    taken = set(Finding.objects.filter(stream=stream, rule=rule).values_list("seq", flat=True))
    if seq not in taken:
        return seq
    earlier = [each for each, _envelope in read.before(stream.stream_id, seq=seq, limit=NEAR + len(taken))]
    return max((each for each in earlier if each not in taken), default=seq)


def _finding(stream: LoggedStream, seq: int, process: LedgerProcess, question: Question) -> Finding:
    stored = read.events_at(stream.stream_id, [seq])[seq]
    instants = read.credible_instants(stream.stream_id, {seq: decode_one_stored(stored).occurred_at})
    facts = {
        _NAMED.get(process.kind, "subject"): process.subject,
        "since": process.first_day.isoformat(),
        "sessions": process.sessions,
        "draws": process.draws,
        "evidence": whole_times(question.crossing.evidence),
        "evidence_log10": power_of(question.crossing.evidence),
        "alpha": question.crossing.alpha,
    }
    named = _named_in(process)
    if process.kind in _IN_MESSAGE:
        facts |= named
    if process.kind in _OF_LUCK:
        facts |= _played(process, stream)
    finding = integrity_finding(stream, question.rule, seq, occurred_at=instants[seq].astimezone(UTC), facts=facts)
    finding.player = named.get("player", named.get("staker", ""))
    finding.croupier = named.get("croupier", named.get("closer", ""))
    return finding


def _played(process: LedgerProcess, stream: LoggedStream) -> dict[str, int]:
    """Return what the player of a process staked and won since it began, in the currency of ``stream``, as facts."""
    player, play, nights = process.subject.partition(", ")[0], Play(), set()
    until = stream.gaming_day + timedelta(days=1)
    for _stream, own in sessions_of(process.casino, player, process.first_day, until):
        if own.play is not None and own.currency == stream.currency:
            play += own.play
            nights.add(own.gaming_day)
    if not play.handle:
        return {}
    won = -play.recorded
    result = {"won": won} if won >= 0 else {"lost": -won}
    return {"nights": len(nights), "staked": play.handle, **result, "beyond_chance": -round(play.luck)}


def _named_in(process: LedgerProcess) -> dict[str, str]:
    """Return the player, the croupier and the rule that a process is about, as facts."""
    first, _, second = process.subject.partition(", ")
    match KINDS[process.kind].subject:
        case "player":
            return {"player": process.subject}
        case "croupier":
            return {"croupier": process.subject}
        case "player, croupier":
            return {"player": first, "croupier": second}
        case "croupier, wheel":
            return {"croupier": first}
        case "croupier, rule":
            return {"croupier": first, "of_rule": second}
        case "closer":
            return {"closer": process.subject}
        case "player, rule":
            return {"staker": first, "of_rule": second}
        case "player, croupier, rule":
            croupier, _, rule = second.rpartition(", ")
            return {"player": first, "croupier": croupier, "of_rule": rule}
        case _:
            return {}
