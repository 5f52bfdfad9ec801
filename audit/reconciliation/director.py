"""The director's page of a report, for page and paper: who won what, the bridge, what is open and what is not known.

Its amounts are those of the counted tables, so that the bridge ends at the accounting win while a count is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.casework.debts import LOSERS
from audit.casework.stakes import Stake
from audit.casework.titles import debt_title, question_title
from audit.casework.urgency import HIGHEST
from audit.charts.waterfall import Bar, draw_waterfall
from audit.presentation import WriteMoney, finding_title, money_in_prose, signed_money
from audit.reconciliation import wording
from audit.reconciliation.checks import SEVERITIES
from audit.reconciliation.columns import Row
from audit.reconciliation.content import bridge_lines, figures_of
from settlement.catalogue import RULES
from settlement.differences import PAID

Tone: TypeAlias = Literal["", "strong", "player", "house"]

ITEMS_SHOWN = 4
"""Items of one list; the rest are one item that says how many there are."""

KINDS: Mapping[str, str] = {
    "theoretical": "theory",
    "luck": "luck",
    "unadjudicated": "unadjudicated",
    "payout_errors": "error",
    "accounting_variance": "variance",
    "W_acct": "win",
}
"""The colour of each bar of the waterfall; a win of the players has a colour of its own, ``LOSS``."""

LOSS = "loss"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a sentence, and its tone: money that belongs to players, or that the house lost."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list. ``rule`` is that of an open finding, ``reference`` its own; "" of anything else."""

    strong: str
    text: str
    rule: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is open, not counted or not checked: how many, the first of them, and what stands there if there is none."""

    name: str
    title: str
    count: int
    items: Sequence[Item]
    empty: str


@dataclass(frozen=True, slots=True)
class Counted:
    """The counted tables of a night, what they add up to by figure, and the tables that are not counted."""

    tables: Sequence[Row]
    missing: Sequence[Row]

    def total(self, figure: str) -> int | None:
        """Return the sum of a figure over the counted tables; None if there is none and the count would say it."""
        if not self.tables:
            return None if figure in ("W_acct", "accounting_variance") else self._sum(self.missing, figure)
        return self._sum(self.tables, figure)

    @staticmethod
    def _sum(tables: Sequence[Row], figure: str) -> int:
        return sum(table[figure] for table in tables)


def counted_of(content: Row) -> Counted:
    """Return the tables of a night, those that are counted apart from the others."""
    tables = [figures_of(table) for table in content["tables"]]
    return Counted(
        [table for table in tables if table["W_acct"] is not None],
        [table for table in tables if table["W_acct"] is None],
    )


def counted_row(content: Row, column: str) -> dict[str, Any] | None:
    """Return what the counted tables add up to, with ``column`` saying so; None if every table is counted, or none."""
    counted = counted_of(content)
    if not counted.tables or not counted.missing:
        return None
    figures = (*bridge_lines(content), "W_acct", "sessions")
    return {column: _("Counted tables"), **{figure: counted.total(figure) for figure in figures}}


def of_session(content: Row, session: Row) -> dict[str, Any]:
    """Return the content of a night as if one of its sessions alone had been played: its bridge, its errors."""
    lines = [
        {**line, "rows": [row for row in line["rows"] if row["stream"] == session["stream"]]}
        for line in content["lines"]
    ]
    return {**content, "tables": [{**session, "name": session["table"]}], "sessions": [session], "lines": lines}


# Who won what


def sentence(content: Row, write: WriteMoney = money_in_prose) -> list[Phrase]:
    """Return who won what at the counted tables, what belongs to players, and what is not counted.

    ``write`` is how its amounts are written: as in prose, or to the cent, as a paper has them.
    """
    sentences = [_of_win(content, write), _of_errors(content, write), _of_missing(content, write)]
    phrases: list[Phrase] = []
    for each in filter(None, sentences):
        phrases += [*([Phrase(" ")] if phrases else []), *each]
    return phrases


def session_sentence(content: Row) -> list[Phrase]:
    """Return who won what in a session, and what of it belongs to players. ``of_session`` gives ``content``."""
    won, errors = counted_of(content).total("W_acct"), _of_errors(content, money_in_prose)
    if won is None:
        phrases = _phrases(
            _("Not counted: %(expected)s by what was recorded."),
            expected=Phrase(_expected(counted_of(content).missing, content["currency"], money_in_prose)),
        )
    else:
        says = (
            _("The house won %(won)s in this session.") if won >= 0 else _("The players won %(won)s in this session.")
        )
        phrases = _phrases(says, won=Phrase(money_in_prose(abs(won), content["currency"]), "strong"))
    return [*phrases, *([Phrase(" "), *errors] if errors else [])]


def plain(phrases: Sequence[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases)


def _of_win(content: Row, write: WriteMoney) -> list[Phrase]:
    counted = counted_of(content)
    won, number = counted.total("W_acct"), len(counted.tables)
    if not content["tables"]:
        return [Phrase(_("No table was in play."))]
    if won is None:
        return [Phrase(_("No table has been counted yet."))]
    if won >= 0:
        says = ngettext(
            "The house won %(won)s at %(number)s table counted out of %(tables)s.",
            "The house won %(won)s at %(number)s tables counted out of %(tables)s.",
            number,
        )
    else:
        says = ngettext(
            "The players won %(won)s at %(number)s table counted out of %(tables)s.",
            "The players won %(won)s at %(number)s tables counted out of %(tables)s.",
            number,
        )
    tables = number + len(counted.missing)
    return _phrases(
        says,
        won=Phrase(write(abs(won), content["currency"]), "strong"),
        number=Phrase(str(number)),
        tables=Phrase(str(tables)),
    )


def _of_errors(content: Row, write: WriteMoney) -> list[Phrase]:
    kept, paid = errors_of(content)
    if not kept and not paid:
        return []
    if kept and paid:
        says = _("The house kept %(kept)s that belongs to players and paid %(paid)s too much.")
    elif kept:
        says = _("The house kept %(kept)s that belongs to players.")
    else:
        says = _("The house paid %(paid)s too much.")
    currency = content["currency"]
    return _phrases(
        says,
        kept=Phrase(write(kept, currency), "player"),
        paid=Phrase(write(paid, currency), "house"),
    )


def _of_missing(content: Row, write: WriteMoney) -> list[Phrase]:
    missing = counted_of(content).missing
    if not missing:
        return []
    says = ngettext(
        "%(names)s has not been counted: %(expected)s, not included in the totals.",
        "%(names)s have not been counted: %(expected)s, not included in the totals.",
        len(missing),
    )
    return _phrases(
        says, names=Phrase(_names(missing)), expected=Phrase(_expected(missing, content["currency"], write))
    )


def errors_of(content: Row) -> tuple[int, int]:
    """Return what the house kept of its players' money and what it paid too much, in minor units."""
    facts = [row["facts"] for row in _rows(content, "payouts")]
    return sum(each["for_house"] for each in facts), sum(each["for_players"] for each in facts)


def _phrases(template: str, **values: Phrase) -> list[Phrase]:
    """Return a sentence in parts: the values where the template names them, and the text between them."""
    parts = re.split(r"%\((\w+)\)s", template)
    phrases = [values[part] if index % 2 else Phrase(part) for index, part in enumerate(parts)]
    return [phrase for phrase in phrases if phrase.text]


def _names(tables: Sequence[Row]) -> str:
    return ", ".join(table["name"] for table in tables)


def _expected(tables: Sequence[Row], currency: str, write: WriteMoney) -> str:
    """Return what tables without a count should have won or lost, by what was recorded."""
    recorded = sum(table["W_rec"] for table in tables)
    amount = write(abs(recorded), currency)
    says = _("a win of %(amount)s is expected") if recorded >= 0 else _("a loss of %(amount)s is expected")
    return says % {"amount": amount}


# The bridge


def waterfall(content: Row) -> str:
    """Return the bridge of the counted tables as a chart."""
    currency = content["currency"]
    bars = waterfall_bars(content)
    described = "; ".join(f"{bar.name} {bar.value}" for bar in bars)
    return draw_waterfall(
        bars,
        title=_("From theory to the count"),
        description=described,
        tick=lambda minor: money_in_prose(minor, currency),
    )


def waterfall_bars(content: Row) -> list[Bar]:
    """Return the bars of the bridge: the theoretical win, its steps, the accounting win."""
    counted, currency = counted_of(content), content["currency"]
    remarks = _remarks(content, counted)
    bars = []
    for key in (*bridge_lines(content), "W_acct"):
        amount = counted.total(key)
        is_total = key in ("theoretical", "W_acct")
        value = (
            wording.NOT_COUNTED
            if amount is None
            else wording.money(amount, currency)
            if is_total
            else signed_money(amount, currency)
        )
        label = "accounting_win" if key == "W_acct" else key
        kind = LOSS if key == "W_acct" and amount is not None and amount < 0 else KINDS[key]
        bars.append(Bar(kind, str(wording.FIGURES[label]), amount, str(value), remarks.get(key, ()), is_total=is_total))
    return bars


def _remarks(content: Row, counted: Counted) -> dict[str, tuple[str, ...]]:
    """Return what stands below the bars."""
    currency, number = content["currency"], len(counted.tables)
    counted_names = {table["name"] for table in counted.tables} or {table["name"] for table in counted.missing}
    facts = [row["facts"] for row in _rows(content, "payouts") if row["table"] in counted_names]
    kept, paid = (sum(each[side] for each in facts) for side in ("for_house", "for_players"))
    errors = (
        *([_("%(amount)s kept") % {"amount": money_in_prose(kept, currency)}] if kept else []),
        *([_("%(amount)s overpaid") % {"amount": money_in_prose(paid, currency)}] if paid else []),
    )
    win = ngettext("%(number)d table counted", "%(number)d tables counted", number) % {"number": number}
    return {
        "theoretical": (_("what the rules give"),),
        "luck": (_("the balls and dice"),),
        "unadjudicated": (_("no ruleset covers them"),),
        "payout_errors": errors or (_("none"),),
        "accounting_variance": _of_variance(counted, currency) if counted.tables else (),
        "W_acct": (win,) if counted.tables else (),
    }


def _of_variance(counted: Counted, currency: str) -> tuple[str, ...]:
    """Return at which table more or less was counted than recorded, or at how many."""
    off = [table for table in counted.tables if table["accounting_variance"]]
    if not off:
        return (_("none"),)
    if len(off) > 1:
        return (ngettext("at %(number)d table", "at %(number)d tables", len(off)) % {"number": len(off)},)
    (table,) = off
    variance = table["accounting_variance"]
    amount = money_in_prose(abs(variance), currency)
    says = _("%(amount)s more than recorded") if variance > 0 else _("%(amount)s less than recorded")
    return (table["name"], says % {"amount": amount})


# What is open, not counted, not checked


def listings(content: Row) -> list[Listing]:
    """Return what an officer who signs has to know, in three lists."""
    return [_open(content), _not_counted(content), _not_checked(content)]


def open_findings(content: Row) -> list[dict[str, Any]]:
    """Return the rows of open findings that have a case: without one, nobody can close what is for information."""
    rows = (row for row in _rows(content, "findings") if row["verdict"] != "agrees")
    return [row for row in rows if row["facts"].get("severity") != "info" or row["facts"].get("cases")]


def open_count(row: Row) -> int:
    """Return how many findings of a row of ``open_findings`` are open: of information, how many cases."""
    return int(row["facts"].get("cases", row["found"]))


def _open(content: Row) -> Listing:
    rows = open_findings(content)
    count = sum(map(open_count, rows))
    named = sorted(
        ((row, each) for row in rows for each in row["facts"].get("largest", ()) if _has_case(row, each)),
        key=lambda each: (
            -(each[1].get("priority") or 0),  # a report of before has none
            SEVERITIES.index(each[0]["facts"]["severity"]),
            -each[1]["amount"],
        ),
    )
    if named:
        items = [_incident(row, incident, content["currency"]) for row, incident in named[:ITEMS_SHOWN]]
        rest = count - len(items)
        is_mild = all(row["facts"]["severity"] != "critical" for row, _incident in named[ITEMS_SHOWN:])
    else:  # a report of before incidents were named
        items = [_open_item(row) for row in rows[:ITEMS_SHOWN]]
        rest, is_mild = sum(map(open_count, rows[ITEMS_SHOWN:])), False
    if rest:
        says = ngettext("%(number)d other finding", "%(number)d other findings", rest) % {"number": rest}
        items = [*items, Item("", _("%(others)s, none critical") % {"others": says} if is_mild else says)]
    return Listing("open", _("Still open"), count, items, _("No finding is open."))


def _has_case(row: Row, incident: Row) -> bool:
    return row["facts"]["severity"] != "info" or bool(incident.get("priority"))


def _incident(row: Row, incident: Row, currency: str) -> Item:
    """Return an open incident: its title, at which table, its priority, and by when it has to be closed."""
    facts, player, table = row["facts"], incident["player"], incident["table"]
    title = _title(facts["rule"], incident, currency)
    happened = finding_title(facts["rule"]) if facts["rule"] in RULES else facts["rule"]
    about = ", ".join(filter(None, (
        "" if player in title else player, table, "" if happened in title else happened)))  # fmt: skip
    level = incident.get("priority")
    priority = _("Priority %(level)s of %(highest)s.") % {"level": level, "highest": HIGHEST} if level else ""
    parts = [f"{about}." if about else "", priority, _by_when(incident, facts["hours"])]
    return Item(title, " ".join(filter(None, parts)), facts["rule"], incident["reference"])


def _title(rule: str, incident: Row, currency: str) -> str:
    """Return what an incident is called: as ``audit.casework.titles`` calls it, of what the report keeps."""
    player = incident["player"]
    if incident["by"]:
        # A report of before says of the rule alone whether too much was paid.
        is_overpaid = incident["by"] == "player" and incident.get("is_overpaid", rule in PAID)
        amount = money_in_prose(incident["amount"], currency)
        return debt_title(Stake(LOSERS[incident["by"]], amount, "", player, is_overpaid))
    if "played" in incident:
        return question_title(rule, incident["played"], player or incident["croupier"], currency)
    return finding_title(rule) if rule in RULES else rule


def _by_when(incident: Row, hours: int) -> str:
    if incident["second"]:
        return _("With the second officer")
    return _("To be closed within %(hours)s h") % {"hours": hours} if hours else ""


def _open_item(row: Row) -> Item:
    rule, number, hours = row["facts"]["rule"], open_count(row), row["facts"]["hours"]
    # A report outlives the rules of its engine.
    title = finding_title(rule) if rule in RULES else rule
    text = f"{title}. " + (_("To be closed within %(hours)s h") % {"hours": hours} if hours else "")
    return Item(wording.counted("findings", number), text.strip(), rule)


def _not_counted(content: Row) -> Listing:
    currency, missing = content["currency"], counted_of(content).missing
    items = [
        Item(
            table["name"],
            _("%(why)s; %(expected)s, left out of every total")
            % {"why": _why_not_counted(table), "expected": _expected([table], currency, money_in_prose)},
        )
        for table in missing
    ]
    return Listing("not_counted", _("Not counted"), len(missing), _shortened(items), _("Every table has been counted."))


def _why_not_counted(table: Row) -> str:
    return _("no closing float") if table["K"] is None else _("box not counted")


def _not_checked(content: Row) -> Listing:
    items = [*_uncertain(content), *_unobserved(content)]
    return Listing(
        "not_checked",
        _("Not checked or not certain"),
        len(items),
        _shortened(items),
        _("Every table reports everything."),
    )


def _uncertain(content: Row) -> Iterator[Item]:
    """Yield what sessions lack of their events, and of a seal; tables that lack the same are one item."""
    yield from _by_reason(
        (row["table"], wording.note(row, content["currency"]))
        for row in _rows(content, "completeness")
        if row["verdict"] != "agrees"
    )


def _unobserved(content: Row) -> Iterator[Item]:
    """Yield what tables do not report, and those whose ruleset is not known."""
    yield from _by_reason(
        (row["table"], wording.note(row, content["currency"]))
        for row in _rows(content, "unchecked")
        if row["note"] in ("unobserved", "no_ruleset")
    )


def _by_reason(tables: Iterable[tuple[str, str]]) -> Iterator[Item]:
    names: dict[str, dict[str, None]] = {}
    for table, reason in tables:
        names.setdefault(reason, {})[table] = None
    for reason, of_reason in names.items():
        yield Item(", ".join(of_reason), reason)


def _shortened(items: Sequence[Item]) -> list[Item]:
    if len(items) <= ITEMS_SHOWN:
        return list(items)
    rest = len(items) - ITEMS_SHOWN
    return [*items[:ITEMS_SHOWN], Item("", ngettext("%(number)d other", "%(number)d others", rest) % {"number": rest})]


def _rows(content: Row, code: str) -> list[dict[str, Any]]:
    """Return the rows of one of the twelve lines."""
    return [row for line in content["lines"] if line["code"] == code for row in line["rows"]]
