"""What is said of a body that is no list of events, and what was probably meant."""

from __future__ import annotations

import pytest

from audit.ingest.bodies import JSON, MalformedBody, events_in

WANTED = '[event, …] or {"events": [event, …]}'
EVENT = '{"stream": "s", "seq": 1, "type": "dice.thrown"}'


@pytest.mark.parametrize(
    "body, message",
    [
        ("", f"The body is empty, and {WANTED} is expected."),
        (EVENT, f"The body is one event, and {WANTED} is expected: put it into a list."),
        (f"{EVENT}\n{EVENT}\n", "The body has one event a line: send it as application/x-ndjson."),
        (
            f'{{"evnts": [{EVENT}]}}',
            f"The body is an object without 'events', and {WANTED} is expected; did you mean 'events'?",
        ),
        (f'{{"night": [{EVENT}]}}', f"The body is an object without 'events', and {WANTED} is expected."),
        (f'{{"events": [{EVENT}], "v": 1}}', f"The body has names beside 'events', and {WANTED} is expected."),
        (f'{{"events": {EVENT}}}', f"The body has no list of events as 'events', and {WANTED} is expected."),
        (f'{{"events": [{EVENT}', f"The body is not {WANTED}: Input data was truncated."),
        ("[" + EVENT, f"The body is not {WANTED}: Input data was truncated."),
        ("17", f"The body is not {WANTED}: Expected `array`, got `int`."),
        (
            '{"a":' * 100_000,
            f"The body is not {WANTED}: maximum recursion depth exceeded while deserializing an object.",
        ),
    ],
)
def test_a_body_that_is_no_list_is_told_what_it_is(body: str, message: str) -> None:
    with pytest.raises(MalformedBody) as refused:
        events_in(body.encode(), JSON)
    assert str(refused.value) == message
