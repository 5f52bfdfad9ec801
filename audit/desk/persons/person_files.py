"""The files of the pages of persons: a month of somebody as PDF, a player's money of a night as XLSX.

They say what the page says, made of the same context; who may see the page may have its file, which is an act.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django.utils.html import strip_tags
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.desk.persons.concerning import Concerning
from audit.exports.page_pdf import Chart, PagePdf, Part, Tile
from audit.exports.sheets import Column, Sheet, workbook
from audit.models import Casino
from audit.presentation import count, date_time, month_of, night_of


def croupier_pdf(casino: Casino, first: date, context: Mapping[str, Any]) -> bytes:
    """Return the month of somebody of the staff; ``context`` is that of the page."""
    own = context["own"]
    rate = own["rate"] if own else _("not counted")
    between = _("between %(low)s and %(high)s") % own if own else ""
    colleagues = _("colleagues %(others)s") % own if own and own["others"] else ""
    beyond = _("more than chance explains")
    tiles = [
        Tile(_("Wrong payouts in 1,000"), rate, "; ".join(filter(None, (between, colleagues)))),
        *_sums(context, _("Paid too much"), _("Kept from players")),
        _open(context["found"]),
    ]
    parts = [
        Part(
            _("Against colleagues"),
            [_("Croupier"), _("Wrong payouts in 1,000"), _("95% interval"), ""],
            [
                [row["name_on_paper"], row["rate"], row["interval"], beyond if row["noteworthy"] else ""]
                for row in context["colleagues"]
            ],
            rights=(1, 2),
            empty=_("No nights have been reconciled for this month."),
            after=_("About 1 in 10 marked names is a false alarm. A mark is a question, not an accusation."),
        ),
        Part(
            _("Tables dealt"),
            [_("Table"), _("Game"), _("On duty"), _("Coups"), _("Wrong payouts")],
            [[each[key] for key in ("table", "game", "hours", "coups", "errors")] for each in context["tables"]],
            rights=(2, 3, 4),
            wide=(1,),
            empty=_("No tables are known for this month."),
        ),
        *_of_findings(casino, context),
    ]  # fmt: skip
    return _pdf(casino, first, context, tiles, parts, _("Payouts of each night"))


def player_pdf(casino: Casino, first: date, context: Mapping[str, Any]) -> bytes:
    """Return the month of a player; what he staked only if the page shows it."""
    tiles, parts = [], []
    if context["sees_money"]:
        average = _("%(average)s on average") % context if context.get("average") else ""
        stakes = ", ".join(filter(None, (context.get("stakes", ""), average)))
        tiles += [
            Tile(_("Staked"), context.get("staked") or _("none"), stakes),
            Tile(_("Result as recorded"), _plain(context.get("result")) or _("none"), _("who won")),
        ]
        parts += list(_of_play(context))
    tiles += _sums(context, _("Overpaid to the player"), _("Owed to the player"))[::-1]
    return _pdf(casino, first, context, tiles, [*parts, *_of_findings(casino, context)], _("Stakes of each night"))


def money_workbook(casino: Casino, context: Mapping[str, Any]) -> bytes:
    """Return a player's money of a gaming day: exchanges, thresholds, and what the rules give, a sheet each."""
    sums = context["sums"]
    currency = sums[0]["currency"] if sums else "XXX"
    day = context["gaming_day"]
    sheets = [
        Sheet(
            _("exchanges"),
            [
                *(Column(name) for name in (_("Time"), _("Where"), _("Exchange"), _("Means of payment"))),
                Column(_("Amount"), "money"),
                Column(_("Currency")),
            ],
            [
                [
                    date_time(row["exchange"].at, casino, with_year=True),
                    row["exchange"].where,
                    row["direction"],
                    row["means"],
                    row["exchange"].amount if each["currency"] == currency else row["amount"],
                    each["currency"],
                ]
                for each in sums
                for row in each["exchanges"]
            ],
        ),
        Sheet(
            _("thresholds"),
            [Column(_("Threshold")), Column(_("Amount")), Column(_("Reached"))],
            [
                [level["label"], level["of"], _("yes") if level["is_reached"] else _("no")]
                for each in sums
                for level in each["levels"]
            ],
        ),
        Sheet(
            _("result"),
            [Column(_("What the rules give, and luck")), Column(_("Amount")), Column(_("Currency"))],
            [[str(line["label"]), line["amount"], each["currency"]] for each in sums for line in each["bridge"]],
        ),
    ]
    title = f"{context['name_on_paper']} · {night_of(day, with_year=True)}"
    return workbook(sheets, currency, title)


def _pdf(
    casino: Casino, first: date, context: Mapping[str, Any], tiles: list[Tile], parts: list[Part], chart: str
) -> bytes:
    worked = context.get("worked") or ""
    return PagePdf(
        heading=context["name_on_paper"],
        subheading=" · ".join(filter(None, (str(casino), month_of(first), worked))),
        note=_("Personal data, for the officers of the casino alone. A question is not an accusation."),
        day=first,
        tiles=tiles,
        remark=_pattern(context["found"]),
        charts=[Chart(chart, str(context["days"]))] if context.get("days") else [],
        parts=parts,
    ).render()


def _pattern(found: Concerning) -> str:
    pattern = found.pattern()
    if pattern is None:
        return ""
    words = _("%(number)s of %(all)s incidents are of the same kind: “%(title)s”.")
    return words % {"number": pattern.count, "all": pattern.of, "title": pattern.title}


def _sums(context: Mapping[str, Any], overpaid: str, kept: str) -> list[Tile]:
    def incidents(number: int) -> str:
        if not number:
            return _("no incident this month")
        return ngettext("%(number)s incident", "%(number)s incidents", number) % {"number": number}

    none = _("none")
    return [
        Tile(overpaid, context["overpaid"] or none, incidents(context["overpaid_count"]), "bank"),
        Tile(kept, context["kept"] or none, incidents(context["kept_count"]), "player"),
    ]


def _open(found: Concerning) -> Tile:
    closed = ngettext("%(number)s closed", "%(number)s closed", found.closed) % {"number": found.closed}
    return Tile(_("Open findings"), count(found.open), closed if found.closed else _("none closed yet"))


def _of_play(context: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the nights and the tables of a player, and with whom the money stayed."""
    yield Part(
        _("Nights"),
        [_("Night"), _("Staked"), _("Chips bought"), _("Chips cashed")],
        [[each[key] for key in ("title", "staked", "into_chips", "into_money")] for each in context.get("nights", ())],
        rights=(1, 2, 3),
        empty=_("Nothing is kept about this player."),
    )
    yield Part(
        _("Tables"),
        [_("Table"), _("Game"), _("Nights"), _("Staked"), _("Stayed with")],
        [
            [each["name"], each["game"], count(each["nights"]), each["staked"], _plain(each["stayed"])]
            for each in context.get("tables", ())
        ],
        rights=(2, 3, 4),
        wide=(1,),
        empty=_("Nothing is kept about this player."),
    )
    if bridge := context.get("bridge"):
        rows = [[str(line["label"]), line["amount"]] for line in bridge]
        yield Part(_("What the rules give, and luck"), ["", _("plus is for the house")], rows, rights=(1,))


def _of_findings(casino: Casino, context: Mapping[str, Any]) -> Iterator[Part]:
    yield Part(
        _("Findings"),
        [_("Finding"), _("Reference"), _("Money"), _("Table"), _("Happened"), _("State")],
        [
            [
                row.title,
                row.reference,
                row.stake.amount or row.stake.words,
                row.finding.table.code if row.finding.table is not None else "",
                date_time(row.finding.occurred_at, casino),
                _plain(row.state),
            ]
            for row in context["rows"]
        ],
        rights=(2,),
        empty=_("No incident of this month concerns this person."),
    )
    yield Part(
        _("Unexplained results"),
        [_("Test"), _("About"), _("Its evidence"), _("Threshold")],
        [
            [row["title"], ", ".join(link.text for link in row["subject"]), row["of_the_year"], row["asks_at"]]
            for row in context["processes"]
        ],
        rights=(2, 3),
        wide=(1,),
        empty=_("No question concerns this person."),
    )


def _plain(markup: object) -> str:
    """Return the words of a part of a page."""
    return strip_tags(str(markup or "")).strip()
