"""What the pages of a night show: the report's own data in words, each figure with the address of what makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from audit.models import LoggedStream, NightReport, NightRun
from audit.reconciliation import runs, sessions, wording
from audit.reconciliation.wording import money
from settlement.catalogue import BET_LABELS
from settlement.catalogue.words import WORDS
from settlement.night.bridge import WagerLine, in_minor_units
from settlement.state import Wager

BRIDGE = ("theoretical", "luck", "payout_errors", "accounting_variance")
BANK = ("O", "F", "C", "K", "D", "B")
PLAY = ("S", "L", "Z", "V", "G", "U", "I")

ROWS_SHOWN = 200
"""Rows of a line on the page; the workbook has all."""

ROWS_OPEN = 12
"""Rows of a line that differs up to which the page shows them unasked."""

WAGERS_SHOWN = 500

WORTH: dict[str, Callable[[WagerLine], int | Fraction]] = {
    "theoretical": lambda line: line.theoretical,
    "luck": lambda line: line.luck,
    "payout_errors": lambda line: line.payout_error,
    "W_rec": lambda line: line.recorded.total,
    "W_adj": lambda line: line.adjudicated.total,
    "S": lambda line: line.decided,
    "L": lambda line: line.recorded.lost,
    "Z": lambda line: line.recorded.halves,
    "V": lambda line: line.recorded.commissions,
    "G": lambda line: line.recorded.winnings,
    "U": lambda line: line.undecided,
    "I": lambda line: line.imprisoned,
}
"""What a wager adds to each figure that wagers make."""


def page_of(report: NightReport) -> dict[str, Any]:
    """Return what the page of a night shows."""
    said = report.said()
    currency = said["currency"]
    ids = {session["stream"]: session["stream_id"] for session in said["sessions"]}
    total = said["total"]
    return {
        "said": said,
        "total": total,
        "boxes": _boxes(said),
        "bridge_heads": [wording.FIGURES[name] for name in (*BRIDGE, "W_acct")],
        "games": [_sum(each, currency, wording.GAMES) for each in said["games"]],
        "tables": [_sum(each, currency, {}) for each in said["tables"]],
        "grand": _sum({**total, "name": _("Total")}, currency, {}),
        "sessions": [_session(report, each, currency) for each in said["sessions"]],
        "letters": [
            {
                "letter": name,
                "words": wording.FIGURES[name],
                "amount": money({**total, **total["recorded"]}[name], currency),
            }
            for name in (*BANK, *PLAY)
        ],
        "chance": [
            (_("Hold, of the drop"), wording.share(total["hold_millionths"])),
            (_("Edge by the rules, of stakes"), wording.share(total["edge_millionths"])),
            (_("Edge in theory, of stakes"), wording.share(total["theoretical_edge_millionths"])),
            (_("Luck, in standard deviations"), wording.thousandths(total["z_thousandths"])),
            (_("Chance of as much luck, either way"), wording.probability(total["p_millionths"])),
        ],
        "lines": [_line(report, line, currency, ids) for line in said["lines"]],
        "errors": [_error(each, currency, ids) for each in said["errors"][:ROWS_SHOWN]],
        "standing": [_standing(each, currency, ids) for each in said["standing"][:ROWS_SHOWN]],
        "croupiers": [_croupier(each) for each in said["croupiers"]],
        "sheet": [
            {
                "of": row["of"],
                "line": wording.figure(row["line"]),
                "was": wording.restated(row["was"], currency),
                "now": wording.restated(row["is"], currency),
                "events": [_event(each, ids) for each in row["events"][:6]],
                "reasons": [wording.reason(each) for each in row["reasons"]],
            }
            for row in report.sheet[:ROWS_SHOWN]
        ],
        "shown": ROWS_SHOWN,
    }


def _boxes(said: dict[str, Any]) -> list[dict[str, Any]]:
    currency, total = said["currency"], said["total"]
    variance = total["bridge"].get("accounting_variance")
    errors = total["bridge"]["payout_errors"]
    wrong = sum(line["verdict"] == "differs" for line in said["lines"])
    sessions = total["sessions"]
    return [
        _box(
            _("Accounting win"),
            money(total["W_acct"], currency),
            _("of %(n)s sessions") % {"n": sessions},
            "unknown" if total["W_acct"] is None else "ok",
        ),
        _box(
            _("Accounting variance"),
            money(variance, currency),
            _("counted − recorded"),
            "ok" if variance == 0 else "unknown" if variance is None else "bad",
        ),
        _box(_("Payout errors"), money(errors, currency), _("recorded − adjudicated"), "bad" if errors else "ok"),
        _box(_("Lines that differ"), f"{wrong} / 12", _("see below"), "bad" if wrong else "ok"),
    ]


def _box(label: str, value: str, note: str, state: str) -> dict[str, str]:
    return {"label": label, "value": value, "note": note, "state": state}


def _sum(each: dict[str, Any], currency: str, names: Any) -> dict[str, Any]:
    amounts = [*(each["bridge"].get(name) for name in BRIDGE), each["W_acct"]]
    return {
        "name": names.get(each["name"], each["name"]),
        "anchor": each["name"],
        "sessions": each["sessions"],
        "amounts": [{"written": money(amount, currency), "is_negative": (amount or 0) < 0} for amount in amounts],
    }


def _session(report: NightReport, each: dict[str, Any], currency: str) -> dict[str, Any]:
    amounts = [(name, each["bridge"].get(name)) for name in BRIDGE]
    amounts += [("W_acct", each["W_acct"])]
    return {
        "stream": each["stream"],
        "table": each["table"],
        "game": wording.GAMES.get(each["game"], each["game"]),
        "address": _wagers(report, each["stream_id"]),
        "amounts": [
            {
                "written": money(amount, currency),
                "is_negative": (amount or 0) < 0,
                "address": _wagers(report, each["stream_id"], name),
            }
            for name, amount in amounts
        ],
    }


def _wagers(report: NightReport, stream_id: int, line: str = "") -> str:
    address = reverse("admin:audit_nightreport_session", args=(report.pk, stream_id))
    return address + ("?" + urlencode({"line": line}) if line else "")


def events_address(stream_id: int, seq: int) -> str:
    return reverse("admin:audit_loggedstream_events", args=(stream_id,)) + f"?after={max(0, seq - 8)}#e{seq}"


def _findings_address(report: NightReport, rule: str) -> str:
    query = urlencode({"rule": rule, "day": report.gaming_day.isoformat()})
    return reverse("admin:audit_finding_changelist") + f"?{query}"


def _line(report: NightReport, line: dict[str, Any], currency: str, ids: dict[str, int]) -> dict[str, Any]:
    rows = [
        {
            "stream": row["stream"] or row["table"],
            "verdict": row["verdict"],
            "verdict_words": wording.VERDICTS[row["verdict"]],
            "expected": wording.value(row, "expected", currency),
            "found": wording.value(row, "found", currency),
            "note": wording.note(row, currency),
            "address": _findings_address(report, row["facts"]["rule"]) if row["note"] == "finding" else "",
            "events": [
                {"seq": seq, "address": events_address(ids[row["stream"]], seq) if row["stream"] in ids else ""}
                for seq in row["seqs"][:6]
            ],
        }
        for row in line["rows"][:ROWS_SHOWN]
    ]
    return {
        "number": line["number"],
        "title": wording.LINES[line["code"]],
        "verdict": line["verdict"],
        "verdict_words": wording.VERDICTS[line["verdict"]],
        "exceptions": sum(row["verdict"] != "agrees" for row in line["rows"]) + line["left_off"],
        "rows": rows,
        "is_open": line["verdict"] == "differs" and len(rows) <= ROWS_OPEN,
        "more": max(0, len(line["rows"]) - ROWS_SHOWN) + line["left_off"],
    }


def _bet(code: str) -> str:
    label = BET_LABELS.get(code)
    return label[wording.tongue()] if label else code


def status_words(status: str) -> str:
    english, french = WORDS.get("status", {}).get(status, (status, status))
    return french if wording.tongue() == "fr" else english


def _error(each: dict[str, Any], currency: str, ids: dict[str, int]) -> dict[str, Any]:
    return {
        **each,
        "bet": _bet(each["bet"]),
        "amount": money(each["amount"], currency),
        "side": _("house") if each["amount"] > 0 else _("player"),
        "address": events_address(ids[each["stream"]], each["seq"]),
    }


def _standing(each: dict[str, Any], currency: str, ids: dict[str, int]) -> dict[str, Any]:
    value = in_minor_units([Fraction(each["present_value"])])[0]
    return {
        **each,
        "bet": _bet(each["bet"]),
        "status": status_words(each["status"]),
        "amount": money(each["amount"], currency),
        "refund": money(each["refund"], currency),
        "present_value": money(value, currency),
        "address": events_address(ids[each["stream"]], each["seq"]),
    }


def _croupier(each: dict[str, Any]) -> dict[str, Any]:
    return {
        **each,
        "rate": wording.share(each["rate_millionths"]),
        "low": wording.share(each["low_millionths"]),
        "high": wording.share(each["high_millionths"]),
        "p_errors": wording.probability(each["p_errors_millionths"]),
        "p_side": wording.probability(each["p_side_millionths"]),
    }


def _event(written: str, ids: dict[str, int]) -> dict[str, Any]:
    stream, _hash, seq = written.rpartition("#")
    return {"words": written, "address": events_address(ids[stream], int(seq)) if stream in ids else ""}


def run_of(report: NightReport) -> dict[str, Any] | None:
    """Return the run of a report's day that goes on, with its progress; None where there is none."""
    run = NightRun.objects.filter(casino=report.casino_id, gaming_day=report.gaming_day, ended_at=None).first()
    if run is None:
        return None
    done, every = runs.progress(run)
    return {"run": run, "done": done, "every": every}


# What a figure of a session opens down to


def session_page(report: NightReport, session: dict[str, Any], line: str, after: int) -> dict[str, Any]:
    """Return what makes a figure of a session: its wagers, in order of placement, from the ``after``-th on."""
    currency = report.currency
    stream_id = session["stream_id"]
    shown = {**session, **session["recorded"], **session["bridge"]}
    bank = [{"letter": name, "words": wording.FIGURES[name], "amount": money(session[name], currency)} for name in BANK]
    figures = [
        {
            "name": name,
            "words": wording.FIGURES[name],
            "amount": money(shown.get(name), currency),
            "address": _wagers(report, stream_id, name),
            "is_chosen": name == line,
        }
        for name in (*BRIDGE[:3], "W_rec", "W_adj", *PLAY)
    ]
    worth = WORTH.get(line)
    stream = LoggedStream.objects.get(pk=stream_id)
    every = sessions.lines(stream, session["last_seq"])
    listed = list(_that_count(every, worth)) if worth else list(every)
    printed = in_minor_units([worth(each) for each, _wager in listed]) if worth else []
    rows = [
        _wager_row(stream_id, each, wager, currency, printed[place] if worth else None)
        for place, (each, wager) in islice(enumerate(listed), after, after + WAGERS_SHOWN)
    ]
    return {
        "session": session,
        "currency": currency,
        "bank": bank,
        "figures": figures,
        "line": line if worth else "",
        "line_words": wording.FIGURES.get(line, "") if worth else "",
        "rows": rows,
        "count": len(listed),
        "sum": money(sum(printed), currency) if worth else "",
        "later": after + WAGERS_SHOWN if after + WAGERS_SHOWN < len(listed) else None,
        "opener": events_address(stream_id, 1),
        "closer": events_address(stream_id, session["last_seq"]),
    }


EVENTS_SHOWN = 40


def _events_of_bank(report: NightReport, session: dict[str, Any], letter: str) -> list[dict[str, Any]]:
    """Return the events that make a figure of the bank, with their addresses."""
    stream_id = session["stream_id"]
    row = sessions.of(stream_id, session["last_seq"])
    if row is None:
        return []
    figures = sessions.read_figures(row)
    if letter == "D":
        return _entries_of_count(report, session["stream"])
    seqs = {
        "O": [1],
        "F": [slip.seq for slip in figures.slips if slip.kind == "fill"],
        "C": [slip.seq for slip in figures.slips if slip.kind == "credit"],
        "K": [figures.closed_by] if figures.closed_by else [],
        "B": figures.buy_ins,
    }[letter]
    return [{"words": f"#{seq}", "address": events_address(stream_id, seq)} for seq in seqs[:EVENTS_SHOWN]]


def _entries_of_count(report: NightReport, stream: str) -> list[dict[str, Any]]:
    rows = next(line["rows"] for line in report.said()["lines"] if line["code"] == "drop")
    written = next((row["facts"].get("counts", []) for row in rows if row["stream"] == stream), [])
    names = {each.rpartition("#")[0] for each in written}
    counts = LoggedStream.objects.filter(casino=report.casino_id, name__in=names)
    ids = dict(counts.values_list("name", "stream_id"))
    return [_event(each, ids) for each in written]


def _that_count(
    lines: Iterable[tuple[WagerLine, Wager | None]], worth: Callable[[WagerLine], int | Fraction]
) -> Iterator[tuple[WagerLine, Wager | None]]:
    return ((line, wager) for line, wager in lines if worth(line))


def _wager_row(
    stream_id: int, line: WagerLine, wager: Wager | None, currency: str, worth: int | None
) -> dict[str, Any]:
    theoretical, luck = in_minor_units([line.theoretical, line.luck])
    seq = wager.placed_by if wager else 0
    return {
        "wager": line.wager,
        "bet": _bet(line.bet),
        "status": status_words(line.status),
        "seq": seq,
        "address": events_address(stream_id, seq) if seq else "",
        "stake": money(line.decided or line.undecided or line.imprisoned, currency),
        "theoretical": money(theoretical, currency),
        "luck": money(luck, currency),
        "error": money(line.payout_error, currency) if line.payout_error else "",
        "recorded": money(line.recorded.total, currency),
        "worth": money(worth, currency) if worth is not None else "",
    }
