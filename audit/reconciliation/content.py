"""The content of a report: plain data, whole numbers, codes, and fractions written ``n/d``. No text to read, no clock.

The same log, counts and findings give the same bytes. Amounts are minor units; shares and p-values are millionths; z is
in thousandths. ``presentation`` says what an officer reads of it.

    key            figure                                       key         figure
    O F C K        opening float, fills, credits, closing float  S U I      stakes decided, undecided, in prison
    D B            drop counted, buy-ins announced               L Z V G    lost, halves, commissions, winnings
    W_acct         accounting win K + C + D − O − F              W_rec      recorded win L + Z + V − G
    W_adj          adjudicated win, the same by the rules        bridge     how the theoretical win leads to W_acct

The line ``unadjudicated`` of the bridge, bets that no ruleset decides, is there only where its money is not 0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from audit.casework.debts import claim_of
from audit.models import Finding, NightReport
from audit.reconciliation.checks import SEVERITIES, in_millionths, run_checks
from audit.reconciliation.croupiers import assessments_of
from audit.reconciliation.findings import croupier_tallies, dealt_of
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
from settlement.night.bridge import Bridge, Win, in_minor_units
from settlement.night.croupiers import Assessment
from settlement.night.figures import NOBODY
from settlement.night.variance import surprise

BRIDGE = ("theoretical", "luck", "payout_errors", "accounting_variance")
UNADJUDICATED = "unadjudicated"
BRIDGE_WITH_UNADJUDICATED = ("theoretical", "luck", UNADJUDICATED, "payout_errors", "accounting_variance")
BANK = ("O", "F", "C", "K", "D", "B")
PLAY = ("S", "L", "Z", "V", "G", "U", "I")
WINS = ("W_acct", "W_rec", "W_adj")
TOTALS = (*BANK, "S", "U", "I", *WINS)
"""The figures that a session, a table, a game and the night each have at the top level of their row."""

MAX_LISTED = 5_000
"""Payout errors, and standing stakes, listed in a report; the page of each session has all."""


def build_content(night: Night, before: NightReport | None) -> dict[str, Any]:
    """Return the content of a report, without version and watermark. ``before`` is the version that it follows."""
    day = bounds(night.casino, night.day)
    games = grouped(night.sessions, lambda session: session.figures.game)
    tables = grouped(night.sessions, lambda session: session.figures.table)
    printed = printed_theoretical(night.sessions)
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
        "total": _sum_row("", night.sessions, night.currency, printed),
        "games": [_sum_row(name, results, night.currency, printed) for name, results in games.items()],
        "tables": [_sum_row(name, results, night.currency, printed) for name, results in tables.items()],
        "sessions": [_session_row(result, night.currency, printed) for result in night.sessions],
        "lines": run_checks(night, before),
        "errors": _errors(night),
        "standing": _standing(night),
        "croupiers": _croupiers(night),
        "worst": _worst(night),
        "waiting": _waiting(night),
    }


def canonical_json(content: Mapping[str, Any]) -> bytes:
    """Return content as canonical JSON: sorted keys, UTF-8, no white space."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of content without check 9, which compares versions and says nothing of the night itself."""
    lines = [line for line in content["lines"] if line["code"] != "late"]
    return hashlib.sha256(canonical_json({**content, "lines": lines})).hexdigest()


def figures_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return every figure of a row (a session, a table, a game, the total) by its key; see the module's docstring.

    A line of the bridge that is not known yet has no key.
    """
    return {UNADJUDICATED: 0, **row, **row["recorded"], **row["bridge"]}


def bridge_lines(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lines of the bridge that a report shows, in order: ``unadjudicated`` only where a session has it."""
    has_unadjudicated = any(UNADJUDICATED in session["bridge"] for session in content["sessions"])
    return BRIDGE_WITH_UNADJUDICATED if has_unadjudicated else BRIDGE


def croupier_row(croupier: str, assessment: Assessment) -> dict[str, Any]:
    """Return what a report, or a month, says of one croupier. p-values are rounded up, so that none looks smaller."""
    return {
        "croupier": croupier,
        "payouts": assessment.tally.payouts,
        "for_house": assessment.tally.for_house,
        "for_player": assessment.tally.for_player,
        "rate_millionths": in_millionths(assessment.rate.rate),
        "low_millionths": in_millionths(assessment.rate.low),
        "high_millionths": in_millionths(assessment.rate.high),
        "p_errors_millionths": _upward(assessment.p_errors),
        "p_side_millionths": _upward(assessment.p_side),
        "noteworthy": assessment.noteworthy,
    }


def _waiting(night: Night) -> list[dict[str, Any]]:
    """Return the sessions with corrections that wait for officers: which, and what the wins would gain by them."""
    return [
        {
            "stream": result.stream.name,
            "stream_id": result.stream.stream_id,
            "table": result.figures.table,
            **result.waiting,
        }
        for result in night.sessions
        if result.waiting
    ]


def _worst(night: Night) -> dict[str, Any] | None:
    """Return the most serious finding of a table: by severity, then by money, then the first."""
    at_tables = [finding for finding in night.findings if finding.stream_id in night.stream_ids]
    if not at_tables:
        return None
    worst = min(
        at_tables,
        key=lambda finding: (
            SEVERITIES.index(finding.severity),
            -_money_at_stake(finding),
            finding.stream_id,
            finding.seq,
            finding.rule,
            finding.wager,
        ),
    )
    return {
        "stream_id": worst.stream_id,
        "stream": next(s.stream.name for s in night.sessions if s.stream.stream_id == worst.stream_id),
        "seq": worst.seq,
        "rule": worst.rule,
        "wager": worst.wager,
        "evidence": list(worst.evidence),
    }


def _money_at_stake(finding: Finding) -> int:
    """Return what is owed at a finding now, in minor units, whoever owes it.

    Of one that nobody could owe, as a variance of the count, what was recorded less what was expected.
    """
    if finding.difference is not None:
        claim = claim_of(finding)
        return claim.amount if claim is not None else 0
    expected, recorded = finding.expected, finding.recorded
    return abs(recorded - expected) if isinstance(expected, int) and isinstance(recorded, int) else 0


def printed_theoretical(results: Sequence[SessionResult]) -> dict[int, int]:
    """Return the theoretical win of each session of a night as it is printed, in minor units, by stream id.

    The night's is rounded once and divided among its sessions; tables, games and the total add them up.
    """
    units = in_minor_units([result.figures.bridge.theoretical for result in results])
    return {result.stream.stream_id: amount for result, amount in zip(results, units, strict=True)}


def _sum_row(name: str, results: Sequence[SessionResult], currency: str, printed: Mapping[int, int]) -> dict[str, Any]:
    total = total_of(results, currency)
    theoretical = sum(printed[result.stream.stream_id] for result in results)
    return {"name": name, "sessions": total.sessions, "uncounted": total.uncounted, **_figures(total, theoretical)}


def _session_row(result: SessionResult, currency: str, printed: Mapping[int, int]) -> dict[str, Any]:
    figures = result.figures
    return {
        "stream": result.stream.name,
        "stream_id": result.stream.stream_id,
        "table": figures.table,
        "game": figures.game,
        "ruleset": figures.ruleset,
        "opened_at": figures.opened_at,
        "closed_at": figures.closed_at,
        "events": figures.events,
        "last_seq": figures.last_seq,
        "draws": len(figures.draws),
        **_figures(total_of([result], currency), printed[result.stream.stream_id]),
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


def _figures(total: Total, theoretical: int) -> dict[str, Any]:
    """Return the figures of some sessions; ``theoretical`` is their theoretical win as it is printed."""
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
        "bridge": dict(bridge.printed(theoretical)),
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
    errors = [
        {
            **_origin(result),
            "wager": error.wager,
            "bet": error.bet,
            "status": error.status,
            "seq": error.seq,
            "amount": error.amount,
            "croupier": error.croupier,
        }
        for result in night.sessions
        for error in result.figures.errors
    ]
    return errors[:MAX_LISTED]


def _standing(night: Night) -> list[dict[str, Any]]:
    stakes = [
        {
            **_origin(result),
            "wager": stake.wager,
            "bet": stake.bet,
            "status": stake.status,
            "seq": stake.seq,
            "amount": stake.amount,
            "zeros": stake.zeros,
            "refund": stake.refund,
            "present_value": str(stake.present_value),
        }
        for result in night.sessions
        for stake in result.figures.standing
    ]
    return stakes[:MAX_LISTED]


def _origin(result: SessionResult) -> dict[str, Any]:
    return {"stream": result.stream.name, "stream_id": result.stream.stream_id, "table": result.figures.table}


def _croupiers(night: Night) -> list[dict[str, Any]]:
    tallies = {name: tally for name, (tally, _last) in croupier_tallies(night).items() if name != NOBODY}
    dealt = dealt_of(night)
    return [
        croupier_row(name, each) | ({"dealt": dealt[name]} if name in dealt else {})
        for name, each in assessments_of(tallies).items()
    ]


def _upward(p_value: Fraction) -> int:
    return -(-p_value.numerator * 10**6 // p_value.denominator)
