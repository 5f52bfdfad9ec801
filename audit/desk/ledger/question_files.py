"""The questions of a casino, and one process, as PDF: what their pages say, made of the same context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.desk.ledger.beginning import Began
from audit.exports.page_pdf import Chart, PagePdf, Part, Tile
from audit.models import LedgerProcess
from audit.presentation import MISSING, count, day, night_of


def questions_pdf(casinos: Sequence[Mapping[str, Any]], today: date) -> bytes:
    """Return what asks and what is near the threshold at each casino; ``casinos`` are the contexts of the page."""
    one = casinos[0] if len(casinos) == 1 else None
    return PagePdf(
        heading=_("Questions"),
        subheading=", ".join(str(each["casino"]) for each in casinos) or _("No casino"),
        note=_note(),
        day=today,
        tiles=_tiles(one) if one is not None else [],
        parts=[part for each in casinos for part in _parts(each, with_casino=one is None)],
    ).render()


def _note() -> str:
    return _(
        "Results that chance alone rarely explains. A question reports a pattern. It does not say why, "
        "and it accuses nobody."
    )


def _tiles(each: Mapping[str, Any]) -> list[Tile]:
    return [
        Tile(
            _("Questions this year"), str(each["raised_count"]), _("over the threshold; open until an officer answers")
        ),
        Tile(_("Near the threshold"), str(each["near_count"]), _("below the threshold; no finding, no message")),
        Tile(_("Looks like chance"), each["quiet"], _("of %(processes)s tests") % each),
        Tile(
            _("False questions allowed a year"),
            _("%(spent)s of %(allowed)s") % each,
            _("allocated; the rest is kept for new wheels and people"),
        ),
    ]


def _parts(each: Mapping[str, Any], *, with_casino: bool) -> list[Part]:
    prefix = f"{each['casino']}: " if with_casino else ""
    return [
        _list(prefix + _("Over the threshold"), each["raised"], _("No question this year.")),
        _list(prefix + _("Near the threshold"), each["near"], _("Nothing is near the threshold.")),
        Part(
            prefix + _("What a false question may cost"),
            [_("Kind"), _("Tests"), _("Used")],
            [[f"{group['half']}: {group['name']}", group["processes"], group["given"]] for group in each["groups"]],
            rights=(1, 2),
        ),
    ]


def _list(title: str, rows: Sequence[Mapping[str, Any]], empty: str) -> Part:
    return Part(
        title,
        [_("Test"), _("What would explain it, and what to look at"), _("Its evidence"), _("Threshold"), _("Since")],
        [
            [
                f"{row['title']}: {_about(row)}",
                row["explanation"],
                row["of_the_year"] if row["has_number"] else MISSING,
                row["asks_at"] if row["has_number"] else MISSING,
                day(row["process"].first_day, with_year=True),
            ]
            for row in rows
        ],
        rights=(2, 3),
        wide=(0, 1),
        empty=empty,
    )


def _about(row: Mapping[str, Any]) -> str:
    return ", ".join(link.text for link in row["subject"])


def process_pdf(process: LedgerProcess, context: Mapping[str, Any], today: date) -> bytes:
    """Return one process; ``context`` is that of its page."""
    last, has_number = context["last"], context["has_number"]
    tiles, parts = _evidence(process, context) if has_number else ([], [])
    certain = context["certain"]
    began = context["began"]
    if began is not None:
        parts.insert(0, _since_when(began))
    sentences = [context["explanation"], *([certain.at_evidence, certain.of_budget] if has_number else [])]
    if has_number and (interval := context.get("interval")):
        sentences.insert(1, interval.words)
    question_put = (
        _("%(night)s: the evidence passed the threshold.") % {"night": night_of(last.batch.gaming_day)} if last else ""
    )
    return PagePdf(
        heading=f"{context['title']} · {_about(context)}",
        subheading=" · ".join(filter(None, (str(process.casino), context["asks"], question_put))),
        note=_note(),
        day=today,
        tiles=tiles,
        remark=" ".join(filter(None, sentences)),
        charts=[Chart(_("How the evidence grew"), str(context["chart"]))] if has_number else [],
        parts=parts,
    ).render()


def _evidence(process: LedgerProcess, context: Mapping[str, Any]) -> tuple[list[Tile], list[Part]]:
    """Return what the paper says of the evidence: of a person whom no question is about, it says none of it."""
    tiles = [
        Tile(_("Its evidence"), context["of_the_year"], _observed(process)),
        Tile(_("Threshold"), context["asks_at"], _("fixed on 1 January")),
        Tile(_("By chance alone"), _("at most 1 in %(one_in)s") % context, _("would pass the threshold in a year")),
    ]
    parts = []
    if rivals := context.get("rivals"):
        parts.append(
            Part(_("Against other explanations"), [_("Explanation"), _("Its evidence")], rivals.amounts, rights=(1,))
        )
    parts.append(
        Part(
            _("What moved it most"),
            [_("Night"), _("Session"), _("Observations"), _("Step")],
            [
                [
                    day(move["point"].batch.gaming_day, with_year=True),
                    move["point"].batch.stream.name if move["point"].batch.stream is not None else "",
                    count(move["point"].draws),
                    move["factor"],
                ]
                for move in context["moves"]
            ],
            rights=(2, 3),
            wide=(1,),
            empty=_("It has seen no session yet."),
        )
    )  # fmt: skip
    return tiles, parts


def _since_when(began: Began) -> Part:
    first = day(began.days[0], with_year=True) if began.days else _("not known")
    last = began.days[1] if began.days else began.last.batch.gaming_day
    rows = [
        [_("Most likely since"), day(began.best_day, with_year=True)],
        [_("Not before"), first],
        [_("By then at the latest"), day(last, with_year=True)],
    ]
    return Part(_("Since when"), [_("Beginning"), _("Night")], rows)


def _observed(process: LedgerProcess) -> str:
    words = ngettext("%(number)s observation", "%(number)s observations", process.draws)
    return words % {"number": count(process.draws)}
