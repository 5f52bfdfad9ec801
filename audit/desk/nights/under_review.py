"""Who is under review on a night: open questions about the luck of persons who played on it, and how much of the
night's luck is theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from audit.casework.priority import with_priority
from audit.casework.titles import incident_title
from audit.casework.urgency import priority_of
from audit.desk import parts
from audit.desk.addresses import page_of
from audit.desk.findings.queues import HEADS, OPEN
from audit.exports.findings import names_of
from audit.models import Finding, NightReport
from audit.persons.directory import Directory, players, staff
from audit.persons.play import sessions_of
from audit.presentation import money_in_prose, reference, signed_money, time_left

OF_LUCK = ("player-luck", "croupier-luck")
"""Rules that put the luck of a night under question."""


@dataclass(frozen=True, slots=True)
class UnderReview:
    """An open question: its title, which says whom and how much, and the luck of the house with him on this night.

    ``luck`` is in minor units, below zero where he won; None for a croupier: his players have it.
    """

    title: str
    reference: str
    address: str
    bars: SafeString
    due: SafeString
    luck: int | None


def under_review(report: NightReport, *, with_names: bool) -> list[UnderReview]:
    """Return the open questions about persons who played, or dealt, on the night of a report, the most urgent first."""
    questions = open_questions([report.casino_id], report.gaming_day).filter(currency=report.currency)
    rows = with_priority(questions.select_related("casino", "case", "table"))
    in_order = sorted(rows.order_by("case__deadline", "pk"), key=lambda each: -(priority_of(each) or 0))
    of_night = [each for each in in_order if str(each.facts.get("since", "")) <= report.gaming_day.isoformat()]
    concerned = [*players([each.player for each in of_night]), *staff([each.croupier for each in of_night])]
    directory = Directory.of(report.casino_id, concerned).for_page() if with_names and of_night else None
    found = []
    for each in of_night:
        luck = _luck_on(report, each.player) if each.player else None
        if (each.player and luck is None) or (not each.player and each.gaming_day != report.gaming_day):
            continue  # he did not play on this night
        if directory is not None:
            each.named = names_of(each, directory)
        found.append(_line(each, luck))
    return found


def open_questions(casinos: Collection[int], day: date) -> QuerySet[Finding]:
    """Return the open questions about the luck of persons at casinos that were asked on a gaming day or later."""
    return Finding.objects.standing().filter(
        HEADS, casino__in=casinos, rule__in=OF_LUCK, case__state__in=OPEN, gaming_day__gte=day
    )


def luck_in_question(questions: Sequence[UnderReview]) -> int | None:
    """Return how much of the luck of a night is under question, in minor units; None where nobody's is."""
    of_persons = [each.luck for each in questions if each.luck is not None]
    return sum(of_persons) if of_persons else None


def _line(finding: Finding, luck: int | None) -> UnderReview:
    case = finding.case
    assert case is not None, "a head has a case"
    return UnderReview(
        incident_title(finding),
        reference(finding),
        page_of("finding", finding.pk),
        parts.priority_bars(finding),
        parts.due_ring(time_left(case.deadline, since=case.opened_at)),
        luck,
    )


def _luck_on(report: NightReport, player: str) -> int | None:
    """Return the luck of the house with a player on a night; None if he did not play."""
    day = report.gaming_day
    kept = sessions_of(report.casino, player, day, day + timedelta(days=1))
    plays = [own.play for _stream, own in kept if own.play is not None and own.currency == report.currency]
    return round(sum(each.luck for each in plays)) if any(each.handle for each in plays) else None


def split_of_luck(questions: Sequence[UnderReview], luck: Any, currency: str) -> str:
    """Return how much of the luck of a night is under question and how much is not; "" where nothing is.

    ``luck`` is that of all tables of the night, in minor units.
    """
    in_question = luck_in_question(questions)
    if in_question is None or luck is None:
        return ""
    amounts = {
        "in_question": signed_money(in_question, currency, money_in_prose),
        "rest": signed_money(round(luck) - in_question, currency, money_in_prose),
    }
    return _("Of the luck, %(in_question)s is under question and %(rest)s is not.") % amounts
