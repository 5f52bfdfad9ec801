"""The directory as a file: CSV with a row for each person, read into one casino's directory.

    code,kind,name,card_or_licence,note        the last two columns may be missing; "," or ";" between them

A row that is refused is reported with its line and why, and never with its values; the other rows are taken. A person
who is not in the file stays as they are. The id of somebody who was erased is not taken from a file, which may be older
than the erasure: whoever has it now is entered by hand.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.event_store import audit_trail
from audit.models import Casino, ErasedPerson, Person
from audit.persons.directory import PersonId, family_of

COLUMNS = ("code", "kind", "name", "card_or_licence", "note")
REQUIRED = frozenset({"code", "kind", "name"})
CHANGED_BY_FILE = ("kind", "name", "card_or_licence", "note")

FORMULA_STARTS = "=+-@"
"""Before which an export puts an apostrophe, and reading takes it away again."""

MAX_BYTES = 1024 * 1024
MAX_ROWS = 5_000
MAX_LISTED = 200
"""Ids in one entry of the audit trail; a file with more makes several."""


class FileRefused(Exception):
    """The file cannot be read at all. ``reason`` is for the officer."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that is not taken: its line in the file, and why, field by field."""

    line: int
    reasons: tuple[str, ...]


@dataclass(slots=True)
class ImportReport:
    """What a file does to a directory, or would do: ids by what becomes of them, and the refused rows."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: list[RefusedRow] = field(default_factory=list)


def import_file(casino: Casino, raw: bytes, *, actor: str, dry_run: bool) -> ImportReport:
    """Read a file into the directory of a casino, or only report what it would do. Raise ``FileRefused``.

    What is added and changed is in the audit trail by id, in the same transaction.
    """
    rows = list(_rows(raw))
    report = ImportReport()
    with transaction.atomic():
        known = _known(casino)
        erased = _erased(casino) - known.keys()
        seen: set[PersonId] = set()
        for line, values in rows:
            reasons = _take(casino, values, known, seen, report, erased, dry_run=dry_run)
            if reasons:
                report.refused.append(RefusedRow(line, tuple(reasons)))
        if not dry_run:
            _record(casino, actor, "added", report.added)
            _record(casino, actor, "changed", report.changed)
    return report


def _known(casino: Casino) -> dict[PersonId, Person]:
    return {PersonId(family_of(each.kind), each.code): each for each in Person.objects.filter(casino=casino)}


def _erased(casino: Casino) -> set[PersonId]:
    """Return the ids of the casino that were erased."""
    rows = ErasedPerson.objects.filter(casino=casino).values_list("kind", "code")
    return {PersonId(family_of(kind), code) for kind, code in rows}


def _rows(raw: bytes) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a file with their lines."""
    if len(raw) > MAX_BYTES:
        raise FileRefused(_("The file is too large."))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileRefused(_("The file is not in UTF-8.")) from None
    first_line = text.partition("\n")[0]
    delimiter = ";" if first_line.count(";") > first_line.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restkey="", strict=True)
    try:
        headings = set(reader.fieldnames or ())
        if not REQUIRED.issubset(headings) or not headings.issubset(COLUMNS):
            raise FileRefused(_("The first line must name the columns: code, kind, name, card_or_licence, note."))
        for number, row in enumerate(reader, start=1):
            if number > MAX_ROWS:
                raise FileRefused(_("The file has too many rows."))
            yield reader.line_num, row
    except csv.Error:
        raise FileRefused(_("The file is not CSV.")) from None


def _take(
    casino: Casino,
    values: Mapping[str, str],
    known: dict[PersonId, Person],
    seen: set[PersonId],
    report: ImportReport,
    erased: Set[PersonId],
    *,
    dry_run: bool,
) -> list[str]:
    """Add or change the person of a row. Return why the row is refused; empty if it is not."""
    if "" in values or None in values.values():
        return [str(_("The row has more or fewer columns than the first line."))]
    given = {name: _unguarded(value).strip() for name, value in values.items()}
    identity = PersonId(family_of(given["kind"]), given["code"])
    person = known.get(identity) or Person(casino=casino, code=given["code"])
    before = {name: getattr(person, name) for name in CHANGED_BY_FILE}
    for name in CHANGED_BY_FILE:
        setattr(person, name, given.get(name, before[name]))
    try:
        person.clean_fields(exclude={"casino"})  # which would be a query for each row
    except ValidationError as error:
        _restore(person, before)
        return [f"{name}: {' '.join(texts)}" for name, texts in _without_values(error)]
    if identity in erased:
        return [str(_("This id was erased. If somebody has it again, enter them by hand."))]
    if identity in seen:
        _restore(person, before)
        return [str(_("The id is in the file twice."))]
    seen.add(identity)
    if person.pk is not None and before == {name: getattr(person, name) for name in CHANGED_BY_FILE}:
        report.unchanged += 1
        return []
    (report.added if person.pk is None else report.changed).append(person.code)
    if not dry_run:
        person.save()
    return []


def _restore(person: Person, before: Mapping[str, str]) -> None:
    for name, value in before.items():
        setattr(person, name, value)


def _without_values(error: ValidationError) -> Iterable[tuple[str, list[str]]]:
    """Yield the messages of each field; that of a choice would quote the value, so it has another."""
    for name, errors in error.error_dict.items():
        yield (
            name,
            [
                str(_("not a known kind of person")) if each.code == "invalid_choice" else message
                for each in errors
                for message in each.messages
            ],
        )


def _unguarded(value: str) -> str:
    """Return a cell without the apostrophe that an export puts before what looks like a formula."""
    return value[1:] if len(value) > 1 and value[0] == "'" and value[1] in FORMULA_STARTS else value


def _record(casino: Casino, actor: str, verb: str, codes: list[str]) -> None:
    for low in range(0, len(codes), MAX_LISTED):
        data = {"named": codes[low : low + MAX_LISTED], "by": "file"}
        audit_trail.record(actor, f"person.{verb}", casino_id=casino.pk, data=data)
