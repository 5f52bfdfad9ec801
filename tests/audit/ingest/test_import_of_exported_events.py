"""Importing the events that a record has exported: unchanged, under their own numbers, each stream whole or not."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.event_store import read
from audit.models import LoggedStream
from settlement.codec import canonical, in_bytes
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_log")]


@pytest.fixture
def owner() -> Tenant:
    return Tenant()


def run(folder: Path, tenant: Tenant, lines: list[Any], **options: Any) -> tuple[str, list[Any]]:
    """Import lines, text or events; return what the command printed, and what it refused."""
    options = options if options.get("dry_run") else {"yes": True, **options}
    source = folder / "events.ndjson"
    source.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    out = StringIO()
    try:
        call_command("import", str(source), key=tenant.key.prefix, stdout=out, **options)
    except CommandError as error:
        out.write(str(error))
    refused = folder / "events.ndjson.refused.ndjson"
    return out.getvalue(), [json.loads(line) for line in refused.read_text().splitlines()] if refused.exists() else []


def stored(tenant: Tenant, name: str) -> list[bytes]:
    stream = LoggedStream.objects.filter(casino=tenant.casino, name=name).first()
    return [] if stream is None else [envelope for _seq, envelope in read.whole(stream.pk)]


def closed(tenant: Tenant, stream: str) -> list[dict[str, Any]]:
    """A session with two lost events, which is corrected after it was closed."""
    events = numbered(
        tenant.opener(stream),
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1000, "player": "p1"}),
        ("events.lost", {"through": 5, "reason": "spool_lost"}),
    )
    right = {"wager": "w1", "bet": "win", "stake": 900, "player": "p1"}
    later = [
        ("session.closed", {"float": 5_000_000}),
        ("entry.corrected", {"corrects": 2, "data": right, "reason": "a chip less", "approved_by": "chef"}),
    ]
    return events + [
        {**events[0], "seq": seq, "type": kind, "data": data, "occurred_at": f"2026-11-19T20:01:{seq:02}+01:00"}
        for seq, (kind, data) in enumerate(later, start=6)
    ]


def test_events_are_recorded_as_they_were_and_the_same_file_again_stores_nothing_twice(
    tmp_path: Path, owner: Tenant
) -> None:
    first, second = closed(owner, "a.1"), dice_changed_in_mid_series(owner, "b.1")
    printed, refused = run(tmp_path, owner, [*first, *second])
    assert printed.splitlines()[-1] == f"recorded: 2 streams, {len(first) + len(second)} events"
    assert refused == []
    assert stored(owner, "a.1") == [canonical(in_bytes(json.dumps(event))) for event in first]
    assert stored(owner, "b.1") == [canonical(in_bytes(json.dumps(event))) for event in second]
    printed, refused = run(tmp_path, owner, [*first, *second])
    known = len(first) + len(second)
    assert printed.splitlines()[-1] == f"recorded: 2 streams, {known} events, {known} of them there already"
    assert refused == []


def test_a_dry_run_stores_nothing(tmp_path: Path, owner: Tenant) -> None:
    events = closed(owner, "a.1")
    printed, _ = run(tmp_path, owner, events, dry_run=True)
    assert printed.splitlines()[1:] == [
        f"would be imported: 1 stream, {len(events)} events",
        "findings that it would raise: 3",
        "  critical     entry-corrected (1)",
        "  critical     events-lost (1)",
        "  critical     wager-left-open (1)",
    ]
    assert stored(owner, "a.1") == []


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"stream": "a.1", "seq": 3', "is not JSON: Input data was truncated"),
        ("[]", "is not a JSON object"),
        ('{"seq": 3}', "is not the name of a stream"),
        ('{"stream": 7}', "is not the name of a stream"),
    ],
)
@pytest.mark.parametrize("at", [2, 5], ids=["within", "after the last"])
def test_a_line_that_is_no_event_keeps_its_whole_stream_out_and_no_other(
    tmp_path: Path, owner: Tenant, broken: str, reason: str, at: int
) -> None:
    first, second = closed(owner, "a.1"), dice_changed_in_mid_series(owner, "b.1")
    printed, refused = run(tmp_path, owner, [*first[:at], broken, *first[at:], *second])
    assert f"recorded: 1 stream, {len(second)} events; 1 stream refused; 1 row of unknown stream\n" in printed
    assert [(row["stream"], row["row"], row["reason"]) for row in refused] == [
        ("", at + 1, reason),
        ("a.1", 0, f"row {at + 1}, whose stream is unknown, may be one of its events"),
    ]
    assert stored(owner, "a.1") == []
    assert len(stored(owner, "b.1")) == len(second)


def test_an_event_that_the_contract_refuses_is_named_by_its_line(tmp_path: Path, owner: Tenant) -> None:
    events = closed(owner, "a.1")
    events[1]["data"]["player"] = "Anna Roche"
    _, refused = run(tmp_path, owner, events)
    assert [(row["row"], row["column"]) for row in refused] == [(0, ""), (2, "data/player")]
    assert "opaque id" in refused[1]["reason"]
    assert stored(owner, "a.1") == []


def test_a_stream_with_a_hole_is_refused(tmp_path: Path, owner: Tenant) -> None:
    events = closed(owner, "a.1")
    _, refused = run(tmp_path, owner, [*events[:1], *events[2:]])
    assert [row["reason"] for row in refused] == ["The stream takes 1 next; 2 is missing before 3."]
    assert stored(owner, "a.1") == []
