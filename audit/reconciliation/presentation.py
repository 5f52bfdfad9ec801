"""The presentation of a report: its sections, their columns, and what stands in them, once for every medium.

    content ─► Section.rows ─► Column ─┬─► text    page, PDF, month     in the active language
                                       └─► value   CSV, XLSX            words in that language, numbers in their unit

A section names the columns that each medium shows, in order. A heading of a sheet is its column's label with the unit;
the key is its name in JSON. The desk adds links and the PDF its layout; neither defines a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.exports import sheets
from audit.models import NightReport, SignoffException
from audit.presentation import WriteMoney, money_in_prose, officer_name, signed_money
from audit.reconciliation import wording
from audit.reconciliation.columns import Column, Row, money_columns, sheet_of
from audit.reconciliation.content import (
    BANK,
    BRIDGE,
    BRIDGE_WITH_UNADJUDICATED,
    PLAY,
    TOTALS,
    UNADJUDICATED,
    bridge_lines,
    figures_of,
)
from audit.reconciliation.names import add_names
from audit.reconciliation.not_kept import not_kept_note


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report: its name, its title, its rows of the content, and the columns of each medium by key."""

    name: str
    title: str | Promise
    columns: Sequence[Column]
    rows: Callable[[Row], list[dict[str, Any]]]
    page: Sequence[str] = ()
    paper: Sequence[str] = ()
    sheet: Sequence[str] = ()
    note: str | Promise = ""

    def select(self, keys: Iterable[str], content: Row | None = None) -> list[Column]:
        """Return the columns of ``keys``, in order; of a report's ``content``, only the lines of its own bridge."""
        by_key = {column.key: column for column in self.columns}
        left_out = set(BRIDGE_WITH_UNADJUDICATED).difference(bridge_lines(content)) if content is not None else ()
        return [by_key[key] for key in keys if key not in left_out]


def load_content(report: NightReport, *, with_names: bool = False, for_page: bool = False) -> dict[str, Any]:
    """Return what the sections take their rows from: the content, the restatement sheet and the sign-off exceptions.

    ``with_names`` puts persons' names beside their ids, ``for_page`` in their place; what is stored, and its digest,
    has the ids alone.
    """
    exceptions = report.signoff_exceptions.select_related("officer")
    content = report.parsed_content()
    if with_names:
        add_names(content, report.casino_id, for_page=for_page)
    return {
        **content,
        "restatement": report.sheet,
        "signoff_exceptions": [_signoff_exception(exception) for exception in exceptions],
    }


def as_sheet(section: Section, content: Row) -> sheets.Sheet:
    """Return a section as a table for CSV and XLSX. If the report does not keep all of it, the last row says so."""
    columns = section.select(section.sheet, content)
    sheet = sheet_of(section.name, columns, section.rows(content), content["currency"])
    if note := not_kept_note(content, section.name):
        return replace(sheet, rows=[*sheet.rows, [note, *[None] * (len(columns) - 1)]])
    return sheet


# The rows of each section


def _sums(key: str, column: str) -> Callable[[Row], list[dict[str, Any]]]:
    return lambda content: [{**figures_of(row), column: row["name"]} for row in content[key]]


def total_row(content: Row, column: str = "of") -> dict[str, Any]:
    """Return the night's figures, with ``column`` saying that they are the total."""
    return {**figures_of(content["total"]), column: gettext("Total")}


def _lines(content: Row) -> list[dict[str, Any]]:
    return [
        {**line, "exceptions": sum(row["verdict"] != "agrees" for row in line["rows"]) + line["left_off"]}
        for line in content["lines"]
    ]


def comparisons_of(line: Row) -> list[dict[str, Any]]:
    """Return the rows of one of the twelve lines, each with the line's number and code."""
    return [{**row, "events": row["seqs"], "number": line["number"], "line": line["code"]} for row in line["rows"]]


def _exceptions(content: Row) -> list[dict[str, Any]]:
    return [row for row in _comparisons(content) if row["verdict"] != "agrees"]


def _ledger(content: Row) -> list[dict[str, Any]]:
    """Return what line 11 says of the evidence ledger; nothing of a report from before it."""
    return [row for row in _comparisons(content) if row["note"].startswith("ledger")]


def _comparisons(content: Row) -> list[dict[str, Any]]:
    return [row for line in content["lines"] for row in comparisons_of(line)]


def _wagers(content: Row, key: str) -> list[dict[str, Any]]:
    """Return the rows of single wagers, each with the ruleset of its session, in whose words its bet is named."""
    rulesets = {row["stream_id"]: row["ruleset"] for row in content["sessions"]}
    return [{**row, "ruleset": rulesets.get(row["stream_id"])} for row in content[key]]


def _restatement(content: Row) -> list[dict[str, Any]]:
    return list(content["restatement"])


def _signoff_exception(exception: SignoffException) -> dict[str, Any]:
    code = exception.code
    return {
        "code": code,
        "what": wording.NEEDS.get(code, code),
        "reason": exception.reason,
        "officer": officer_name(exception.officer),
    }


def _letters(content: Row) -> list[dict[str, Any]]:
    """Return the figures of the bank and of play, each with its letter after its name, then those of chance."""
    total, currency = figures_of(content["total"]), content["currency"]
    letters = [
        {"label": f"{wording.FIGURES[key]} ({key})", "amount": wording.money(total[key], currency)}
        for key in (*BANK, *PLAY)
    ]
    return letters + [{"label": each.label, "amount": each.text(total, currency)} for each in CHANCE]


CHANCE = (
    Column("hold_millionths", _("Hold (win over drop)"), "share"),
    Column("edge_millionths", _("Edge by the rules (on stakes)"), "share"),
    Column("theoretical_edge_millionths", _("Theoretical edge (on stakes)"), "share"),
    Column("z_thousandths", _("Luck (standard deviations)"), "thousandths"),
    Column("p_millionths", _("Probability of this much luck, either way"), "probability"),
)
"""The figures of the night that are no amounts."""

# The sections, in the order of the paper

_BRIDGE_AND_WIN = (*BRIDGE_WITH_UNADJUDICATED, "W_acct")
_AMOUNTS = (*TOTALS, *BRIDGE_WITH_UNADJUDICATED)


def bridge_note(content: Row) -> str:
    """Return how the lines of a report's bridge add up."""
    if bridge_lines(content) == BRIDGE:
        return gettext(
            "Theoretical win + luck + payout errors + accounting variance = accounting win, to the "
            "cent. Plus favours the house, minus the players."
        )
    return gettext(
        "Theoretical win + luck + bets not adjudicated + payout errors + accounting variance = "
        "accounting win, to the cent. Plus favours the house, minus the players."
    )


def errors_remark(content: Row) -> str:
    """Return how the payout errors of a report come from its wins."""
    if bridge_lines(content) == BRIDGE:
        return gettext("recorded − by the rules; plus favours the house")
    return gettext("recorded − by the rules − bets not adjudicated; plus favours the house")


def _sums_section(
    name: str, title: str | Promise, first: Column, rows: Callable[[Row], list[dict[str, Any]]]
) -> Section:
    counts = (Column("sessions", _("Sessions"), "number"), Column("uncounted", _("Sessions not counted"), "number"))
    shown = (first.key, "sessions", *_BRIDGE_AND_WIN)
    every = (first.key, "sessions", "uncounted", *_AMOUNTS)
    columns = (first, *counts, *money_columns(_AMOUNTS))
    return Section(name, title, columns, rows, page=shown, paper=shown, sheet=every)


TABLES = _sums_section("tables", _("By table"), Column("table", _("Table"), "name"), _sums("tables", "table"))
GAMES = _sums_section("games", _("By game"), Column("game", _("Game"), "game"), _sums("games", "game"))
TOTAL = _sums_section("total", _("Total"), Column("of", _("Applies to"), "name"), lambda content: [total_row(content)])

SESSIONS = Section(
    "sessions",
    _("The bridge, session by session"),
    (
        Column("stream", _("Session")),
        Column("table", _("Table"), "name"),
        Column("game", _("Game"), "game"),
        Column("ruleset", _("Ruleset")),
        Column("opened_at", _("Opened at")),
        Column("closed_at", _("Closed at")),
        Column("events", _("Events"), "number"),
        *money_columns(_AMOUNTS),
        *CHANCE,
    ),
    lambda content: [figures_of(row) for row in content["sessions"]],
    page=("table", *_BRIDGE_AND_WIN),
    sheet=(
        *("stream", "table", "game", "ruleset", "opened_at", "closed_at", "events", *_AMOUNTS),
        *("hold_millionths", "edge_millionths", "z_thousandths", "p_millionths"),
    ),
)

LETTERS = Section(
    "letters",
    _("The night’s figures"),
    (Column("label", is_wide=True), Column("amount", kind="formatted")),
    _letters,
    page=("label", "amount"),
    paper=("label", "amount"),
)

LINES = Section(
    "checks",
    _("The twelve checks"),
    (
        Column("number", _("No."), "ordinal"),
        Column("code", _("Line"), "line", is_wide=True),
        Column("exceptions", _("Points to examine"), "number"),
        Column("verdict", _("Verdict"), "verdict"),
    ),
    _lines,
    paper=("number", "code", "exceptions", "verdict"),
)

_COMPARISON_COLUMNS = (
    Column("number", _("No."), "ordinal"),
    Column("line", _("Line"), "numbered_line"),
    Column("verdict", _("Verdict"), "verdict"),
    Column("stream", _("Session"), "origin"),
    Column("table", _("Table"), "place"),
    Column("kind", _("Unit"), "unit"),
    Column("expected", _("Expected"), "compared"),
    Column("found", _("Found"), "compared"),
    Column("events", _("Events"), "events"),
    Column("note", _("Note"), "note", is_wide=True),
)

COMPARISONS = Section(
    "lines",
    _("Points to examine"),
    _COMPARISON_COLUMNS,
    _comparisons,
    page=("table", "verdict", "expected", "found", "note", "events"),
    paper=("number", "stream", "note", "verdict", "expected", "found", "events"),
    sheet=("number", "line", "verdict", "stream", "table", "kind", "expected", "found", "events", "note"),
)

EXCEPTIONS = replace(COMPARISONS, rows=_exceptions)

LEDGER = replace(
    COMPARISONS,
    name="ledger",
    title=_("Evidence ledger"),
    rows=_ledger,
    paper=("stream", "note", "expected", "found", "events"),
    note=_("Evidence since the start of the year, and the threshold. A question is not an accusation."),
)

ERRORS = Section(
    "errors",
    _("Payout errors, wager by wager"),
    (
        Column("stream", _("Session")),
        Column("table", _("Table")),
        Column("wager", _("Wager"), "wager"),
        Column("bet", _("Bet"), "bet"),
        Column("status", _("Status"), "status"),
        Column("seq", _("Event"), "event"),
        Column("amount", _("Money"), "payment_error"),
        Column("croupier", _("Croupier"), "person"),
    ),
    lambda content: _wagers(content, "errors"),
    page=("table", "wager", "bet", "croupier", "amount", "seq"),
    paper=("stream", "wager", "bet", "croupier", "seq", "amount"),
    sheet=("stream", "table", "wager", "bet", "status", "seq", "amount", "croupier"),
)

STANDING = Section(
    "standing",
    _("Undecided and imprisoned stakes"),
    (
        Column("stream", _("Session")),
        Column("table", _("Table")),
        Column("wager", _("Wager")),
        Column("bet", _("Bet"), "bet"),
        Column("status", _("Status"), "status"),
        Column("seq", _("Event"), "event"),
        Column("amount", _("Stake"), "money"),
        Column("zeros", _("Zeros"), "number"),
        Column("refund", _("Refund"), "money"),
        Column("present_value", _("Current value"), "present_value"),
    ),
    lambda content: _wagers(content, "standing"),
    page=("table", "wager", "bet", "status", "zeros", "amount", "refund", "present_value"),
    paper=("stream", "wager", "bet", "zeros", "amount", "refund"),
    sheet=("stream", "table", "wager", "bet", "status", "seq", "amount", "zeros", "refund", "present_value"),
)

CROUPIERS = Section(
    "croupiers",
    _("Errors by croupier"),
    (
        Column("croupier", _("Croupier"), "name"),
        Column("payouts", _("Payouts"), "number"),
        Column("for_house", _("For the house"), "number"),
        Column("for_player", _("For players"), "number"),
        Column("rate_millionths", _("Errors"), "share"),
        Column("interval", _("95% interval"), "interval"),
        Column("low_millionths", _("Errors, at least"), "share"),
        Column("high_millionths", _("Errors, at most"), "share"),
        Column("p_errors_millionths", _("More errors than others, p"), "probability"),
        Column("p_side_millionths", _("One-sided p"), "probability"),
        Column("noteworthy", _("More than chance explains"), "yes"),
    ),
    lambda content: list(content["croupiers"]),
    page=("croupier", "payouts", "for_house", "for_player", "rate_millionths", "interval"),
    paper=("croupier", "payouts", "for_house", "for_player", "rate_millionths", "interval"),
    sheet=(
        *("croupier", "payouts", "for_house", "for_player", "rate_millionths", "low_millionths"),
        *("high_millionths", "p_errors_millionths", "p_side_millionths", "noteworthy"),
    ),
    note=_("* more than chance explains; about 1 in 10 marked names is a false alarm."),
)

WAITING = Section(
    "waiting",
    _("Corrections waiting for two officers"),
    (
        Column("stream", _("Session"), is_wide=True),
        Column("table", _("Table")),
        Column("events", _("Corrections"), "events"),
        Column("W_rec", _("Recorded win"), "money"),
        Column("W_adj", _("Adjudicated win"), "money"),
        Column("W_acct", _("Accounting win"), "money"),
    ),
    lambda content: [{**row, "events": row["seqs"]} for row in content.get("waiting", [])],
    page=("table", "events", "W_rec", "W_adj", "W_acct"),
    paper=("stream", "table", "events", "W_rec", "W_adj", "W_acct"),
    sheet=("stream", "table", "events", "W_rec", "W_adj", "W_acct"),
    note=_("The figures of this report leave them out; here is what they would add to each win."),
)

RESTATEMENT = Section(
    "restatement",
    _("Restatement: what this version changes"),
    (
        Column("of", _("Applies to"), "scope"),
        Column("line", _("Line"), "figure"),
        Column("was", _("Was"), "restated"),
        Column("is", _("Now"), "restated"),
        Column("reasons", _("Reason"), "reasons", is_wide=True),
        Column("events", _("Events"), "references"),
    ),
    _restatement,
    page=("of", "line", "was", "is", "reasons", "events"),
    paper=("of", "line", "reasons", "was", "is"),
    sheet=("of", "line", "was", "is", "events", "reasons"),
)

SIGNOFF_EXCEPTIONS = Section(
    "signoff_exceptions",
    _("Sign-off exceptions"),
    (
        Column("what", _("Despite")),
        Column("reason", _("Reason"), is_wide=True),
        Column("officer", _("Officer")),
    ),
    lambda content: list(content["signoff_exceptions"]),
    paper=("what", "reason", "officer"),
)

SHEETS = (TABLES, GAMES, TOTAL, SESSIONS, COMPARISONS, ERRORS, STANDING, CROUPIERS, WAITING, RESTATEMENT)
"""The tables of the workbook, in order. Their names are public: ``?table=`` of the interface takes them."""

PAPER = (
    *(TABLES, GAMES, LETTERS, WAITING, LINES, EXCEPTIONS, LEDGER, ERRORS, STANDING, CROUPIERS),
    *(RESTATEMENT, SIGNOFF_EXCEPTIONS),
)
"""The sections of the PDF, in order."""


def waiting_note(content: Row, write: WriteMoney = money_in_prose) -> str:
    """Return what a report says of corrections that wait: how many, and what they would change; "" if none does.

    ``write`` is how its amounts are written: as in prose, or to the cent, as a paper has them.
    """
    rows, currency = content.get("waiting", []), content["currency"]
    if not rows:
        return ""
    number = sum(len(row["seqs"]) for row in rows)
    changes = []
    for key in ("W_rec", "W_adj", "W_acct"):
        gained = sum(row[key] for row in rows)
        if gained:
            changes.append(f"{wording.FIGURES[key]} {signed_money(gained, currency, write)}")
    says = ngettext(
        "%(number)d correction waits for two officers. The figures leave it out; with it: %(changes)s.",
        "%(number)d corrections wait for two officers. The figures leave them out; with them: %(changes)s.",
        number,
    )
    return says % {"number": number, "changes": ", ".join(changes) or gettext("no change in the wins")}


def unattributed_note(content: Row) -> str:
    """Return how many payout errors of a report are no croupier's; "" if none is."""
    number = sum(not row["croupier"] for row in content["errors"])
    if not number:
        return ""
    says = ngettext(
        "%(number)d error has no croupier: goodwill, or nobody reported.",
        "%(number)d errors have no croupier: goodwill, or nobody reported.",
        number,
    )
    return says % {"number": number}


# The headline figures

State: TypeAlias = Literal["ok", "unknown", "bad"]


@dataclass(frozen=True, slots=True)
class Box:
    """One headline figure: its key, its label, its text, a remark, and whether it needs an officer's attention."""

    key: str
    label: str
    text: str
    remark: str
    state: State


def boxes(content: Row) -> list[Box]:
    """Return the headline figures of a night."""
    currency, total = content["currency"], figures_of(content["total"])
    win, variance, errors = total["W_acct"], total.get("accounting_variance"), total["payout_errors"]
    differing = sum(line["verdict"] == "differs" for line in content["lines"])
    sessions = total["sessions"]
    counted = ngettext("%(sessions)s session, hold %(hold)s", "%(sessions)s sessions, hold %(hold)s", sessions)
    sessions_and_hold = counted % {
        "sessions": sessions,
        "hold": wording.share(total["hold_millionths"]),
    }
    of_count = gettext("counted − recorded; plus favours the house")
    shown = [
        _money_box("W_acct", win, currency, sessions_and_hold, "unknown" if win is None else "ok"),
        _money_box("accounting_variance", variance, currency, of_count, _zero_is_ok(variance)),
        _money_box("payout_errors", errors, currency, errors_remark(content), _zero_is_ok(errors)),
        Box(
            "differing",
            gettext("Checks that differ"),
            f"{differing} / {len(content['lines'])}",
            gettext("listed under “The twelve checks”"),
            _zero_is_ok(differing),
        ),
    ]
    unadjudicated = total[UNADJUDICATED]
    if unadjudicated:
        remark = gettext("no ruleset here covers them")
        shown.insert(2, _money_box(UNADJUDICATED, unadjudicated, currency, remark, "unknown"))
    return shown


def _money_box(key: str, minor: int | None, currency: str, remark: str, state: State) -> Box:
    return Box(key, str(wording.FIGURES[key]), wording.figure(key, minor, currency), remark, state)


def _zero_is_ok(value: int | None) -> State:
    return "unknown" if value is None else "bad" if value else "ok"
