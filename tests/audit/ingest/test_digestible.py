"""What is accepted can be replayed, read and shown: no valid event breaks the stream that holds it."""

from __future__ import annotations

from typing import Any

import pytest

from audit.adjudication.replay import advance
from audit.models import Finding, LoggedStream
from tests.audit.sessions import event, opener
from tests.audit.tables import Tenant

LONG = "x" * 30_000
LARGEST = 2**53 - 1


def strange(name: str, stream: str, casino: str) -> list[dict[str, Any]]:
    """Return a session that is valid and as unusual as possible in one way."""
    usual = [opener(stream, casino=casino), event(stream, 2, "wager.placed", wager="w2", bet="win", stake=1_000)]
    match name:
        case "a ruleset without end":
            usual[0]["data"]["ruleset"] = LONG
        case "a game without end":
            usual[0]["data"]["game"] = LONG
        case "a bet without end":
            usual[1]["data"]["bet"] = LONG
        case "an id as long as can be":
            usual[1]["data"] |= {"wager": "é" * 200, "player": "p" * 40}
        case "the largest amounts":
            usual[0]["data"] |= {"float": LARGEST, "maximum": None} | {"params": {"payout_unit": LARGEST}}
            del usual[0]["data"]["maximum"]
            usual[1]["data"]["stake"] = LARGEST
            usual.append(event(stream, 3, "payout.made", wager="w2", winnings=LARGEST, stake_returned=LARGEST))
        case "the first and the last year":
            usual[1]["occurred_at"] = "9998-12-31T23:59:59-23:59"
            usual += [
                event(stream, 3, "dice.thrown", faces=[7, 2]) | {"occurred_at": "0002-01-01T00:00:00+23:59"},
                event(stream, 4, "dice.thrown", faces=[LARGEST, -LARGEST]),
            ]
        case "a correction of everything":
            usual += [
                event(stream, seq, "entry.corrected", corrects=seq - 2, data=data, reason=LONG, approved_by="c")
                for seq, data in ((3, {}), (4, {"stake": "x"}), (5, {"a": [[[{}]]]}), (6, {"wager": None}))
            ]
        case "a loss of everything":
            usual.append(event(stream, 3, "events.lost", through=LARGEST, reason=LONG))
        case "two openers":
            usual.append(opener(stream, casino="elsewhere", seq=3, table="é", ruleset="qc-craps"))
        case "words for numbers":
            usual += [
                event(stream, 3, "ball.settled", pocket="37" * 9_000),
                event(stream, 4, "dice.touched", by="croupier", cause=LONG),
                event(stream, 5, "bank.filled", amount=0, slip=""),
            ]
        case "after the close":
            usual += [event(stream, 3, "session.closed", float=0), event(stream, 4, "session.closed", float=LARGEST)]
    return usual


NAMES = [
    "a ruleset without end",
    "a game without end",
    "a bet without end",
    "an id as long as can be",
    "the largest amounts",
    "the first and the last year",
    "a correction of everything",
    "a loss of everything",
    "two openers",
    "words for numbers",
    "after the close",
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_replayed_and_shown(tenant: Tenant, stream: str, name: str) -> None:
    sent = strange(name, stream, tenant.casino.code)
    answer = tenant.send(stream, sent)
    assert answer.status_code == 201, answer.content[:300]
    logged = LoggedStream.objects.get(casino=tenant.casino, name=stream)
    while (progress := advance(logged.stream_id)) and progress.folded and progress.behind:
        continue
    standing = tenant.ask(f"streams/{stream}").json()
    assert standing["adjudicated_through"] == standing["next_seq"] - 1
    assert tenant.ask(f"streams/{stream}/adjudication").json()["events"] == len(sent)
    assert len(tenant.ask("findings").json()["results"]) == Finding.objects.filter(stream=logged).count()


def test_a_conflict_under_a_ruleset_without_end_opens_its_finding(tenant: Tenant, stream: str) -> None:
    sent = strange("a ruleset without end", stream, tenant.casino.code)
    tenant.send(stream, sent)
    sent[1]["data"]["stake"] = 5
    assert tenant.send(stream, sent).status_code == 409
    assert Finding.objects.get(stream__name=stream).rule == "sequence-conflict"
