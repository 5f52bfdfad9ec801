"""What does not hold about a row: what every part of this package reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WrongRow:
    """A row that differs from what the log says, is missing, or is too many.

    ``part`` is what the row is of: ``finding``, ``session``, ``case``, ``action``, ``register``, ``night``,
    ``signature``, ``complaint``, ``information`` (a signed list),
    ``request``, ``what-if``, ``ledger``, ``person``, ``key``, ``batch`` (its signature),
    ``casino``, ``table``, ``deadline``, ``role``, ``group``, ``link``, ``officer``, ``feed``, ``counter``,
    ``webhook``, ``contacts`` (for cases), ``clock``, ``epoch``, ``run``, ``figures``, ``closing`` (of a session),
    ``payment order``, ``reference`` (to a row that is not there),
    ``event`` (of the audit trail) or ``unreadable`` (a part, of which nothing more is known).
    ``stream`` and ``seq`` say where, as far as it is of a session.
    """

    part: str
    what: str
    stream: str = ""
    seq: int | None = None
