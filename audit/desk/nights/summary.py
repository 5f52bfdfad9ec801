"""The parts of a night's page that say it in short: its steps, its tables as small multiples, its twelve checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.charts.interval import draw_interval
from audit.charts.win_line import draw_win_line
from audit.models import NightReport, NightState
from audit.presentation import count, labelled, money_in_prose, opening_hours
from audit.reconciliation import director, wording
from audit.reconciliation.content import figures_of
from audit.reconciliation.win_lines import win_lines
from settlement.night.variance import hold_interval

OUTSIDE = Fraction(1, 20)
"""The share of nights whose hold chance alone puts outside its interval."""

DRAWN = 24
"""Tables that are drawn: as many as an eye compares. A table of text has all of them."""

MILLION = 10**6

TAGS = {"agrees": "ok", "differs": "bank", "question": "warn", "unknown": ""}
"""The class of a verdict's tag."""

ICONS = {"agrees": "agrees", "differs": "differs", "question": "questions", "unknown": "questions"}
"""The icon of a verdict, beside its words."""

ICONS_OF_LISTS = {"open": "differs", "not_counted": "questions", "not_checked": "questions"}


def steps(report: NightReport, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a night from play to the second signature, those behind and the present one marked."""
    counted = director.counted_of(content)
    tables = len(counted.tables) + len(counted.missing)
    opened = [datetime.fromisoformat(each["opened_at"]) for each in content["sessions"] if each["opened_at"]]
    closed = [datetime.fromisoformat(each["closed_at"]) for each in content["sessions"] if each["closed_at"]]
    hours = opening_hours(min(opened), max(closed), report.casino) if opened and closed else ""
    labels = {
        NightState.OPEN: _("Played %(hours)s") % {"hours": hours} if hours else _("Played"),
        NightState.COUNTING: _("Counted %(counted)s of %(tables)s")
        % {"counted": len(counted.tables), "tables": tables},
        NightState.PROVISIONAL: _("Provisional, version %(version)s") % {"version": report.version},
        NightState.REVIEWED: _("Signed"),
        NightState.CLOSED: _("Closed by a second person"),
    }
    present = list(labels).index(NightState(report.state))
    return [
        {"label": label, "css": "was" if index < present else "on" if index == present else ""}
        for index, label in enumerate(labels.values())
    ]


@dataclass(frozen=True, slots=True)
class Multiples:
    """The tables of a night: those that are drawn, and all of them as text. ``left_out`` are not drawn."""

    drawn: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]

    @property
    def left_out(self) -> int:
        return len(self.rows) - len(self.drawn)


def multiples(content: Mapping[str, Any], table_address: Any) -> Multiples:
    """Return each table with its win through the night and its hold against chance, as charts and as text.

    Of more tables than ``DRAWN``, those at which most was won or lost are drawn, the largest first. ``table_address``
    gives the address of a session by its stream id.
    """
    by_table: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for session in content["sessions"]:
        by_table[session["table"]].append(session)
    tables = list(map(figures_of, content["tables"]))
    chosen = tables
    if len(tables) > DRAWN:
        chosen = sorted(tables, key=lambda row: (-abs(_won_at(row)), row["name"]))[:DRAWN]
    lines = win_lines(session for row in chosen for session in by_table[row["name"]])
    rows = {row["name"]: _as_text(row, by_table[row["name"]], content["currency"], table_address) for row in tables}
    drawn = [
        {
            **rows[row["name"]],
            "line": _win_line(row["name"], by_table[row["name"]], lines),
            "interval": _drawn_interval(row),
        }
        for row in chosen
    ]
    return Multiples(drawn, list(rows.values()))


def _won_at(row: Mapping[str, Any]) -> int:
    """Return what was won at a table by the count, else as recorded, in minor units."""
    return int(row["W_rec"] if row["W_acct"] is None else row["W_acct"])


def _as_text(
    row: Mapping[str, Any], of_table: list[Mapping[str, Any]], currency: str, table_address: Any
) -> dict[str, Any]:
    is_counted, won = row["W_acct"] is not None, _won_at(row)
    amount = money_in_prose(abs(won), currency)
    return {
        "name": row["name"],
        "game": wording.game(of_table[0]["game"]),
        "address": table_address(of_table[0]["stream_id"]),
        "is_counted": is_counted,
        "winner": _("house") if won >= 0 else _("players"),
        "amount": amount if is_counted else f"({amount})",
        "hold": wording.share(row["hold_millionths"], 1) if is_counted else wording.NOT_COUNTED,
        **_ends(_interval(row)),
    }


def won_by(won: int, currency: str) -> str:
    """Return who won how much, without a sign: “players €616”."""
    return f"{_('house') if won >= 0 else _('players')} {money_in_prose(abs(won), currency)}"


def _win_line(table: str, of_table: list[Mapping[str, Any]], lines: Mapping[int, list[int]]) -> str:
    """Return the win of a table's sessions, one after the other; "" where a session has no line."""
    if any(session["stream_id"] not in lines for session in of_table):
        return ""
    won: list[int] = []
    for session in of_table:
        before = won[-1] if won else 0
        won += [before + amount for amount in lines[session["stream_id"]]]
    title = _("Win through the night, %(table)s") % {"table": table}
    return draw_win_line(won, title=title, description=_("from the first wager decided to the last"))


def _interval(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return where chance alone leaves the hold of a table 19 nights in 20, in millionths; None if unknown."""
    drop = row["D"]
    interval = (
        hold_interval(Fraction(row["exact"]["theoretical"]), Fraction(row["variance"]), drop, OUTSIDE) if drop else None
    )
    return (round(interval.low * MILLION), round(interval.high * MILLION)) if interval is not None else None


def _ends(interval: tuple[int, int] | None) -> dict[str, str]:
    low, high = interval if interval is not None else (None, None)
    return {
        "low": wording.share(low) if low is None else wording.share(low, 1),
        "high": wording.share(high) if high is None else wording.share(high, 1),
    }


def _drawn_interval(row: Mapping[str, Any]) -> str:
    """Return the chart of that interval, with the hold of the night; "" if it is unknown."""
    interval, hold = _interval(row), row["hold_millionths"]
    if interval is None:
        return ""
    title = _("Hold against what chance allows, %(table)s") % {"table": row["name"]}
    described = _("from %(low)s to %(high)s; this night %(hold)s") % {
        **_ends(interval),
        "hold": wording.share(hold, 1),
    }
    return draw_interval(*interval, hold, title=title, description=described)


def tallies(content: Mapping[str, Any]) -> str:
    """Return how many of the twelve lines agree, differ, ask and are not known."""
    verdicts = [line["verdict"] for line in content["lines"]]
    agree, differ = verdicts.count("agrees"), verdicts.count("differs")
    parts = [
        ngettext("%(number)d agrees", "%(number)d agree", agree) % {"number": agree},
        ngettext("%(number)d differs", "%(number)d differ", differ) % {"number": differ},
    ]
    for verdict, says in (
        ("question", ngettext("%(number)d question", "%(number)d questions", verdicts.count("question"))),
        ("unknown", ngettext("%(number)d not known", "%(number)d not known", verdicts.count("unknown"))),
    ):
        if verdict in verdicts:
            parts.append(says % {"number": verdicts.count(verdict)})
    return ", ".join(parts)


def verdict_in_words(line: Mapping[str, Any], exceptions: int) -> str:
    """Return the verdict of a line with the number of its points: “14 open”, “2 differ”; the verdict alone for none."""
    if not exceptions:
        return str(wording.VERDICTS[line["verdict"]])
    if line["code"] == "findings":
        return ngettext("%(number)s open", "%(number)s open", exceptions) % {"number": count(exceptions)}
    match line["verdict"]:
        case "question":
            says = ngettext("%(number)d question", "%(number)d questions", exceptions)
        case "unknown":
            says = ngettext("%(number)d not known", "%(number)d not known", exceptions)
        case _:
            says = ngettext("%(number)d differs", "%(number)d differ", exceptions)
    return says % {"number": exceptions}


def remark(line: Mapping[str, Any], currency: str) -> str:
    """Return what is most serious in a line, or what it compared."""
    rows = line["rows"]
    if not rows:
        return ""
    first = {**rows[0], "line": line["code"]}
    if line["verdict"] == "agrees" and len(rows) > 1:
        return ngettext("%(number)d comparison", "%(number)d comparisons", len(rows)) % {"number": len(rows)}
    if line["verdict"] == "agrees" and line["code"] == "slips":
        return wording.compared(first, "found", currency, money_in_prose)
    # The note of a process names whom or what it is about.
    origin = "" if first["note"].startswith("ledger_") else first["table"] or ""
    says = wording.note(first, currency, money_in_prose)
    says = says or wording.compared(first, "found", currency, money_in_prose)
    return labelled(origin, says) if origin else says
