"""What a report says, as plain data: whole numbers, words of the record, fractions as ``n/d``. No sentence, no clock.

The same log, counts and findings give the same bytes. Amounts are minor units; shares and p-values are millionths; z is
in thousandths.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from audit.models import Finding, NightReport
from audit.reconciliation.checks import in_millionths, lines_of
from audit.reconciliation.findings import tallies
from audit.reconciliation.gaming_days import bounds
from audit.reconciliation.night import (
    FALSE_NAMES,
    INTERVAL,
    ONE_SIDED,
    QUESTION,
    Night,
    SessionResult,
    Total,
    grouped,
    total_of,
)
from settlement import ENGINE_VERSION
from settlement.night.bridge import Bridge, Win
from settlement.night.croupiers import compare
from settlement.night.figures import NOBODY
from settlement.night.variance import surprise

LISTED = 5_000
"""Wagers listed in a report; the pages of each session have all."""


def content_of(night: Night, before: NightReport | None) -> dict[str, Any]:
    """Return everything a report says of a night, without its watermark."""
    day = bounds(night.casino, night.day)
    return {
        "casino": night.casino.code,
        "gaming_day": night.day.isoformat(),
        "currency": night.currency,
        "begins": day.begin.isoformat(),
        "ends": day.end.isoformat(),
        "hours": int(day.length.total_seconds()) // 3600,
        "engine_version": ENGINE_VERSION,
        "levels": {
            "question": str(QUESTION),
            "one_sided": str(ONE_SIDED),
            "interval": str(INTERVAL),
            "false_names": str(FALSE_NAMES),
        },
        "total": _sum("", night.sittings, night.currency),
        "games": [
            _sum(name, each, night.currency) for name, each in grouped(night.sittings, lambda s: s.figures.game).items()
        ],
        "tables": [
            _sum(name, each, night.currency)
            for name, each in grouped(night.sittings, lambda s: s.figures.table).items()
        ],
        "sessions": [_session(sitting, night.currency) for sitting in night.sittings],
        "lines": lines_of(night, before),
        "errors": _errors(night),
        "standing": _standing(night),
        "croupiers": _croupiers(night),
        "worst": _worst(night),
    }


def written(content: dict[str, Any]) -> bytes:
    """Return content as canonical JSON."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of what a report says: of all but its line 9, which is about versions, not about the night."""
    said = {**content, "lines": [line for line in content["lines"] if line["code"] != "late"]}
    return hashlib.sha256(written(said)).hexdigest()


def _worst(night: Night) -> dict[str, Any] | None:
    """Return the finding of a table that weighs most: by severity, then by money, then the first."""
    severities = ("critical", "major", "minor", "info")

    def money(finding: Finding) -> int:
        both = isinstance(finding.expected, int) and isinstance(finding.recorded, int)
        return abs(finding.recorded - finding.expected) if both else 0

    at_tables = [each for each in night.findings if each.stream_id in night.streams]
    if not at_tables:
        return None
    worst = min(
        at_tables,
        key=lambda each: (
            severities.index(each.severity),
            -money(each),
            each.stream_id,
            each.seq,
            each.rule,
            each.wager,
        ),
    )
    return {
        "stream_id": worst.stream_id,
        "stream": next(s.stream.name for s in night.sittings if s.stream.stream_id == worst.stream_id),
        "seq": worst.seq,
        "rule": worst.rule,
        "wager": worst.wager,
        "evidence": list(worst.evidence),
    }


def _sum(name: str, sittings: Sequence[SessionResult], currency: str) -> dict[str, Any]:
    total = total_of(sittings, currency)
    return {"name": name, "sessions": total.sessions, "uncounted": total.uncounted, **_money(total)}


def _session(sitting: SessionResult, currency: str) -> dict[str, Any]:
    figures = sitting.figures
    return {
        "stream": sitting.stream.name,
        "stream_id": sitting.stream.stream_id,
        "table": figures.table,
        "game": figures.game,
        "ruleset": figures.ruleset,
        "opened_at": figures.opened_at,
        "closed_at": figures.closed_at,
        "events": figures.events,
        "last_seq": figures.last_seq,
        "draws": len(figures.draws),
        **_money(total_of([sitting], currency)),
        "bets": {
            bet: {
                "wagers": each.wagers,
                "stakes": each.stakes,
                "theoretical": str(each.theoretical),
                "adjudicated": each.adjudicated,
                "recorded": each.recorded,
            }
            for bet, each in figures.bets.items()
        },
    }


def _money(total: Total) -> dict[str, Any]:
    bridge, bank = total.bridge, total.bridge.bank
    unusual = surprise(total.luck, total.variance)
    return {
        "O": bank.opening_float,
        "F": bank.fills,
        "C": bank.credits,
        "K": bank.closing_float,
        "D": bank.drop,
        "B": bank.buy_ins,
        "S": bridge.stakes,
        "U": bridge.undecided,
        "I": bridge.imprisoned,
        "recorded": _win(bridge.recorded),
        "adjudicated": _win(bridge.adjudicated),
        "W_acct": bank.accounting_win,
        "W_rec": bridge.recorded.total,
        "W_adj": bridge.adjudicated.total,
        "bridge": dict(bridge.printed()),
        "exact": {"theoretical": str(bridge.theoretical), "luck": str(bridge.luck), "carried": str(bridge.carried)},
        "variance": str(total.variance),
        "hold_millionths": _share(bridge.hold),
        "edge_millionths": _share(bridge.edge),
        "theoretical_edge_millionths": _share(_theoretical_edge(bridge)),
        "z_thousandths": int((unusual.z * 1000).to_integral_value()) if unusual else None,
        "p_millionths": int((unusual.p * 10**6).to_integral_value(ROUND_CEILING)) if unusual else None,
    }


def _theoretical_edge(bridge: Bridge) -> Fraction | None:
    return bridge.theoretical / bridge.stakes if bridge.stakes else None


def _share(share: Fraction | None) -> int | None:
    return None if share is None else in_millionths(share)


def _win(win: Win) -> dict[str, int]:
    return {"L": win.lost, "Z": win.halves, "V": win.commissions, "G": win.winnings}


def _errors(night: Night) -> list[dict[str, Any]]:
    found = [
        {
            "stream": sitting.stream.name,
            "stream_id": sitting.stream.stream_id,
            "table": sitting.figures.table,
            "wager": error.wager,
            "bet": error.bet,
            "status": error.status,
            "seq": error.seq,
            "amount": error.amount,
            "croupier": error.croupier,
        }
        for sitting in night.sittings
        for error in sitting.figures.errors
    ]
    return found[:LISTED]


def _standing(night: Night) -> list[dict[str, Any]]:
    found = [
        {
            "stream": sitting.stream.name,
            "stream_id": sitting.stream.stream_id,
            "table": sitting.figures.table,
            "wager": stake.wager,
            "bet": stake.bet,
            "status": stake.status,
            "seq": stake.seq,
            "amount": stake.amount,
            "zeros": stake.zeros,
            "refund": stake.refund,
            "present_value": str(stake.present_value),
        }
        for sitting in night.sittings
        for stake in sitting.figures.standing
    ]
    return found[:LISTED]


def _croupiers(night: Night) -> list[dict[str, Any]]:
    named = {who: tally for who, (tally, _last) in tallies(night).items() if who != NOBODY}
    return [
        {
            "croupier": who,
            "payouts": each.tally.payouts,
            "for_house": each.tally.for_house,
            "for_player": each.tally.for_player,
            "rate_millionths": in_millionths(each.rate.rate),
            "low_millionths": in_millionths(each.rate.low),
            "high_millionths": in_millionths(each.rate.high),
            "p_errors_millionths": _upward(each.p_errors),
            "p_side_millionths": _upward(each.p_side),
            "noteworthy": each.noteworthy,
        }
        for who, each in compare(named, alpha=INTERVAL, q=FALSE_NAMES).items()
    ]


def _upward(p_value: Fraction) -> int:
    return -(-p_value.numerator * 10**6 // p_value.denominator)
