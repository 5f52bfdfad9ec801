"""What the client does with each answer of the interface, and with answers that are not the record's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cabochon_client import Client, sender
from cabochon_client.sender import FIRST_PAUSE_S, Pause
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.casino.processes import until
from tests.client.pretender import Pretender, Reply, Script, pretender
from tests.client.table_system import event_at, stream_name

ONE, TWO = stream_name(1), stream_name(2)


@pytest.fixture(autouse=True)
def _pauses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "Pause", partial(Pause, first_s=FIRST_PAUSE_S / 2))
    monkeypatch.setattr(sender, "SEAL_S", 0.1)


@contextmanager
def sending(
    folder: Path, script: Script | None = None, keys: Any = "k1", **options: Any
) -> Iterator[tuple[Client, Pretender]]:
    with pretender(script) as record, Client(folder / "spool.db", record.url, keys, **options) as client:
        client.session(ONE).extend([event_at(1, seq) for seq in range(1, 7)])
        yield client, record


def once(reply: Reply) -> Script:
    """Answer the first request so, and the others as a record does."""
    return lambda record, _events: reply if len(record.sent) == 1 else None


def sent_seqs(record: Pretender) -> list[list[int]]:
    return [[each["seq"] for each in events] for events in record.sent]


ALL = [1, 2, 3, 4, 5, 6]
PASSING = [400, 408, 429, 500, 502, 503, 504]


@pytest.mark.parametrize("status", PASSING)
def test_the_same_is_sent_again_after_a_passing_failure(tmp_path: Path, status: int) -> None:
    with sending(tmp_path, once(Reply(status, {"code": "x"}))) as (client, record):
        assert client.flush(20)
        assert sent_seqs(record) == [ALL, ALL]
        assert client.status().problem is None


def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    with sending(tmp_path, once(Reply(429, {"code": "throttled"}, {"Retry-After": "1"}))) as (client, record):
        began = time.monotonic()
        assert client.flush(20)
        assert time.monotonic() - began >= 1 > FIRST_PAUSE_S  # a lower bound: nothing is timed from above
        assert len(record.sent) == 2


def false_signature(record: Pretender, events: list[dict[str, Any]]) -> dict[str, Any]:
    return record.receipt(ONE, events) | {"chain": "ff"}


def of_another_stream(record: Pretender, events: list[dict[str, Any]]) -> dict[str, Any]:
    return record.receipt(TWO, events)


def of_other_events(record: Pretender, events: list[dict[str, Any]]) -> dict[str, Any]:
    return record.receipt(ONE, [{**events[0], "actor": "someone"}, *events[1:]])


def of_fewer_events(record: Pretender, events: list[dict[str, Any]]) -> dict[str, Any]:
    return record.receipt(ONE, events[:2])


def a_page(record: Pretender, events: list[dict[str, Any]]) -> bytes:
    return b"<html>Welcome to the WLAN of the harbour. Please sign in.</html>"


FALSE = [false_signature, of_another_stream, of_other_events, of_fewer_events, a_page]


@pytest.mark.parametrize("forged", FALSE)
def test_what_says_stored_without_a_good_receipt_stores_nothing(tmp_path: Path, forged: Any) -> None:
    def script(record: Pretender, events: list[dict[str, Any]]) -> Reply | None:
        return Reply(201, forged(record, events), type="application/json") if len(record.sent) < 3 else None

    with sending(tmp_path, script) as (client, record):
        client.flush(0.1)
        assert client.status().waiting == 6
        assert client.flush(20)
        assert sent_seqs(record) == [ALL, ALL, ALL]
        assert client.status().receipts == {"given": 1}


def test_a_key_that_is_replaced_by_the_publisher_is_not_believed(tmp_path: Path) -> None:
    with sending(tmp_path) as (client, record):
        assert client.flush(20)
        record.private = Ed25519PrivateKey.generate()  # another key under the id of the first
        client.session(ONE).extend([event_at(1, 7)])
        assert not client.flush(0.3)
        assert client.status().sessions[0].acknowledged == 6


STOPPING = [Reply(409, {"code": "conflict", "seq": 1, "detail": "other"}), Reply(422, {"code": "invalid", "seq": 1})]


@pytest.mark.parametrize("reply", STOPPING, ids=["conflict", "invalid"])
def test_one_session_stops_and_says_why_and_others_go_on(tmp_path: Path, reply: Reply) -> None:
    with sending(tmp_path, lambda _, events: reply if events[0]["stream"] == ONE else None) as (client, _):
        client.session(TWO).extend([event_at(2, 1)])
        assert not client.flush(20)
        first, second = client.status().sessions
        assert (first.state, first.acknowledged) == ("stopped", 0)
        assert first.problem is not None
        assert (first.problem["code"], first.problem["seq"]) == (reply.content["code"], 1)
        assert (second.state, second.waiting) == ("open", 0)


def test_what_comes_before_an_invalid_event_is_recorded_and_it_can_be_left_out(tmp_path: Path) -> None:
    def script(record: Pretender, events: list[dict[str, Any]]) -> Reply | None:
        bad = any(each["seq"] == 4 and each["type"] != "events.lost" for each in events)
        return Reply(422, {"code": "invalid", "seq": 4, "detail": "not so"}) if bad else None

    with sending(tmp_path, script) as (client, record):
        assert not client.flush(20)
        assert client.status().sessions[0].acknowledged == 3
        assert client.declare_lost(ONE, through=4, reason="refused") == 4
        assert client.flush(20)
        types = [each["type"] for each in record.sent[-1]]
        assert types == ["events.lost", event_at(1, 5)["type"], event_at(1, 6)["type"]]
        assert record.sent[-1][0]["data"] == {"through": 4, "reason": "refused"}
        assert client.session(ONE).append("no_more_bets") == 7


def test_a_session_that_the_key_may_not_record_is_held_and_tried_again(tmp_path: Path) -> None:
    reply = Reply(403, {"code": "forbidden", "detail": "not this table"})
    with sending(tmp_path, once(reply)) as (client, record):
        assert not client.flush(20)
        [row] = client.status().sessions
        assert (row.state, row.problem and row.problem["code"]) == ("held", "forbidden")
        assert len(record.sent) == 1, "not at once"


def test_a_request_that_is_too_large_is_divided(tmp_path: Path) -> None:
    def script(record: Pretender, events: list[dict[str, Any]]) -> Reply | None:
        return Reply(413, {"code": "too-large"}) if len(events) > 2 else None

    with sending(tmp_path, script) as (client, record):
        assert client.flush(20)
        assert sent_seqs(record)[:3] == [ALL, [1, 2, 3], [1]]
        assert len(record.streams[ONE]) == 6


def test_the_other_key_is_used_when_one_is_refused(tmp_path: Path) -> None:
    accepted = ["old"]

    def script(record: Pretender, _: list[dict[str, Any]]) -> Reply | None:
        return None if record.keys_used[-1] in accepted else Reply(401, {"code": "unauthenticated"})

    with sending(tmp_path, script, keys=["new", "old"]) as (client, record):
        assert client.flush(20)
        accepted[:] = ["new"]
        client.session(ONE).extend([event_at(1, 7)])
        assert client.flush(20)
        client.session(ONE).extend([event_at(1, 8)])
        assert client.flush(20)
        assert record.keys_used == ["new", "old", "old", "new", "new"], "the one that was accepted comes first"


@pytest.mark.parametrize("seconds, is_wrong", [(0, False), (30, True), (-30, True)])
def test_a_clock_that_is_wrong_is_noticed(tmp_path: Path, seconds: int, is_wrong: bool) -> None:
    noticed: list[float] = []
    with sending(tmp_path, on_clock=noticed.append) as (client, record):
        record.date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds))
        assert client.flush(20)
        offset_s = client.status().clock_offset_s
        assert offset_s is not None
        assert bool(noticed) is is_wrong
        assert abs(offset_s + seconds) < 10


# A record that was restored


def test_what_a_restored_record_has_lost_is_sent_again_and_the_receipts_are_kept(tmp_path: Path) -> None:
    def script(record: Pretender, events: list[dict[str, Any]]) -> Reply | None:
        next_seq = len(record.streams[ONE]) + 1 if ONE in record.streams else 1
        if events[0]["seq"] > next_seq:
            return Reply(409, {"code": "gap", "next_seq": next_seq, "epoch": 2, "detail": "restored"})
        return None

    with sending(tmp_path, script) as (client, record):
        assert client.flush(20)
        client.session(ONE).extend([event_at(1, seq) for seq in (7, 8)])
        assert client.flush(20)
        before = record.streams[ONE].copy()
        del record.streams[ONE][6:]
        client.session(ONE).extend([event_at(1, 9)])
        assert client.flush(20)
        assert record.streams[ONE][:8] == before
        assert len(record.streams[ONE]) == 9
        status = client.status()
        assert status.restored is not None
        assert (status.restored["epoch"], status.restored["next_seq"], status.restored["lost_through"]) == (2, 7, 8)
        assert status.receipts == {"given": 2, "void": 1}, "the one of 7 and 8 proves that they had been taken"


def test_a_record_that_lost_the_whole_session_is_sent_all_of_it(tmp_path: Path) -> None:
    def script(record: Pretender, events: list[dict[str, Any]]) -> Reply | None:
        if ONE not in record.streams and events[0]["seq"] > 1:
            return Reply(422, {"code": "not-opened", "next_seq": 1, "epoch": 2, "detail": "restored", "seq": 7})
        return None

    with sending(tmp_path, script) as (client, record):
        assert client.flush(20)
        record.streams.clear()
        client.session(ONE).extend([event_at(1, 7)])
        assert client.flush(20)
        assert len(record.streams[ONE]) == 7


def test_a_log_with_another_name_has_every_session_compared_even_one_that_is_over(tmp_path: Path) -> None:
    with sending(tmp_path) as (client, record):
        assert client.flush(20)
        del record.streams[ONE][4:]
        record.origin = "harbour.example/log/epoch-2"
        client.session(TWO).extend([event_at(2, 1)])
        client._sender._keys_at = float("-inf")  # ten minutes later
        assert client.flush(20)
        client.flush(20)
        assert len(record.streams[ONE]) == 6


def test_a_restored_record_that_needs_what_is_no_longer_here_stops_and_says_so(tmp_path: Path) -> None:
    with sending(tmp_path, keep_s=0) as (client, record):
        assert client.flush(20)
        client.spool.set_receipt(client.spool.unsealed(1)[0].id, "sealed")
        client.spool.delete_sealed()
        del record.streams[ONE][4:]
        client.session(ONE).extend([event_at(1, 7)])
        assert not client.flush(20)
        [row] = client.status().sessions
        assert row.problem is not None
        assert (row.state, row.problem["code"], row.problem["next_seq"]) == ("stopped", "behind", 5)


# A spool that was lost


def test_a_lost_spool_is_declared_and_the_session_goes_on(tmp_path: Path) -> None:
    with sending(tmp_path) as (client, record):
        assert client.flush(20)
        with Client(tmp_path / "another.db", record.url, "k1") as new:
            assert new.declare_lost(ONE, through=9) == 7
            assert new.session(ONE).append("no_more_bets") == 10
            assert [(row.next_seq, row.waiting) for row in new.status().sessions] == [(11, 4)]


def test_a_file_that_begins_after_what_the_record_has_stops_and_says_so(tmp_path: Path) -> None:
    with sending(tmp_path) as (client, record):
        assert client.flush(20)
        with Client(tmp_path / "another.db", record.url, "k1") as another:
            numbered = [{**event_at(1, seq), "stream": ONE, "seq": seq} for seq in (20, 21)]
            another.put(numbered)
            assert not another.flush(20)
            [row] = another.status().sessions
            assert (row.state, row.problem and row.problem["code"]) == ("stopped", "behind")


# Seals


def until_no_receipt_is(state: str, client: Client) -> dict[str, int]:
    until(lambda: client._step() is None or state not in client.status().receipts, f"no receipt {state}")
    return client.status().receipts


def test_a_proof_that_proves_nothing_is_looked_at_twice_and_the_receipt_is_kept(tmp_path: Path) -> None:
    with sending(tmp_path, keep_s=0) as (client, record):
        record.inclusion = Reply(200, {"batch": {}, "log": {}, "checkpoint": ""}, type="application/json")
        assert client.flush(20)
        assert until_no_receipt_is("given", client) == {"false": 1}
        client.spool.delete_sealed()
        assert client.status().receipts == {"false": 1}
        assert len(client.spool.range(client.spool.sessions()[0], 1, 9)) == 6


def test_a_key_that_may_not_look_at_seals_does_not_fill_the_spool(tmp_path: Path) -> None:
    with sending(tmp_path, keep_s=0) as (client, record):
        record.inclusion = Reply(403, {"code": "forbidden"})
        assert client.flush(20)
        assert until_no_receipt_is("given", client) == {"unchecked": 1}
        client.spool.delete_sealed()
        assert client.spool.range(client.spool.sessions()[0], 1, 9) == []


def test_a_client_killed_while_it_compares_with_a_restored_log_compares_again(tmp_path: Path) -> None:
    with sending(tmp_path) as (client, record):
        assert client.flush(20)
        del record.streams[ONE][4:]
        record.origin = "harbour.example/log/epoch-2"
        client._sender._keys_at = float("-inf")
        assert client._sender._keys_are_known()  # it has seen the new name, and is killed here
        client._lock.release()
        with Client(tmp_path / "spool.db", record.url, "k1") as again:
            until(lambda: again._step() is not None and len(record.streams[ONE]) == 6, "all of it")
