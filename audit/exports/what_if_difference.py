"""The difference of a what-if run as a file, CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Protocol

from audit.adjudication.what_if import COMPARED, Change
from audit.exports.csv_injection import guarded

COLUMNS = ("kind", "stream", "seq", "rule", "wager", "currency")


class Writable(Protocol):
    """A file, a response, or the output of a command."""

    def write(self, text: str, /) -> object: ...


def write_csv(changes: Iterable[Change], out: Writable) -> None:
    """Write changes as CSV, one a line, guarded against CSV injection."""
    writer = csv.writer(out)
    writer.writerow([*COLUMNS, *(f"{when}_{name}" for when in ("before", "after") for name in COMPARED)])
    for change in changes:
        row = [getattr(change, name) for name in COLUMNS]
        row += [(compared or {}).get(name) for compared in (change.before, change.after) for name in COMPARED]
        writer.writerow([guarded(value) for value in row])


def write_json(changes: Iterable[Change], out: Writable) -> None:
    """Write changes as a JSON array of objects."""
    rows = [
        {**{name: getattr(change, name) for name in COLUMNS}, "before": change.before, "after": change.after}
        for change in changes
    ]
    out.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
