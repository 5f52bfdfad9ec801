"""The feed of findings: what became known of a casino's findings, in an order that never misses one.

    finding, case ─trigger─► change ─► numbered once it is committed ─► feed, Server-Sent Events, webhooks, broker

A cursor is ``EPOCH-POSITION``: the position of a change among its casino's, and the epoch of the log in which it was
given. A record that was restored from a backup gives positions anew; a cursor of an earlier epoch is refused, so that
nobody goes on in the middle of what they have not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.db import connection
from django.db.models import QuerySet

from audit.access.scope import Scope
from audit.adjudication.incidents import look_up_consequences
from audit.casework.priority import priorities_of
from audit.event_store.streams import instant
from audit.models import ChangeKind, Finding, FindingChange
from audit.presentation import reference
from audit.transparency import epochs

_CURSOR = re.compile(r"([1-9][0-9]{0,8})-(0|[1-9][0-9]{0,17})", re.ASCII)

TYPES = {kind.value: f"finding.{kind.value}" for kind in ChangeKind}
"""What a change is called in the feed, in messages and as the type of a webhook."""


class BadCursor(Exception):
    """The text is not a cursor of this feed."""


class StaleCursor(Exception):
    """The cursor is of an epoch before the record was restored, or beyond what there is."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """After which change to go on: ``position`` 0 is the beginning."""

    epoch: int
    position: int = 0

    def __str__(self) -> str:
        return f"{self.epoch}-{self.position}"

    @classmethod
    def parse(cls, text: str, *, newest: int) -> Self:
        """Return the cursor that a client sends back. Raise ``BadCursor``, or ``StaleCursor`` beyond ``newest``."""
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise BadCursor(text[:40])
        cursor = cls(int(match[1]), int(match[2]))
        if cursor.epoch != epochs.current().number or cursor.position > newest:
            raise StaleCursor(text)
        return cursor

    @classmethod
    def at(cls, position: int) -> Self:
        """Return the cursor of a position in the epoch of now."""
        return cls(epochs.current().number, position)


def number(casino_id: int) -> int:
    """Give what is committed its position. Return the newest position of a casino, 0 before its first change.

    Call it outside of a transaction: the numbers are seen by others, and the next may be given, when it has committed.
    """
    with connection.cursor() as cursor:
        cursor.execute("select audit_number_changes(%s)", [casino_id])
        return int(cursor.fetchone()[0])


def changes(
    casino_id: int, after: int, *, limit: int, through: int | None = None, scope: Scope | None = None
) -> list[FindingChange]:
    """Return up to ``limit`` changes of a casino after a position, up to ``through``, in order, with their findings."""
    rows: QuerySet[FindingChange] = FindingChange.objects.filter(casino=casino_id, position__gt=after)
    if through is not None:
        rows = rows.filter(position__lte=through)
    if scope is not None:
        rows = scope.rows(rows)
    related = ("casino", "finding__stream", "finding__table", "finding__case")
    found = list(rows.select_related(*related).order_by("position")[:limit])
    findings: dict[int, Finding] = {}
    for change in found:  # one that changed twice is looked up once
        change.finding = findings.setdefault(change.finding_id, change.finding)
    look_up_consequences(findings.values())
    return found


def documents(found: Sequence[FindingChange]) -> list[dict[str, Any]]:
    """Return changes as the feed, webhooks and the broker have them; the finding as it is now.

    Only those of a sandbox have ``sandbox``: whoever takes findings of several casinos can tell them from real ones.
    """
    epoch = epochs.current().number
    priorities = priorities_of(Finding.objects.filter(pk__in={change.finding_id for change in found}))
    return [
        {
            "cursor": str(Cursor(epoch, change.position or 0)),
            "type": TYPES[change.kind],
            "at": instant(change.at),
            "casino": change.casino.code,
            **({"sandbox": True} if change.casino.is_sandbox else {}),
            "finding": finding_document(change.finding, priorities.get(change.finding_id)),
        }
        for change in found
    ]


def finding_document(finding: Finding, priority: int | None) -> dict[str, Any]:
    """Return a finding as section 6 of the event contract has it, with its table, its times, its status and its case.

    ``priority`` is that of its incident in the queue, None without a case. ``cleared`` is what officers had paid or
    waived of ``owed``, in minor units. Of the case it has state and outcome; what officers wrote stays at the desk.
    """
    case = finding.case
    return {
        "id": finding.pk,
        "reference": reference(finding),
        "stream": finding.stream.name,
        "table": finding.table.code if finding.table else None,
        "gaming_day": finding.gaming_day.isoformat(),
        "occurred_at": instant(finding.occurred_at),
        "ruleset": finding.ruleset,
        "engine_version": finding.engine_version,
        "status": finding.status,
        "priority": priority,
        "case": None if case is None else {"id": case.pk, "state": case.state, "outcome": case.outcome or None},
        "cleared": finding.cleared,
        **finding.as_dict(),
    }
