"""What the register of a casino decides of the readings of a text: beside a sentence, before what holds without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.urls import reverse

from audit.models import LoggedStream, RegisterEntry
from audit.presentation import day
from audit.register import in_force
from audit.register.currency import currency_of
from audit.register.in_force import Place, deciding
from audit.register.readings import KINDS, written


@dataclass(frozen=True, slots=True)
class Decided:
    """A reading as the register has it. ``table`` is "" for every table of the casino."""

    casino: str
    table: str
    value: str
    since: str
    address: str


Decisions = Mapping[str, Sequence[Decided]]
"""By reading, the casinos in the order of their names, a casino's tables after what it decides for all of them."""

NOTHING: Decisions = {}


def in_force_on(on: date, entries: QuerySet[RegisterEntry], rulesets: Iterable[str]) -> Decisions:
    """Return what the approved ``entries`` of some casinos decide on a day, under any of ``rulesets``: one query."""
    approved = entries.filter(version__isnull=False, reading__in=KINDS).select_related("casino", "table")
    by_casino: defaultdict[int, list[RegisterEntry]] = defaultdict(list)
    for entry in approved.order_by("version"):
        by_casino[entry.casino_id].append(entry)
    deciding_entries: dict[int, RegisterEntry] = {}
    for casino_id, own in by_casino.items():
        for table_id in {None, *(entry.table_id for entry in own)}:
            for ruleset in rulesets:
                where = Place(casino_id, table_id, ruleset, on)
                deciding_entries |= {entry.pk: entry for entry in deciding(where, own).values()}
    return _lines(deciding_entries.values())


def in_session(stream: LoggedStream, version: int | None) -> Decisions:
    """Return what a session was read by: the version of the register that its run knew, None for none."""
    if version is None:
        return NOTHING
    return _lines(in_force.entries_of(stream, version).values())


def _lines(entries: Iterable[RegisterEntry]) -> Decisions:
    found: defaultdict[str, list[Decided]] = defaultdict(list)
    in_order = list(entries)
    currencies = {casino: currency_of(casino) for casino in {each.casino for each in in_order}}
    for entry in sorted(in_order, key=lambda each: (str(each.casino), each.table.code if each.table else "", each.pk)):
        line = Decided(
            str(entry.casino),
            entry.table.code if entry.table is not None else "",
            written(entry.reading, entry.value, currencies[entry.casino]),
            day(entry.first_day),
            reverse("admin:audit_registerentry_change", args=(entry.pk,)),
        )
        found[entry.reading].append(line)
    return found
