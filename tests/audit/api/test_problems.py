"""The table of problems: every refusal of a use case has a status and a code."""

from __future__ import annotations

import pytest

from audit.api.problems import PROBLEMS, document, problem_of
from audit.ingest.bodies import MalformedBody
from audit.ingest.record import SequenceGap
from audit.ingest.refusals import EventsRefused


def refusals() -> list[type[EventsRefused]]:
    found: list[type[EventsRefused]] = []
    waiting = list(EventsRefused.__subclasses__())
    while waiting:
        refusal = waiting.pop()
        found.append(refusal)
        waiting += refusal.__subclasses__()
    return found


@pytest.mark.parametrize("refusal", refusals(), ids=lambda refusal: refusal.__name__)
def test_every_refusal_of_events_is_in_the_table(refusal: type[EventsRefused]) -> None:
    assert refusal in PROBLEMS


@pytest.mark.django_db
def test_a_refusal_becomes_a_document_with_its_members_and_faults() -> None:
    gap = problem_of(SequenceGap("4 is missing before 7", 4))
    assert gap is not None
    assert document(gap) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "code": "gap",
        "detail": "The stream takes 4 next; 4 is missing before 7. Send the events from that number on.",
        "next_seq": 4,
    }
    malformed = problem_of(MalformedBody("The {body} has no event.", b""))
    assert malformed is not None
    assert document(malformed)["errors"] == [{"pointer": "", "detail": "The {body} has no event."}]


def test_an_exception_that_is_not_in_the_table_is_no_problem() -> None:
    assert problem_of(ValueError("x")) is None
