"""What the client reads back of a session is all of it, however many pages that is."""

from __future__ import annotations

import json
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from cabochon_client.conformance.read_back import Reader
from cabochon_client.link import Answer, KeyRing, Link

ROWS = 2_500
STREAM = "harbour.T1.2026-11-19.1"


class Paged:
    """In the place of a ring of keys: a record that has a session of ``ROWS`` events, each in a request of its own."""

    def ask(self, link: object, method: str, path: str, **options: Any) -> Answer:
        address = urlsplit(path)
        query = {name: int(values[0]) for name, values in parse_qs(address.query).items() if values[0].isdigit()}
        first = query.get("after", 0) + 1
        seqs = range(first, min(first + query.get("limit", 100), ROWS + 1))
        standing = {"next_seq": ROWS + 1, "adjudicated_through": ROWS}
        last = address.path.rpartition("/")[2]
        content: dict[str, Any] = {
            "events": {"events": [{"seq": seq} for seq in seqs]},
            "batches": {"batches": [{"first_seq": seq} for seq in seqs]},
            "adjudication": {},
            "findings": {"results": []},
        }.get(last, standing)
        return Answer(200, "application/json", None, json.dumps(content).encode(), None)


@pytest.mark.parametrize(("name", "number"), [("events", "seq"), ("batches", "first_seq")])
def test_every_page_of_a_session_is_read(name: str, number: str) -> None:
    recorded = Reader(cast(Link, None), cast(KeyRing, Paged())).read(STREAM, timeout_s=0)
    assert [row[number] for row in getattr(recorded, name)] == list(range(1, ROWS + 1))
