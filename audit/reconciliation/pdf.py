"""A report on paper: PDF by typst, in either language, with places for both signatures; the same bytes every time.

The document's date is the gaming day.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.translation import gettext as _

from audit.exports.pdf import printed
from audit.felt import draw, playback_of, standalone
from audit.felt.frames import range_around
from audit.models import NightReport
from audit.models.nights import NightState
from audit.reconciliation import wording
from audit.reconciliation.wording import money, probability, share, thousandths
from settlement.catalogue import BET_LABELS, RULES

TEMPLATE = Path(__file__).with_name("report.typ")

LISTED = 60
"""Rows printed of a list; the workbook has all."""

BRIDGE = ("theoretical", "luck", "payout_errors", "accounting_variance")

Language = Literal["en", "fr"]


def as_pdf(report: NightReport, language: Language) -> bytes:
    """Return a report as PDF."""
    with translation.override(language):
        return printed(TEMPLATE, _data(report, language))


def _data(report: NightReport, language: Language) -> dict[str, Any]:
    said = report.said()
    casino, day = report.casino, report.gaming_day
    return {
        "lang": language,
        "title": f"{casino.name or casino.code} · {day} · {report.currency} · {report.version}",
        "date": [day.year, day.month, day.day],
        "heading": _("Reconciliation report"),
        "subheading": _("%(casino)s · gaming day %(day)s · %(currency)s · version %(version)s, %(state)s")
        % {
            "casino": casino.name or casino.code,
            "day": day.isoformat(),
            "currency": report.currency,
            "version": report.version,
            "state": NightState(report.state).label,
        },
        "day_span": _("%(hours)s hours, to %(end)s") % {"hours": said["hours"], "end": _moment(said["ends"], report)},
        "tree_size": str(report.tree_size),
        "root": report.tree_root or "—",
        "digest": report.digest,
        "boxes": _boxes(said),
        "parts": _parts(report, said),
        "signatures": _signatures(report),
        "felt": _felt(report, said, language),
        "words": {
            "tree": _("Sealed under tree"),
            "root": _("root"),
            "digest": _("Digest of the report"),
            "signatures": _("Signatures"),
            "none": _("None."),
            "caution": _(
                "A statistical line is a question, never an accusation: on orderly nights each asks at the rate that "
                "its level says."
            ),
        },
    }


def _felt(report: NightReport, said: dict[str, Any], language: Language) -> dict[str, str] | None:
    """Return the table at the night's worst finding, drawn from what the report knew of, and what is said of it."""
    worst = said.get("worst")
    if not worst:
        return None
    first, last = range_around(worst["seq"], worst["evidence"])
    playback = playback_of(worst["stream_id"], first, last, known_through=report.through.get(str(worst["stream_id"])))
    svg = draw(playback, playback.index_of(worst["seq"]), language=language, disputed={worst["wager"]})
    if not svg:
        return None
    title = RULES[worst["rule"]].title.in_language(language)
    return {
        "title": _("The finding that weighs most"),
        "svg": standalone(svg),
        "words": f"{title} · {worst['stream']} · #{worst['seq']}" + (f" · {worst['wager']}" if worst["wager"] else ""),
    }


def _moment(written: str, report: NightReport) -> str:
    moment = datetime.fromisoformat(written).astimezone(ZoneInfo(report.casino.time_zone))
    return f"{moment:%Y-%m-%d %H:%M}"


def _boxes(said: dict[str, Any]) -> list[dict[str, Any]]:
    currency, total = said["currency"], said["total"]
    variance = total["bridge"].get("accounting_variance")
    wrong = sum(line["verdict"] == "differs" for line in said["lines"])
    return [
        {
            "label": _("Accounting win"),
            "value": money(total["W_acct"], currency),
            "note": _("hold %(hold)s") % {"hold": share(total["hold_millionths"])},
            "alarm": total["W_acct"] is None,
        },
        {
            "label": _("Accounting variance"),
            "value": money(variance, currency),
            "note": _("counted − recorded"),
            "alarm": variance != 0,
        },
        {
            "label": _("Payout errors"),
            "value": money(total["bridge"]["payout_errors"], currency),
            "note": _("recorded − adjudicated"),
            "alarm": total["bridge"]["payout_errors"] != 0,
        },
        {
            "label": _("Lines that differ"),
            "value": f"{wrong} / {len(said['lines'])}",
            "note": _("%(sessions)s sessions") % {"sessions": total["sessions"]},
            "alarm": wrong > 0,
        },
    ]


def _parts(report: NightReport, said: dict[str, Any]) -> list[dict[str, Any]]:
    currency = said["currency"]
    parts = [
        _bridge_part(_("By table"), said["tables"], said, report),
        _bridge_part(_("By game"), said["games"], said, report),
        _letters_part(said, currency),
        _lines_part(said),
        _exceptions_part(said, currency),
    ]
    if said["errors"]:
        parts.append(_errors_part(said, currency))
    if said["standing"]:
        parts.append(_standing_part(said, currency))
    if said["croupiers"]:
        parts.append(_croupiers_part(said))
    if report.sheet:
        parts.append(_restatement_part(report, currency))
    exceptions = [
        [str(wording.NEEDS.get(each.code, each.code)), each.reason, each.officer.get_username()]
        for each in report.signoff_exceptions.select_related("officer")
    ]
    if exceptions:
        parts.append(
            _part(_("Sign-off exceptions"), [_("In spite of"), _("Reason"), _("Officer")], 3, exceptions, rest=1)
        )
    return parts


def _part(
    title: str, heads: list[str], lefts: int, rows: list[list[Any]], *, note: str = "", rest: int = 0
) -> dict[str, Any]:
    widths = ["rest" if place == rest else "auto" for place in range(len(heads))]
    left_off = len(rows) - LISTED
    if left_off > 0:
        more = _("%(rows)s further rows are in the workbook.") % {"rows": left_off}
        note = f"{note} {more}".strip()
    return {"title": title, "heads": heads, "lefts": lefts, "rows": rows[:LISTED], "note": note, "widths": widths}


def _bridge_part(title: str, sums: list[dict[str, Any]], said: dict[str, Any], report: NightReport) -> dict[str, Any]:
    currency = said["currency"]
    rows = []
    for each in [*sums, {**said["total"], "name": _("Total")}]:
        amounts = [each["bridge"].get(name) for name in BRIDGE]
        name = str(wording.GAMES.get(each["name"], each["name"]))
        rows.append(
            [name, str(each["sessions"]), *(money(a, currency) for a in amounts), money(each["W_acct"], currency)]
        )
    heads = ["", _("Sessions"), *(str(wording.FIGURES[name]) for name in (*BRIDGE, "W_acct"))]
    note = _("Theoretical win + luck + payout errors + accounting variance = accounting win, to the minor unit.")
    return _part(title, heads, 1, rows, note=note)


def _letters_part(said: dict[str, Any], currency: str) -> dict[str, Any]:
    total = said["total"]
    shown = {**total, **total["recorded"]}
    names = ("O", "F", "C", "K", "D", "B", "S", "L", "Z", "V", "G", "U", "I")
    rows = [[name, str(wording.FIGURES[name]), money(shown[name], currency)] for name in names]
    rows += [
        ["", _("Edge, recorded by the rules (of stakes)"), share(total["edge_millionths"])],
        ["", _("Edge, theoretical (of stakes)"), share(total["theoretical_edge_millionths"])],
        ["", _("Luck in standard deviations"), thousandths(total["z_thousandths"])],
        ["", _("Chance of a luck as large, either way"), probability(total["p_millionths"])],
    ]
    return _part(_("The night’s figures"), ["", "", ""], 2, rows, rest=1)


def _verdict(code: str) -> dict[str, str]:
    return {"code": code, "words": str(wording.VERDICTS[code])}


def _lines_part(said: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for line in said["lines"]:
        wrong = sum(row["verdict"] != "agrees" for row in line["rows"]) + line["left_off"]
        rows.append([str(line["number"]), str(wording.LINES[line["code"]]), str(wrong), _verdict(line["verdict"])])
    return _part(_("The twelve lines"), ["", "", _("Exceptions"), _("Verdict")], 2, rows, rest=1)


def _exceptions_part(said: dict[str, Any], currency: str) -> dict[str, Any]:
    rows = [
        [
            str(line["number"]),
            row["stream"] or row["table"],
            wording.note(row, currency),
            _verdict(row["verdict"]),
            wording.value(row, "expected", currency),
            wording.value(row, "found", currency),
            ", ".join(f"#{seq}" for seq in row["seqs"][:4]),
        ]
        for line in said["lines"]
        for row in line["rows"]
        if row["verdict"] != "agrees"
    ]
    heads = ["", _("Session"), _("Note"), _("Verdict"), _("Expected"), _("Found"), _("Events")]
    return _part(_("Exceptions"), heads, 4, rows, rest=2)


def _bet(code: str, language: Any) -> str:
    label = BET_LABELS.get(code)
    return label[language] if label else code


def _errors_part(said: dict[str, Any], currency: str) -> dict[str, Any]:
    tongue = wording.tongue()
    rows = [
        [
            each["stream"],
            each["wager"],
            _bet(each["bet"], tongue),
            each["croupier"] or "—",
            f"#{each['seq']}",
            money(each["amount"], currency),
        ]
        for each in said["errors"]
    ]
    heads = [_("Session"), _("Wager"), _("Bet"), _("Croupier"), _("Event"), _("For the house")]
    return _part(_("Payout errors, wager by wager"), heads, 4, rows)


def _standing_part(said: dict[str, Any], currency: str) -> dict[str, Any]:
    tongue = wording.tongue()
    rows = [
        [
            each["stream"],
            each["wager"],
            _bet(each["bet"], tongue),
            str(each["zeros"]),
            money(each["amount"], currency),
            money(each["refund"], currency),
        ]
        for each in said["standing"]
    ]
    heads = [_("Session"), _("Wager"), _("Bet"), _("Zeros"), _("Stake"), _("Refund")]
    return _part(_("Undecided and imprisoned stakes"), heads, 3, rows)


def _croupiers_part(said: dict[str, Any]) -> dict[str, Any]:
    rows = [
        [
            each["croupier"] + (" *" if each["noteworthy"] else ""),
            str(each["payouts"]),
            str(each["for_house"]),
            str(each["for_player"]),
            share(each["rate_millionths"]),
            f"{share(each['low_millionths'])} – {share(each['high_millionths'])}",
            probability(each["p_side_millionths"]),
        ]
        for each in said["croupiers"]
    ]
    heads = [
        *(_("Croupier"), _("Payouts"), _("For the house"), _("For players"), _("Errors"), _("Interval, 95%")),
        _("One side, p"),
    ]
    note = _("* more errors than the others, under a false discovery rate of one in ten.")
    return _part(_("Errors by croupier"), heads, 1, rows, note=note)


def _restatement_part(report: NightReport, currency: str) -> dict[str, Any]:
    rows = [
        [
            row["of"] or _("Total"),
            wording.figure(row["line"]),
            "; ".join(wording.reason(each) for each in row["reasons"]),
            wording.restated(row["was"], currency),
            wording.restated(row["is"], currency),
        ]
        for row in report.sheet
    ]
    heads = [_("Of"), _("Line"), _("Reason"), _("Was"), _("Is")]
    title = _("Restatement of version %(version)s") % {"version": report.version - 1}
    return _part(title, heads, 3, rows, rest=2)


def _signatures(report: NightReport) -> list[dict[str, str]]:
    zone = ZoneInfo(report.casino.time_zone)
    places = (
        (_("Reviewed by"), report.reviewed_by, report.reviewed_at),
        (_("Closed by, another officer"), report.closed_by, report.closed_at),
    )
    return [
        {
            "label": label,
            "name": (officer.get_full_name() or officer.get_username()) if officer else "",
            "at": f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at else "",
        }
        for label, officer, at in places
    ]
