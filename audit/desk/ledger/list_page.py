"""What the page of questions shows of a casino above its list: what was raised, what is near it, the budget."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.charts.dots import NAMED, Dot, DotKind, Words, draw_dots
from audit.charts.evidence import draw_evidence_line
from audit.charts.share import draw_share
from audit.desk.ledger import page
from audit.desk.ledger.subjects import Names, links_of, persons_in
from audit.ledger import listing, set_aside
from audit.models import Casino, Finding, LedgerCursor, LedgerPoint, LedgerProcess, LedgerQuestion
from audit.persons.directory import Directory
from audit.presentation import count, finding_title, language, reference
from settlement.catalogue import RULES
from settlement.eprocess.budget import AT_ONE_TABLE, allotted, stated_in
from settlement.eprocess.kinds import KINDS

SHOWN = 20
"""Processes shown in full, of those that raised a question and of those near the threshold; the list below has all."""

THINGS, PERSONS = "equipment", listing.PERSONS
HALVES: Mapping[str, str | Promise] = {THINGS: gettext_lazy("Wheels, dice, tables"), PERSONS: gettext_lazy("People")}
"""The halves of the budget, as the page calls them."""

SOURCES: Mapping[str, str | Promise] = {
    "stated": gettext_lazy("said by the casino"),
    "counted": gettext_lazy("as many as last year"),
    "at first": gettext_lazy("by the number of tables"),
}
"""From where the number of subjects comes that are expected, as the page says it."""

GROUPS: Sequence[tuple[str | Promise, tuple[str, ...]]] = (
    (gettext_lazy("Wheels"), ("wheel", "wheel-displacement", "wheel-memory")),
    (gettext_lazy("Dice, sets and throws"), ("die", "dice-supply", "dice-pair", "void-call")),
    (gettext_lazy("Luck of tables"), ("table-luck",)),
    (gettext_lazy("Counts of tables"), ("table-drift",)),
    (gettext_lazy("Croupiers at a wheel"), ("croupier-displacement",)),
    (gettext_lazy("Shooters"), ("shooter",)),
    (gettext_lazy("Counts by person and shift"), ("team-drift", "shift-drift", "closer-drift", "duty-drift")),
    (gettext_lazy("Croupiers’ errors"), ("payout-lean", "payout-rate")),
    (gettext_lazy("Persons’ findings"), ("concentration", "pair-concentration", "player-concentration")),
    (gettext_lazy("Croupiers’ void coups"), ("croupier-voids", "pair-voids")),
    (gettext_lazy("Luck with a croupier"), ("croupier-luck", "pair-luck")),
    (gettext_lazy("Players’ luck"), ("player-luck", "late-luck", "corrected-luck")),
)  # fmt: skip
"""The kinds of processes, as the page adds up their levels; each group is of one half, those of things first."""


def casino_context(casino: Casino, about: str, names: Names) -> dict[str, Any] | None:
    """Return what the page shows of a casino; None before its ledger was fed. Its queries do not grow with it.

    ``about`` narrows the list to one of ``HALVES``; any other word does not. ``names`` looks persons up.
    """
    cursor = listing.cursor_of(casino)
    if cursor is None:
        return None
    questions = listing.questions_of(casino, cursor.year)
    raised = sorted((each.process for each in questions.values()), key=lambda process: -process.e_value)
    going_on = listing.evidence_of(casino, cursor.year)
    near = listing.in_full(listing.near_threshold_among(going_on, questions.keys()))
    quiet = len(going_on) - len(near) - sum(process.is_going_on for process in raised)
    listed = [*_about(about, raised)[:SHOWN], *_about(about, near)[:SHOWN]]
    directory = names(persons_in([*listed, *raised[:NAMED], *near[:NAMED]]))
    rows = _rows(casino, listed, questions, directory)
    given = listing.given_in(casino, cursor.year)
    spent = sum(each.given for each in given)
    return {
        "casino": casino,
        "year": cursor.year,
        "allowed": number_format(float(Fraction(cursor.budget)), 1),
        "spent": _hundredths(spent),
        "halves": _halves(given, Fraction(cursor.budget)),
        "groups": list(_groups(given, cursor, listing.counted_before(casino, cursor.year))),
        "dots": _dots(going_on, raised, near, directory),
        "raised": [row for row in rows if row["question"]],
        "raised_count": len(raised),
        "near": [row for row in rows if not row["question"]],
        "near_count": len(near),
        "set_aside": list(set_aside.of_casino(casino).defer("content")[:SHOWN]),
        "set_aside_count": set_aside.of_casino(casino).count(),
        "quiet": count(quiet),
        "processes": count(len(going_on)),
    }


def _about(about: str, processes: Sequence[LedgerProcess]) -> list[LedgerProcess]:
    return [each for each in processes if about not in HALVES or KINDS[each.kind].half == about]


def _halves(given: Collection[listing.Given], budget: Fraction) -> list[dict[str, Any]]:
    """Return what each half of the budget has given out, with a bar on the scale of what it may."""
    allowed = float(budget) / 2
    halves = []
    for half, name in HALVES.items():
        spent = sum(each.given for each in given if KINDS[each.kind].half == half)
        bar = draw_share(round(1_000 * spent), round(1_000 * allowed), kind="given")
        halves.append(
            {
                "name": name,
                "bar": mark_safe(bar),
                "spent": _hundredths(spent),
                "allowed": _hundredths(allowed),
            }
        )
    return halves


def _hundredths(level: float) -> str:
    """Return a level rounded to two decimals: Django would cut the others off."""
    return number_format(round(level, 2), 2)


def _at_least_a_hundredth(level: float) -> str:
    return _hundredths(level) if level >= 0.005 else f"< {number_format(0.01, 2)}"


def _groups(
    given: Collection[listing.Given], cursor: LedgerCursor, counted: Container[str]
) -> Iterator[dict[str, Any]]:
    """Yield what each group of kinds was given, how many subjects it expects and why, what is left for more of them.

    ``counted`` are the kinds of which a year before had subjects.
    """
    stated = stated_in(cursor.expected)
    for name, kinds in GROUPS:
        own = [each for each in given if each.kind in kinds]
        if own:
            spent = sum(each.given for each in own)
            sources = {_source(each.kind, stated, counted) for each in own}
            allowed = sum(float(allotted(Fraction(cursor.budget), KINDS[each.kind])) for each in own)
            yield {
                "half": HALVES[KINDS[kinds[0]].half],
                "name": name,
                "processes": count(sum(each.processes for each in own)),
                "expected": count(sum(cursor.expected.get(each.kind, AT_ONE_TABLE[each.kind]) for each in own)),
                "sources": [words for source, words in SOURCES.items() if source in sources],
                "given": _at_least_a_hundredth(spent),
                "left": _at_least_a_hundredth(allowed - spent),
            }


def _source(kind: str, stated: Container[str], counted: Container[str]) -> str:
    """Return from where the number of subjects expected of a kind comes, as ``SOURCES`` has it."""
    if KINDS[kind].subject in stated:
        return "stated"
    return "counted" if kind in counted else "at first"


def _dots(
    going_on: Collection[listing.Evidence],
    raised: Collection[LedgerProcess],
    near: Collection[LedgerProcess],
    directory: Directory,
) -> str:
    kinds: dict[int, DotKind] = {each.pk: "near" for each in near}
    kinds.update((each.pk, "raised") for each in raised)
    names = _dot_names((*raised, *near), directory)
    processes: dict[int, listing.Evidence | LedgerProcess] = {each.pk: each for each in going_on}
    processes.update((each.pk, each) for each in raised)  # one that has asked may have ended
    dots = []
    for each in processes.values():
        way = listing.log_e_value(each) / listing.log_threshold(each.alpha)
        dots.append(Dot(way, kinds.get(each.pk, "quiet"), names.get(each.pk, "")))
    words = Words(_("looks like chance"), _("nothing yet"), _("threshold"), _("near the threshold"), _("question"))
    title = _("Every test by its evidence")
    spoken = _("%(raised)s over the threshold, %(near)s near it, of %(all)s") % {
        "raised": len(raised),
        "near": len(near),
        "all": len(dots),
    }
    return mark_safe(draw_dots(dots, words, title=title, description=spoken))


def _dot_names(processes: Sequence[LedgerProcess], directory: Directory) -> dict[int, str]:
    """Return what each dot is called, by primary key: whom or what it is about; of several alike the kinds, too."""
    about = {each.pk: ", ".join(link.text for link in links_of(each, directory=directory)) for each in processes}
    alike = Counter(about.values())
    kinds = {each.pk: page.title_of(each) for each in processes}
    return {pk: words if alike[words] == 1 else f"{words} ({kinds[pk]})" for pk, words in about.items()}


def _rows(
    casino: Casino,
    processes: Collection[LedgerProcess],
    questions: Mapping[int, LedgerQuestion],
    directory: Directory,
) -> list[dict[str, Any]]:
    """Return processes as the page shows them in full, each with the line of its evidence."""
    logs: dict[int, list[float]] = defaultdict(list)
    points = LedgerPoint.objects.filter(process__in=processes).order_by("process_id", "batch__number")
    for point in points.only("process_id", "wealth"):
        logs[point.process_id].append(listing.log_wealth(point.wealth_over_start))
    raised_by = [questions[each.pk].finding_id for each in processes if each.pk in questions]
    findings = Finding.objects.select_related("case").in_bulk(raised_by)
    rows = page.rows_of(casino, processes, directory)
    for row in rows:
        process: LedgerProcess = row["process"]
        question = questions.get(process.pk)
        finding = findings[question.finding_id] if question else None
        rule = RULES[KINDS[process.kind].question]
        level = listing.log_wealth(process.threshold * process.wealth_over_start / process.e_value)
        spoken = _("Evidence %(evidence)s, threshold %(level)s") % {
            "evidence": row["of_the_year"],
            "level": row["asks_at"],
        }
        row["question"] = question
        row["has_number"] = listing.has_number(process, has_question=question is not None)
        row["icon"] = "people" if KINDS[process.kind].half == PERSONS else "tables"
        row["observations"] = count(process.draws)
        row["finding"] = finding
        row["reference"] = reference(finding) if finding else ""
        row["answered"] = finding.case.closed_at if finding and finding.case else None
        row["asks"] = finding_title(rule.name)
        row["explanation"] = rule.explanation.in_language(language())
        row["line"] = mark_safe(
            draw_evidence_line(
                logs[process.pk], level, is_raised=question is not None, title=str(row["title"]), description=spoken
            )
        )
    return rows
