"""The last nights of a casino as a strip, and its croupiers' errors by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import msgspec
from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, When
from django.db.models.fields.json import KT
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access.scope import Scope
from audit.charts.heat import tint
from audit.charts.spark import draw_column
from audit.desk import parts
from audit.desk.findings.queues import HEADS
from audit.models import Casino, Finding, NightReport, NightState
from audit.persons.directory import Directory, staff
from audit.presentation import WEEKDAYS_EN, WEEKDAYS_FR, language, money_in_prose, money_in_units
from audit.presentation import day as written_day
from audit.reconciliation.croupiers import assessments_of
from audit.reconciliation.findings import add_tallies
from audit.reconciliation.runs import NO_CURRENCY
from settlement.catalogue.groups import STAKE_REFUSED
from settlement.night.croupiers import Assessment, Tally

NIGHTS = 14

CROUPIERS = 12
"""Croupiers shown, those with the most errors first."""

NOT_PAID, TOO_MUCH, TOO_LITTLE, COLLECTED, LATE, PRISON, OTHER = range(7)

KINDS: tuple[str | Promise, ...] = (
    _("Not paid"),
    _("Paid too much"),
    _("Paid too little"),
    _("Wrongly collected"),
    _("Late stakes"),
    _("En prison"),
    _("Calls and order"),
)
"""What an error is counted as, in the order of the columns."""

KIND_OF: Mapping[str, int] = {
    **dict.fromkeys(("payout-missing", "stake-not-returned"), NOT_PAID),
    **dict.fromkeys(
        (
            *("payout-overpaid", "payout-duplicated", "losing-wager-paid", "push-paid", "horn-paid-split"),
            *("payout-without-result", "losing-wager-not-collected", "left-up-stake-mismatch"),
        ),
        TOO_MUCH,
    ),
    **dict.fromkeys(("payout-underpaid", "half-refund-mismatch", "last-coup-refund-mismatch"), TOO_LITTLE),
    **dict.fromkeys(("winning-wager-collected", "void-stake-kept"), COLLECTED),
    **dict.fromkeys(("wager-after-no-more-bets", "withdrawal-after-no-more-bets", *STAKE_REFUSED), LATE),
    **dict.fromkeys(
        (
            *("imprisoned-stake-paid-winnings", "imprisoned-value-not-halved", "imprisoned-stake-withdrawn"),
            *("imprisoned-at-close", "zero-decision-missing"),
        ),
        PRISON,
    ),
}
"""By its rule; any other is of the last column."""

_SETTLED = ("barred-number-settled", "inactive-wager-settled", "void-throw-settled")
_MISMATCHED = ("half-refund-mismatch", "last-coup-refund-mismatch", "stake-not-returned", "horn-paid-split")

KIND_BY_WHO_OWES: Mapping[tuple[str, str], int] = {
    **{(rule, "player"): TOO_MUCH for rule in (*_SETTLED, *_MISMATCHED)},
    **{(rule, "house"): COLLECTED for rule in _SETTLED},
    ("horn-paid-split", "house"): TOO_LITTLE,
}
"""By its rule and by who owes, where the rule alone does not say whether somebody had too much or too little."""


@dataclass(frozen=True, slots=True)
class Night:
    """One night of the strip. ``title`` is short, its drawing has the day; ``is_to_sign``: it waits for a signature."""

    report: NightReport
    title: str
    win: str
    drawing: SafeString
    is_to_sign: bool
    has_players_won: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One croupier: the count and the tint of each kind, and the rate of payout errors where nights are reported."""

    name: SafeString
    cells: tuple[tuple[int, int], ...]
    rate: str
    is_beyond_chance: bool

    @property
    def counts(self) -> SafeString:
        """Return the cells as HTML, which a template takes many times as long to write."""
        tints = (f' class="h{tint}"' if tint else "" for _count, tint in self.cells)
        cells = (f"<td{tint}>{count or ''}</td>" for tint, (count, _tint) in zip(tints, self.cells, strict=True))
        return mark_safe("".join(cells))


@dataclass(frozen=True, slots=True)
class LastNights:
    """The nights of one casino in one currency, the newest version of each, and the errors of its croupiers.

    ``errors_at`` is the casino whose errors they are: another one if no finding of that casino names a croupier.
    """

    nights: Sequence[Night]
    kinds: Sequence[str | Promise]
    rows: Sequence[Row]
    newest: NightReport | None
    errors_at: str


class _Total(msgspec.Struct):
    W_acct: int | None = None


class _Croupier(msgspec.Struct):
    croupier: str
    payouts: int
    for_house: int
    for_player: int


class _Content(msgspec.Struct):
    """What the strip and the table need of the content of a report, most of which is about its sessions."""

    total: _Total
    croupiers: list[_Croupier]


_decoder = msgspec.json.Decoder(_Content)


@dataclass(frozen=True, slots=True)
class _Read:
    """What is read of the record: the nights, what they won, and how the croupiers of them compare."""

    newest: NightReport | None
    shown: Sequence[NightReport]
    wins: Mapping[int, int | None]
    assessed: Mapping[str, Assessment]
    errors: _Errors | None


@dataclass(frozen=True, slots=True)
class _Errors:
    """The croupiers of a casino with the most errors, and how many of each kind they made up to a night."""

    casino: Casino
    day: date
    by_croupier: Mapping[str, Counter[int]]


def last_nights(reports: QuerySet[NightReport], findings: QuerySet[Finding], names: Scope) -> LastNights:
    """Return the strip and the table of the casino whose night is the newest. The queries do not grow with nights.

    ``reports`` and ``findings`` are those that the officer sees.
    """
    read = _read(reports, findings)
    most = max([abs(win) for win in read.wins.values() if win is not None], default=1)
    nights = [_night(report, read.wins[report.pk], most) for report in read.shown]
    rows = _rows(read.errors, read.assessed, names) if read.errors is not None else []
    return LastNights(nights, KINDS, rows, read.newest, str(read.errors.casino) if read.errors is not None else "")


def _read(reports: QuerySet[NightReport], findings: QuerySet[Finding]) -> _Read:
    # A casino that has never played has nights in no currency: they are drawn where there are no others.
    is_blank = Case(When(currency=NO_CURRENCY, then=1), default=0)
    in_order = reports.order_by(is_blank, "-gaming_day", "casino__code", "-version")
    shown: list[NightReport] = []
    for casino_id, currency, day in in_order.values_list("casino_id", "currency", "gaming_day")[:1]:
        first = day - timedelta(days=NIGHTS - 1)
        own = reports.filter(casino=casino_id, currency=currency, gaming_day__gte=first).defer("sheet", "through")
        by_day = {report.gaming_day: report for report in own.order_by("gaming_day", "version")}
        shown = list(by_day.values())
    newest = shown[-1] if shown else None
    contents = {report.pk: _decoder.decode(bytes(report.content)) for report in shown}
    wins = {pk: content.total.W_acct for pk, content in contents.items()}
    errors = _errors(findings, newest)
    # Another casino's croupiers may have the same ids.
    is_of_nights = newest is not None and errors is not None and errors.casino.pk == newest.casino_id
    return _Read(newest, shown, wins, _tallies(contents.values()) if is_of_nights else {}, errors)


def _night(report: NightReport, win: int | None, most: int) -> Night:
    title, full = _weekday(report.gaming_day), written_day(report.gaming_day, with_weekday=True)
    text = gettext("not counted") if win is None else money_in_units(abs(win), report.currency)
    spoken = text if win is None else money_in_prose(abs(win), report.currency)
    drawing = mark_safe(draw_column(win, most, title=full, description=spoken))
    is_to_sign = report.state in (NightState.PROVISIONAL, NightState.REVIEWED)
    return Night(report, title, text, drawing, is_to_sign, win is not None and win < 0)


def _weekday(day: date) -> str:
    """Return what is short enough for one line of the strip: “Thu 26”, « jeu. 26 »."""
    if language() == "fr":
        return f"{WEEKDAYS_FR[day.weekday()][:3]}. {'1er' if day.day == 1 else day.day}"
    return f"{WEEKDAYS_EN[day.weekday()]} {day.day}"


def _tallies(contents: Iterable[_Content]) -> Mapping[str, Assessment]:
    by_croupier: dict[str, list[Tally]] = {}
    for content in contents:
        for each in content.croupiers:
            by_croupier.setdefault(each.croupier, []).append(Tally(each.payouts, each.for_house, each.for_player))
    added = {name: add_tallies(*each) for name, each in sorted(by_croupier.items())}
    return assessments_of(added)


def _errors(findings: QuerySet[Finding], newest: NightReport | None) -> _Errors | None:
    """Return the errors at the casino of the newest night, or where the newest are if it has none that names anybody.

    An incident is counted once, by its cause; what is for information is none.
    """
    # One look into an index for each casino: of all findings at once, PostgreSQL would read each.
    last = findings.filter(casino=OuterRef("pk")).exclude(croupier="").order_by("-gaming_day").values("gaming_day")
    known = Casino.objects.annotate(day=Subquery(last[:1])).exclude(day=None)
    is_other = [Case(When(pk=newest.casino_id, then=0), default=1)] if newest is not None else []
    casino = known.order_by(*is_other, "-day", "pk").first()
    if casino is None:
        return None
    of_nights = findings.filter(HEADS, casino=casino, gaming_day__gt=casino.day - timedelta(days=NIGHTS))
    by_kind = of_nights.exclude(croupier="").order_by().values("croupier", "rule", by=KT("owed__by"))
    table: dict[str, Counter[int]] = {}
    for croupier, rule, by, count in by_kind.annotate(count=Count("*")).values_list("croupier", "rule", "by", "count"):
        table.setdefault(croupier, Counter())[kind_of(rule, by)] += count
    busiest = sorted(table, key=lambda croupier: (-table[croupier].total(), croupier))[:CROUPIERS]
    return _Errors(casino, casino.day, {croupier: table[croupier] for croupier in busiest})


def kind_of(rule: str, by: str | None) -> int:
    """Return what an error is counted as, by its rule and by who owes; None if nobody does."""
    return KIND_BY_WHO_OWES.get((rule, by or ""), KIND_OF.get(rule, OTHER))


def _rows(errors: _Errors, tallies: Mapping[str, Assessment], names: Scope) -> list[Row]:
    casino_id, day, table = errors.casino.pk, errors.day, errors.by_croupier
    most = max([count for row in table.values() for count in row.values()], default=1)
    directory = Directory.of(casino_id, staff(table)) if names.includes(casino_id) else None
    return [_row(_linked(name, casino_id, day, directory), row, most, tallies.get(name)) for name, row in table.items()]


def _linked(croupier: str, casino_id: int, day: date, directory: Directory | None) -> SafeString:
    name = directory.staff(croupier) if directory is not None else ""
    return parts.person("croupier", casino_id, croupier, name, month=f"{day:%Y-%m}")


def _row(named: SafeString, counts: Counter[int], most: int, assessed: Assessment | None) -> Row:
    cells = tuple((counts[kind], tint(counts[kind], most)) for kind in range(len(KINDS)))
    rate = gettext("not counted")
    if assessed is not None:
        per_thousand = assessed.rate.rate * 1000
        rate = number_format(round(float(per_thousand), 1), decimal_pos=1)
    return Row(named, cells, rate, assessed is not None and assessed.noteworthy)
