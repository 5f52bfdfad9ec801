"""The difference of a what-if run as a file, CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol

from audit.adjudication.what_if import COMPARED, Change
from audit.exports.csv_injection import guarded
from audit.presentation import units
from settlement.catalogue import RULES

COLUMNS = ("kind", "stream", "seq", "rule", "wager", "currency")


class Writable(Protocol):
    """A file, a response, or the output of a command."""

    def write(self, text: str, /) -> object: ...


def write_csv(changes: Iterable[Change], out: Writable) -> None:
    """Write changes as CSV, one a line, guarded against CSV injection. Amounts are in units of the currency."""
    writer = csv.writer(out)
    writer.writerow([*COLUMNS, *(f"{when}_{name}" for when in ("before", "after") for name in COMPARED)])
    for change in changes:
        row = [getattr(change, name) for name in COLUMNS]
        row += [_written(change, name, compared) for compared in (change.before, change.after) for name in COMPARED]
        writer.writerow([value if isinstance(value, Decimal) else guarded(value) for value in row])


def _written(change: Change, name: str, compared: dict[str, Any] | None) -> Any:
    """Return a field of a finding; an amount in units of its currency."""
    value = (compared or {}).get(name)
    rule = RULES[change.rule]
    kind = {"expected": rule.expected_is, "recorded": rule.recorded_is}.get(name)
    return units(value, change.currency) if kind == "money" and isinstance(value, int) else value


def write_json(changes: Iterable[Change], out: Writable) -> None:
    """Write changes as a JSON array of objects. Amounts are in minor units."""
    rows = [
        {**{name: getattr(change, name) for name in COLUMNS}, "before": change.before, "after": change.after}
        for change in changes
    ]
    out.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
