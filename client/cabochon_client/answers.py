"""What an answer of the record means for the session that was sent: the table of ``docs/ingestion.md``, *Errors*.

stored        200, 201 with a receipt
go on         409 gap, 422 not-opened: send from ``next_seq``
renumber      409 conflict with ``next_seq``: two officers closed the session under ``seq``; the rest comes after it
again         no whole answer, 400, 408, 429, 5xx: the same again, after a while
smaller       413: fewer events at once
hold          the key, its table, its limits: others go on; this one is tried again, slowly
stop          409 conflict, 422 invalid: nothing that is tried again would help; others go on
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cabochon_client.link import Answer

AGAIN = frozenset({400, 408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request is sent again."""

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Stored:
    """The record says that all is stored; the body is its receipt, which is still to be checked."""

    body: bytes


@dataclass(frozen=True)
class GoOn:
    """The record takes ``next_seq`` next."""

    next_seq: int
    problem: dict[str, Any]


@dataclass(frozen=True)
class Closed:
    """Two officers closed the session with event ``seq``: what comes later is recorded after it."""

    seq: int
    problem: dict[str, Any]


@dataclass(frozen=True)
class Again:
    """Send the same again. ``concerns_all``: the record or the way to it is in difficulty, not this session alone."""

    problem: dict[str, Any]
    retry_after_s: float | None = None
    concerns_all: bool = True


@dataclass(frozen=True)
class Smaller:
    """The request was too large."""

    problem: dict[str, Any]


@dataclass(frozen=True)
class Hold:
    """This session cannot be recorded until somebody changes something at the record: the key, a table, a limit."""

    problem: dict[str, Any]


@dataclass(frozen=True)
class Stop:
    """This session cannot go on: ``problem`` names the event in ``seq`` where the record does."""

    problem: dict[str, Any]


Verdict = Stored | GoOn | Closed | Again | Smaller | Hold | Stop


def verdict_of(answer: Answer) -> Verdict:
    """Return what an answer to recorded events means."""
    problem = problem_in(answer)
    status, code = answer.status, problem["code"]
    if status in (200, 201):
        return Stored(answer.body)
    if status in AGAIN:
        return Again(problem, answer.retry_after_s, concerns_all=status != 500)
    if code in ("gap", "not-opened") and isinstance(problem.get("next_seq"), int):
        return GoOn(problem["next_seq"], problem)
    if status == 413:
        return Smaller(problem)
    if code == "conflict" and all(isinstance(problem.get(name), int) for name in ("seq", "next_seq")):
        return Closed(problem["seq"], problem)
    if code in ("conflict", "invalid"):
        return Stop(problem)
    if status == 401 or status == 404 or status < 400 or answer.content_type != PROBLEM:
        # Of the key, the address, or a proxy: as wrong for every other session.
        return Again(problem)
    return Hold(problem)


def problem_in(answer: Answer) -> dict[str, Any]:
    """Return the problem document of an answer, or one that says what came instead. ``code`` is always there."""
    content: object = None
    if answer.content_type == PROBLEM:
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError):
            content = None
    if not isinstance(content, dict):
        content = {"detail": f"status {answer.status}, which is no answer of Cabochon"}
    code = content.get("code")
    return {**content, "status": answer.status, "code": code if isinstance(code, str) else f"status-{answer.status}"}


def unreachable(reason: str) -> Again:
    """Return the verdict when no whole answer came."""
    return Again({"status": 0, "code": "unreachable", "detail": reason})


LOST = "cabochon lost STREAM --through LAST"

ADVICE = {
    "unreachable": "Is the record's address right, is the network up? It is tried again by itself.",
    "unauthenticated": "No key is valid. Ask the operator for a new one (createkey), and set it here.",
    "forbidden": "The key may not do this: ask the operator for its scopes, its casino and its tables.",
    "conflict": "The record keeps another event under this number, and an officer sees both. "
    f"If the spool is older than what was sent, declare what is lost: {LOST}.",
    "invalid": "The record cannot read this event. Mend the table system, and leave this event out: "
    "cabochon lost STREAM --through SEQ --reason refused.",
    "not-opened": "A session's first event is session.opened, a count's count.opened: send it as another stream.",
    "gap": "The record does not take the number that it asks for: tell the operator, with this code.",
    "gaming-day": "The key may not open a session of that day: correct the day or the clock, "
    "or ask the operator for a key with events:backfill.",
    "ahead": "The record has events of this session that are not in the spool: another one sent them, "
    f"or this one was lost. Declare what is lost: {LOST}.",
    "behind": f"The record needs events that are no longer in the spool. Declare them lost: {LOST}.",
    "no-receipt": "What answers does not prove that it is the record: look for a proxy or a sign-in page in between. "
    "Nothing counts as stored.",
    "too-many-streams": "The key has opened its streams of this day: ask the operator (CABOCHON_STREAMS_A_DAY).",
    "too-many-months": "The key has opened streams of too many months today: it goes on tomorrow, or ask the operator.",
    "throttled": "The key sends more requests than it may: it goes on by itself.",
    "storage-full": "The disk of the record is full: tell the operator. It goes on by itself.",
    "closed": "Two officers closed this session while nothing came from it. Events that were not sent yet have higher "
    "numbers now, and are recorded as late: tell the officers what happened.",
    "failed": "Something failed at the record: tell the operator. It is tried again by itself.",
    "restored": "The record was restored from a backup and had lost events, which were sent again. "
    "Keep the receipts: cabochon receipts STREAM.",
    "not-found": "Is the address right? Under it, /api/v1/ is looked for.",
    "seal-false": "The log does not prove what it has acknowledged: keep the spool, and call its auditor.",
}
"""What to do, by the code of a problem, in a sentence."""


def advice(code: str) -> str:
    """Return what to do about a problem."""
    return ADVICE.get(code, "Ask the operator of the record, with this code.")
