"""What the pages of a night show: the sections of the report, each figure with a link to what it adds up.

night ─► total of a figure ─► its sessions ─► letter of the bank ─► its events
                                          └─► figure of play     ─► its wagers ─► the event that placed each
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy

from audit import task_queue
from audit.desk.addresses import fixed
from audit.desk.names import page_directory
from audit.desk.nights import summary, wagers
from audit.desk.nights.tables import Addresses, Link, Table, build_first, build_table, croupier_address, events_address
from audit.desk.nights.under_review import split_of_luck, under_review
from audit.desk.nights.wagers import WORTH, later, wagers_detail
from audit.desk.tables.event_sentences import sentence
from audit.models import LoggedStream, NightReport, NightRun
from audit.persons.directory import mentioned_in
from audit.presentation import language, local
from audit.reconciliation import director, runs, wording
from audit.reconciliation.bank import bank_entries
from audit.reconciliation.columns import Column, money_columns
from audit.reconciliation.content import (
    BANK,
    BRIDGE,
    BRIDGE_WITH_UNADJUDICATED,
    PLAY,
    UNADJUDICATED,
    bridge_lines,
    figures_of,
)
from audit.reconciliation.not_kept import lines_not_kept, not_kept_note
from audit.reconciliation.presentation import (
    CHANCE,
    COMPARISONS,
    CROUPIERS,
    ERRORS,
    GAMES,
    LINES,
    RESTATEMENT,
    SESSIONS,
    STANDING,
    TABLES,
    WAITING,
    Section,
    boxes,
    bridge_note,
    comparisons_of,
    load_content,
    total_row,
    unattributed_note,
    waiting_note,
)
from audit.reconciliation.reopened import change_in_words, signed_before
from audit.reconciliation.wording import money

ROWS_SHOWN = 200
"""Rows of a section on the page; the workbook has all."""

LINE_ROWS = 40
"""Comparisons of one of the twelve lines on the page; of more, those that do not agree come first."""

EVENTS_SHOWN = 6
"""Events linked from one row."""

FORMULAS: dict[str, dict[str, int]] = {
    "W_acct": {"K": 1, "C": 1, "D": 1, "O": -1, "F": -1},
    "accounting_variance": {"W_acct": 1, "W_rec": -1},
}
"""The figures that other figures add up to, each with its sign."""

ADDITIVE = (*BANK, *PLAY, "W_acct", "W_rec", "W_adj", *BRIDGE_WITH_UNADJUDICATED)
"""Figures whose total is the sum of its sessions."""


def night_page(report: NightReport, *, with_names: bool = False, may_close: bool = False) -> dict[str, Any]:
    """Return the context of the page of a night; ``with_names`` beside croupiers' ids.

    ``may_close``: its reader may propose to close a session that is still open, so its row leads there.
    """
    content = load_content(report, with_names=with_names, for_page=True)
    currency = content["currency"]
    ids = _stream_ids(report)
    to_close = ids if may_close else {}
    questions = under_review(report, with_names=with_names)
    croupiers: Addresses = {"croupier": lambda row: croupier_address(report.casino_id, row, report.gaming_day)}

    def of_session(row: Mapping[str, Any]) -> str:
        return _session_address(report, ids[row["stream"]])

    return {
        "content": content,
        "made_by": gettext("by schedule") if report.made_by == task_queue.BEAT else report.made_by,
        "bounds": [datetime.fromisoformat(content[name]) for name in ("begins", "ends")],
        "boxes": boxes(content),
        "sentence": director.sentence(content),
        "under_review": questions,
        "split_of_luck": split_of_luck(questions, figures_of(content["total"]).get("luck"), currency),
        "waterfall": director.waterfall(content),
        "bars": director.waterfall_bars(content),
        "steps": summary.steps(report, content),
        "multiples": summary.multiples(content, lambda stream_id: _session_address(report, stream_id)),
        "all_counted": _all_counted(content),
        "tallies": summary.tallies(content),
        "listings": _listings(report, content),
        "waiting_note": waiting_note(content),
        "waiting": _listed(
            WAITING, content, {"events": lambda row: [_reference(f"{row['stream']}#{seq}", ids) for seq in row["seqs"]]}
        ),
        "sessions": _sessions_table(report, content),
        "bridge_note": bridge_note(content),
        "sums": _sums_table(content),
        "letters": _letters(report, content),
        "lines": [_line(report, line, content, ids, to_close) for line in LINES.rows(content)],
        "errors": _listed(
            ERRORS,
            content,
            {"table": of_session, "seq": lambda row: events_address(ids[row["stream"]], row["seq"]), **croupiers},
        ),
        "unattributed": unattributed_note(content),
        "not_kept": {name: not_kept_note(content, name) for name in ("errors", "standing")},
        "standing": _listed(
            STANDING,
            content,
            {"table": of_session, "wager": lambda row: events_address(ids[row["stream"]], row["seq"])},
        ),
        "croupiers": croupiers_table(CROUPIERS.rows(content), currency, croupiers),
        "change": change_in_words(report),
        "signed_before": signed_before(report) if report.version > 1 else "",
        "restatement": _listed(
            RESTATEMENT, content, {"events": lambda row: [_reference(each, ids) for each in row["events"]]}
        ),
    }


def _all_counted(content: Mapping[str, Any]) -> str:
    """Return what was won at the counted tables, and by whom."""
    won = director.counted_of(content).total("W_acct")
    return str(wording.NOT_COUNTED) if won is None else summary.won_by(won, content["currency"])


def _listings(report: NightReport, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what is open, not counted and not checked; an open finding leads to those of its rule."""
    return [
        {
            "listing": listing,
            "icon": summary.ICONS_OF_LISTS[listing.name],
            "items": [{"item": item, "address": _address_of_item(report, item)} for item in listing.items],
        }
        for listing in director.listings(content)
    ]


def _address_of_item(report: NightReport, item: director.Item) -> str:
    """Return where a line of a list leads: to the finding that it names, else to those of its rule."""
    if item.reference:
        return fixed("audit_finding_changelist") + "?" + urlencode({"q": item.reference})
    return _findings_address(report, item.rule) if item.rule else ""


def _stream_ids(report: NightReport) -> dict[str, int]:
    """Return the ids of the sessions and counts that a report read, by name."""
    return dict(LoggedStream.objects.filter(pk__in=map(int, report.through)).values_list("name", "stream_id"))


def _listed(section: Section, content: Mapping[str, Any], addresses: Addresses) -> Table:
    columns, rows = section.select(section.page), section.rows(content)
    return build_first(columns, rows, content["currency"], addresses, most=ROWS_SHOWN)


def croupiers_table(rows: Sequence[Mapping[str, Any]], currency: str, addresses: Addresses) -> Table:
    """Return the errors by croupier of a night, with a mark at those who stand out."""
    table = build_table(CROUPIERS.select(CROUPIERS.page), rows, currency, addresses)
    for shown, row in zip(table.rows, rows, strict=True):
        shown.cells[0].is_beyond_chance = row["noteworthy"]
    return table


def _sessions_table(report: NightReport, content: Mapping[str, Any]) -> Table:
    def of_figure(key: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: _session_address(report, row["stream_id"], key)

    rows = SESSIONS.rows(content)
    columns = SESSIONS.select(SESSIONS.page, content)
    addresses: Addresses = {key: of_figure(key) for key in (*bridge_lines(content), "W_acct")}
    addresses["table"] = lambda row: _session_address(report, row["stream_id"]) if "stream_id" in row else ""
    table = build_table(columns, rows, content["currency"], addresses)
    opened = _opened_again(report, rows)
    for shown, row in zip(table.rows, rows, strict=True):
        shown.id = f"t-{row['table']}"
        shown.cells[0].remark = ", ".join(filter(None, (wording.game(row["game"]), opened[row["stream"]])))
    foot: Addresses = {key: _total_address(report, key) for key in ADDITIVE}
    table.foot = build_table(columns, [total_row(content, "table")], content["currency"], foot).rows
    return table


def _opened_again(report: NightReport, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return when each session opened, by its name: "" where its table had no other on that day."""
    sessions = Counter(row["table"] for row in rows)

    def opened(row: Mapping[str, Any]) -> str:
        if sessions[row["table"]] == 1 or not row["opened_at"]:
            return ""
        return f"{local(datetime.fromisoformat(row['opened_at']), report.casino):%H:%M}"

    return {row["stream"]: opened(row) for row in rows}


def _sums_table(content: Mapping[str, Any]) -> Table:
    """Return the bridge by game, then by table."""
    currency = content["currency"]
    table = build_table(GAMES.select(GAMES.page, content), GAMES.rows(content), currency)
    to_sessions: Addresses = {"table": lambda row: f"#t-{row['table']}"}
    columns = TABLES.select(TABLES.page, content)
    by_table = build_table(columns, TABLES.rows(content), currency, to_sessions)
    for row in by_table.rows:
        row.css = "of-table"
    table.rows += by_table.rows
    return table


def _letters(report: NightReport, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    total, currency = figures_of(content["total"]), content["currency"]
    letters = [
        {
            "letter": key,
            "label": wording.FIGURES[key],
            "text": money(total[key], currency),
            "address": figure_address(report, key),
        }
        for key in (*BANK, *PLAY)
    ]
    return letters + [{"label": column.label, "text": column.text(total, currency)} for column in CHANCE]


def _line(
    report: NightReport,
    line: Mapping[str, Any],
    content: Mapping[str, Any],
    ids: Mapping[str, int],
    to_close: Mapping[str, int],
) -> dict[str, Any]:
    rows, currency = comparisons_of(line), content["currency"]
    exceptions = _exceptions(line, content)
    shown = rows if len(rows) <= LINE_ROWS else sorted(rows, key=lambda row: row["verdict"] == "agrees")[:LINE_ROWS]
    addresses: Addresses = {
        "note": lambda row: _note_address(report, row, to_close),
        "events": lambda row: [_event_link(ids.get(row["stream"]), seq) for seq in row["events"][:EVENTS_SHOWN]],
    }
    return {
        "number": line["number"],
        "title": wording.LINES[line["code"]],
        "verdict": line["verdict"],
        "verdict_text": summary.verdict_in_words(line, exceptions),
        "exceptions": exceptions,
        "table": build_table(COMPARISONS.select(COMPARISONS.page), shown, currency, addresses),
        "tag": summary.TAGS[line["verdict"]],
        "icon": summary.ICONS[line["verdict"]],
        "remark": summary.remark(line, currency),
        "omitted": len(rows) - len(shown),
        "not_kept": lines_not_kept([line]),
    }


def _exceptions(line: Mapping[str, Any], content: Mapping[str, Any]) -> int:
    """Return how much of a line does not agree: its points, of the line about findings those that are still open."""
    if line["code"] != "findings":
        return int(line["exceptions"])
    return sum(map(director.open_count, director.open_findings(content))) + int(line["left_off"])


def run_of(report: NightReport) -> dict[str, Any] | None:
    """Return the unfinished run of a report's day with its progress, or None."""
    run = NightRun.objects.filter(casino=report.casino_id, gaming_day=report.gaming_day, ended_at=None).first()
    if run is None:
        return None
    done, total = runs.progress(run)
    return {"run": run, "done": done, "total": total}


def failed_runs() -> QuerySet[NightRun]:
    """Return the runs that stopped on an error and have not ended, the latest day first."""
    failed = NightRun.objects.filter(ended_at=None).exclude(error="")
    return failed.select_related("casino").order_by("-gaming_day", "casino")


# Addresses


def _session_address(report: NightReport, stream_id: int, figure: str = "") -> str:
    address = fixed("audit_nightreport_session", report.pk, stream_id)
    return address + ("?" + urlencode({"line": figure}) if figure else "")


def figure_address(report: NightReport, figure: str) -> str:
    return fixed("audit_nightreport_figure", report.pk, figure)


def _total_address(report: NightReport, figure: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: figure_address(report, figure)


def _findings_address(report: NightReport, rule: str) -> str:
    query = urlencode({"rule": rule, "day": report.gaming_day.isoformat()})
    return fixed("audit_finding_changelist") + f"?{query}"


def _note_address(report: NightReport, row: Mapping[str, Any], to_close: Mapping[str, int]) -> str:
    """Return where the note of a row leads: to its findings, to a process of the ledger, or to the act it asks for.

    ``to_close`` are the sessions that its reader may propose to close, ids by name.
    """
    if row["note"] == "finding":
        return _findings_address(report, row["facts"]["rule"])
    if "process" in row["facts"]:
        subject = row["facts"].get("subject_id", row["facts"]["subject"])
        query = urlencode({"q": subject, "kind": row["facts"]["process"], "ended": "all"})
        return fixed("audit_ledgerprocess_changelist") + f"?{query}"
    if row["note"] == "still_open" and row["stream"] in to_close:
        return fixed("audit_loggedstream_closing", to_close[row["stream"]])
    return ""


def _event_link(stream_id: int | None, seq: int) -> Link:
    return Link(f"#{seq}", events_address(stream_id, seq) if stream_id is not None else "")


def _reference(reference: str, ids: Mapping[str, int]) -> Link:
    """Return the link of an event that is named ``stream#seq``."""
    stream, _hash, seq = reference.rpartition("#")
    return Link(reference, events_address(ids[stream], int(seq)) if stream in ids else "")


# One figure of the night: its sessions


def figure_page(report: NightReport, figure: str) -> dict[str, Any]:
    """Return the context of the page of a total: its sessions, whose amounts add up to it."""
    content = load_content(report)
    currency = report.currency
    columns = [*SESSIONS.select(("table",)), *money_columns([figure])]
    addresses: Addresses = {
        "table": lambda row: _session_address(report, row["stream_id"]),
        figure: lambda row: _session_address(report, row["stream_id"], figure),
    }
    rows = SESSIONS.rows(content)
    table = build_table(columns, rows, currency, addresses)
    opened = _opened_again(report, rows)
    for shown, row in zip(table.rows, rows, strict=True):
        shown.cells[0].remark = opened[row["stream"]]
    total = figures_of(content["total"]).get(figure)
    return {"label": wording.FIGURES[figure], "total": wording.figure(figure, total, currency), "table": table}


# One session: what each of its figures adds up


def session_page(
    report: NightReport, session: Mapping[str, Any], line: str, after: int, *, with_names: bool = False
) -> dict[str, Any]:
    """Return the context of the page of a session: its figures, and what ``line`` adds up from the ``after``-th row on.

    An unknown ``line`` shows every wager.
    """
    currency, stream_id = report.currency, session["stream_id"]
    figures, alone = figures_of(session), director.of_session(report.parsed_content(), session)
    shows_unadjudicated = figures[UNADJUDICATED] or line == UNADJUDICATED
    bridge_of_play = (BRIDGE_WITH_UNADJUDICATED if shows_unadjudicated else BRIDGE)[:-1]
    if line in BANK:
        detail = _bank_detail(report, session, line, after, with_names=with_names)
    elif line in FORMULAS:
        detail = _formula_detail(report, figures, line)
    else:
        detail = wagers_detail(session, line, currency, after)

    def listed(keys: Iterable[str]) -> list[dict[str, Any]]:
        return [
            {
                "name": key,
                "label": wording.FIGURES[key],
                "amount": wording.figure(key, figures.get(key), currency),
                "address": _session_address(report, stream_id, key),
                "is_chosen": key == line,
            }
            for key in keys
        ]

    opened, closed = (session[name] and datetime.fromisoformat(session[name]) for name in ("opened_at", "closed_at"))
    return {
        "session": session,
        "game": wording.game(session["game"]),
        "opened": opened,
        "closed": closed,
        "sentence": director.session_sentence(alone),
        "waterfall": director.waterfall(alone),
        "bars": director.waterfall_bars(alone),
        "figures": listed((*bridge_of_play, "W_rec", "W_adj", *PLAY)),
        "bank": listed((*BANK, "W_acct", "accounting_variance")),
        "line": line if line in WORTH or line in BANK or line in FORMULAS else "",
        "line_label": wording.FIGURES.get(line, ""),
        "opener": events_address(stream_id, 1),
        "closer": events_address(stream_id, session["last_seq"]),
        **detail,
    }


def _bank_detail(
    report: NightReport, session: Mapping[str, Any], letter: str, after: int, *, with_names: bool = False
) -> dict[str, Any]:
    entries = bank_entries(report, session, letter)
    currency, shown = report.currency, entries[after : after + wagers.PAGE_ROWS]
    named = mentioned_in(entry.event for entry in shown)
    directory = page_directory(report.casino_id, named, with_names=with_names)
    rows = [
        {
            "event": f"{entry.stream}#{entry.event.seq}" if letter == "D" else f"#{entry.event.seq}",
            "address": events_address(entry.stream_id, entry.event.seq),
            "sentence": sentence(entry.event, language(), currency, session["ruleset"], directory),
            "amount": entry.amount,
        }
        for entry in shown
    ]
    columns = [
        Column("event", gettext_lazy("Event"), "name"),
        Column("sentence", gettext_lazy("What happened")),
        Column("amount", wording.FIGURES[letter], "money"),
    ]
    known = session[letter] is not None
    return {
        "kind": "bank",
        "table": build_table(columns, rows, currency, {"event": lambda row: row["address"]}),
        "count": len(entries),
        "sum": money(sum(entry.amount for entry in entries) if known else None, currency),
        "later": later(after, len(entries)),
    }


def _formula_detail(report: NightReport, figures: Mapping[str, Any], figure: str) -> dict[str, Any]:
    formula = FORMULAS[figure]
    amounts = [figures.get(key) for key in formula]
    rows = [
        {
            "label": f"{'+' if sign > 0 else '−'} {wording.FIGURES[key]}",
            "amount": amount,
            "address": _session_address(report, figures["stream_id"], key),
        }
        for (key, sign), amount in zip(formula.items(), amounts, strict=True)
    ]
    columns = [Column("label", gettext_lazy("Line"), "name"), Column("amount", wording.FIGURES[figure], "money")]
    signed = [amount * sign for amount, sign in zip(amounts, formula.values(), strict=True) if amount is not None]
    return {
        "kind": "formula",
        "table": build_table(columns, rows, report.currency, {"label": lambda row: row["address"]}),
        "sum": wording.figure(figure, sum(signed) if len(signed) == len(rows) else None, report.currency),
    }
