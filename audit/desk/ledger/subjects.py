"""Whom or what a process is about, with links: a person's page, findings of a table, a wheel's processes.

An id is whatever a table system gave, so it is quoted wherever it goes into an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode

from audit.desk.nights.tables import Link
from audit.desk.tables.limits import equipment_id
from audit.models import Casino, GamingTable, LedgerProcess
from audit.persons import subjects
from audit.persons.directory import NO_NAMES, Directory, PersonId
from audit.persons.subjects import TEAM
from settlement.eprocess.kinds import KINDS

Names = Callable[[Iterable[PersonId]], Directory]
"""Looks persons up for whoever reads a page."""


def persons_in(processes: Iterable[LedgerProcess]) -> Iterator[PersonId]:
    """Yield the persons whom processes are about."""
    for process in processes:
        yield from subjects.persons_in(process.kind, process.subject)


def subjects_of(
    casino: Casino, processes: Iterable[LedgerProcess], directory: Directory = NO_NAMES
) -> dict[int, list[Link]]:
    """Return the links of whom or what each of a casino's ``processes`` is about, by primary key; one query."""
    listed = list(processes)
    of_tables = [each.subject for each in listed if KINDS[each.kind].subject == "table"]
    found = GamingTable.objects.filter(casino=casino, code__in=of_tables) if of_tables else GamingTable.objects.none()
    tables = dict(found.values_list("code", "pk"))
    return {each.pk: links_of(each, tables.get(each.subject), directory) for each in listed}


def links_of(process: LedgerProcess, table_id: int | None = None, directory: Directory = NO_NAMES) -> list[Link]:
    """Return the links of whom or what a process is about."""
    subject = process.subject
    first, _, second = subject.partition(", ")

    def player(code: str) -> Link:
        return Link(directory.player(code), reverse("admin:audit_person_player", args=(process.casino_id, code)))

    def croupier(code: str) -> Link:
        return Link(directory.staff(code), reverse("admin:audit_person_croupier", args=(process.casino_id, code)))

    def rule(name: str) -> Link:
        return Link(subjects.rule_title(name), _findings(rule=name))

    match KINDS[process.kind].subject:
        case "player":
            return [player(subject)]
        case "player, croupier":
            return [player(first), croupier(second)]
        case "player, rule":
            return [player(first), rule(second)]
        case "croupier" | "closer":
            return [croupier(subject)]
        case "croupier, wheel":
            return [croupier(first), Link(equipment_id(second), _processes(second))]
        case "croupier, rule":
            return [croupier(first), rule(second)]
        case "player, croupier, rule":
            dealer, _, name = second.rpartition(", ")
            return [player(first), croupier(dealer), rule(name)]
        case "table":
            return [Link(subject, _findings(q=subject) if table_id is None else _findings(table=str(table_id)))]
        case "wheel" | "dice set":
            return [Link(equipment_id(subject), _processes(subject))]
        case "dice set, die":
            dice, _, die = subject.rpartition(", ")
            return [Link(equipment_id(dice), _processes(dice)), Link(die, "")]
        case "count team":
            return [croupier(each) for each in subject.split(TEAM)]
        case _:
            return [Link(subject, "")]


def subject_text(links: Iterable[Link]) -> str:
    """Return links as a cell of a list shows them."""
    return render_to_string("admin/audit/ledger/subject.html", {"parts": links})


def _findings(**query: str) -> str:
    return reverse("admin:audit_finding_changelist") + "?" + urlencode(query)


def _processes(equipment: str) -> str:
    """Return the address of the processes about a wheel or a set of dice, also of those that have ended."""
    return reverse("admin:audit_ledgerprocess_changelist") + "?" + urlencode({"q": equipment, "ended": "all"})
