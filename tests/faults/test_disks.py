"""Disks and clocks of real servers that fail: nothing acknowledged is missing unless somebody is told.

the disk is full            what is sent is refused with a word why; it goes on when there is space
a page is damaged           PostgreSQL refuses it, ``verify`` names it, other streams go on
fsync lies, then no power   what is lost is seen: by the sequencer, by ``verify --against``, by the client
the host's clock jumps      nothing
failover                    nothing to a synchronous replica; from another what is lost is seen, and recovered
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connections

from audit.adjudication.replay import advance
from audit.event_store import binary_copy, read
from audit.models import Finding, Role
from audit.transparency import checkpoint_export, epochs, signing_keys, tree
from audit.transparency.sequencer import Forked, Sequencer, catch_up
from casino.embedded.postgres import binaries
from casino.embedded.process import run
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.faults.gathering import gather
from tests.faults.history import History, Request, Tree, violations
from tests.faults.servers import FAKETIME, Server, promote, replica_of, start_replica, until

pytestmark = pytest.mark.faults

NewServer = Callable[..., Server]


class Table:
    """A casino with a table system, its sequencer and its worker, and the history of what they were told."""

    def __init__(self, *names: str) -> None:
        signing_keys._keyring.forget()
        call_command("logkey", "--make", stdout=StringIO())
        self.tenant = Tenant()
        self.history = History(before=Tree())
        self.events = {name: dice_changed_in_mid_series(self.tenant, name) for name in names}
        self.acknowledged = dict.fromkeys(names, 0)
        self.moment = 0

    def send(self, name: str, count: int = 2) -> int:
        """Send the next events of a stream; return the status."""
        low = self.acknowledged[name]
        return self.send_events(name, self.events[name][low : low + count])

    def send_events(self, name: str, events: list[dict[str, Any]]) -> int:
        answer = self.tenant.post(name, events)
        body = answer.json()
        began, self.moment = self.moment, self.moment + 2
        self.history.requests.append(Request(name, tuple(events), began, began + 1, answer.status_code, body))
        if answer.status_code in (200, 201):
            self.acknowledged[name] = events[-1]["seq"]
        return int(answer.status_code)

    def seal(self) -> None:
        """Seal, sign and export, as the sequencer does."""
        sequencer = Sequencer(lambda left: None)
        sequencer.load()
        catch_up(sequencer)
        newest = tree.newest_checkpoint()
        assert newest is not None
        self.history.checkpoints.append(newest.note)
        for target in checkpoint_export.targets():
            checkpoint_export.export(newest, target)

    def replay(self) -> None:
        for name in self.events:
            head = read.head_of(self.tenant.casino.pk, name)
            while head is not None and (progress := advance(head.stream_id)) is not None and progress.behind:
                pass

    def finish(self) -> None:
        """Send what is left, replay and seal; whoever is told that something is missing sends from there."""
        for name, events in self.events.items():
            if self.acknowledged[name] < len(events):
                assert self.send_events(name, events[self.acknowledged[name] :]) == 201
        self.replay()
        self.seal()

    def broken_rules(self) -> set[str]:
        gather(self.history, self.tenant.casino.pk, self.events)
        return {violation.rule for violation in violations(self.history)}


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def verified(*arguments: str) -> str:
    """Return the last line of ``manage.py verify``. Raise ``CommandError`` as it does."""
    out = StringIO()
    call_command("verify", *arguments, stdout=out)
    return out.getvalue().splitlines()[-1]


@contextmanager
def running(server: Server, **environment: str) -> Iterator[None]:
    server.start_with(environment)
    with server.with_django():
        yield


def start_again(server: Server) -> None:
    connections.close_all()
    server.start()


# A disk without space


def test_a_full_disk_refuses_and_loses_nothing(new_server: NewServer, disk_library: Path, tmp_path: Path) -> None:
    server, full = new_server(), tmp_path / "full"
    with running(server, LD_PRELOAD=str(disk_library), DISK_IS_FULL=str(full)):
        table = Table("a", "b")
        assert (table.send("a"), table.send("b")) == (201, 201)
        full.touch()
        noise = Random(1)  # nothing that could be compressed
        for events in table.events.values():
            events[2:] = [each | {"ext": {"note": noise.randbytes(1_900).hex()}} for each in events[2:]]
        statuses = [table.send("a", 1) for _ in range(9)]
        statuses += [table.send("b", 1) for _ in range(9)]
        assert 503 in statuses, "tables could grow"
        assert set(statuses) <= {201, 503}
        refused = [each.answer["code"] for each in table.history.requests if each.status == 503]
        assert set(refused) == {"storage-full"}
        full.unlink()
        table.finish()
        assert table.broken_rules() == set()
        assert verified() == "Everything holds."


# A damaged page


def damage(server: Server, relation: str) -> str:
    """Flip bytes in the first page of a table's file while the server is stopped; return the table's name."""
    with server.superuser() as superuser:
        superuser.execute("checkpoint")
        row = superuser.execute("select pg_relation_filepath(%s::regclass)", (relation,)).fetchone()
    assert row is not None
    connections.close_all()
    server.stop()
    with (server.cluster / row[0]).open("r+b") as file:
        file.seek(8_000)
        torn = bytes(byte ^ 0xFF for byte in file.read(100))
        file.seek(8_000)
        file.write(torn)
    server.start()
    return relation.partition(".")[2]


def partition_of(server: Server, stream_id: int) -> str:
    """Return the table that the events of a stream are in."""
    with server.superuser() as superuser:
        row = superuser.execute(
            "select tableoid::regclass::text from log.event where stream_id = %s limit 1", (stream_id,)
        ).fetchone()
    assert row is not None
    return str(row[0])


def test_verify_names_a_damaged_page_and_other_streams_go_on(new_server: NewServer) -> None:
    server = new_server()
    with running(server):
        table = Table("a", "b")
        opener = table.events["b"][0]
        opener["data"]["gaming_day"] = "2026-10-31"  # events of another month are in another table
        assert (table.send("a"), table.send("b")) == (201, 201)
        table.seal()
        assert table.send("a") == 201, "and a batch that is not sealed yet"
        damaged = damage(server, partition_of(server, table.tenant.stream("a").stream_id))

        with pytest.raises(CommandError) as failure:
            verified()
        assert damaged in str(failure.value)
        assert "block 0" in str(failure.value)
        assert "\n" not in str(failure.value)

        assert table.send("b") == 201
        assert table.send("a") == 503, "not now: the answer says that nothing was stored"
        assert table.history.requests[-1].answer["code"] == "unavailable"
        reported: list[tuple[str, int]] = []
        sequencer = Sequencer(
            lambda left: reported.append((left.pending.stream.name if left.pending else "", left.key[1]))
        )
        sequencer.load()
        catch_up(sequencer)
        assert reported == [("a", 3)], "what cannot be read is reported, and not sealed"
        head = read.head_of(table.tenant.casino.pk, "b")
        assert head is not None
        with server.superuser() as superuser:
            waiting = superuser.execute("select stream_id, first_seq from log.outbox").fetchall()
        assert waiting == [(table.tenant.stream("a").stream_id, 3)], "the others are sealed"


def warnings() -> list[str]:
    messages = run_checks(tags=["security"], include_deployment_checks=True, databases=["default"])
    return [message.id for message in messages if message.id == "audit.W008"]


def test_a_cluster_without_checksums_is_warned_about(new_server: NewServer) -> None:
    server = new_server()
    with running(server):
        assert warnings() == [], "a new cluster has them"
        connections.close_all()
        server.stop()
        run(binaries() / "pg_checksums", "--disable", "-D", server.cluster, data=server.data)
        server.start()
        assert warnings() == ["audit.W008"]


# A disk that lies


def test_what_a_lying_disk_loses_is_seen_by_the_sequencer_verify_and_the_client(
    new_server: NewServer, disk_library: Path, tmp_path: Path, checkpoints: Path
) -> None:
    server, lies = new_server(), tmp_path / "lies"
    with running(server, LD_PRELOAD=str(disk_library), DISK_LIES=str(lies)):
        table = Table("a", "b")
        assert (table.send("a"), table.send("b")) == (201, 201)
        table.seal()
        with server.superuser() as superuser:
            superuser.execute("checkpoint")
        lies.touch()
        assert (table.send("a"), table.send("a"), table.send("b")) == (201, 201, 201)
        table.seal()
        server.kill()
        lies.unlink()
        start_again(server)

        assert {"lost", "checkpoint-root"} <= table.broken_rules(), "the disk has lost what was acknowledged"
        with pytest.raises(Forked):
            table.seal()
        with pytest.raises(CommandError, match="checkpoint"):
            verified("--against", str(checkpoints))
        assert table.send("a") == 409
        answer = table.history.requests[-1].answer
        assert (answer["code"], answer["next_seq"]) == ("gap", 3), "the client has receipts up to 6"


def test_a_disk_that_tells_the_truth_loses_nothing(
    new_server: NewServer, disk_library: Path, tmp_path: Path, checkpoints: Path
) -> None:
    """The same without the lie: what the test before sees is the disk's doing."""
    server = new_server()
    with running(server, LD_PRELOAD=str(disk_library), DISK_LIES=str(tmp_path / "lies")):
        table = Table("a", "b")
        assert (table.send("a"), table.send("b"), table.send("a")) == (201, 201, 201)
        table.seal()
        server.kill()
        start_again(server)
        table.finish()
        assert table.broken_rules() == set()
        assert verified("--against", str(checkpoints)) == "Everything holds."


# A clock that jumps


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed (Debian: faketime)")
def test_a_clock_of_the_server_that_jumps_breaks_nothing(
    new_server: NewServer, tmp_path: Path, checkpoints: Path
) -> None:
    server, clock = new_server(), tmp_path / "clock"
    clock.write_text("+0")
    with running(
        server,
        LD_PRELOAD=str(FAKETIME[0]),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1",
        FAKETIME_DISABLE_SHM="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
    ):
        table = Table("a", "b")
        received: list[str] = []
        clocks: list[datetime] = []
        for step in ("+0", "+7200", "-72000", "+72000", "+0"):
            clock.write_text(step)
            assert (table.send("a"), table.send("b")) == (201, 201)
            received.append(table.history.requests[-1].answer["received_at"])
            clocks += [now for (now,) in binary_copy.execute("select clock_timestamp()", ())]
            table.replay()
            table.seal()
        assert clocks[2] < clocks[0] < clocks[1] < clocks[3], "the server's clock did jump"
        assert received == sorted(received), "and nothing is dated back by that"
        table.finish()
        assert table.broken_rules() == set()
        assert verified("--against", str(checkpoints)) == "Everything holds."
        assert Finding.objects.filter(rule="log-tampered").count() == 0


# Failover


@pytest.fixture
def primary(new_server: NewServer) -> Server:
    return new_server("primary")


def has_caught_up(primary: Server, *, state: str) -> bool:
    with primary.superuser() as superuser:
        rows = superuser.execute(
            "select sync_state, replay_lsn >= pg_current_wal_lsn() from pg_stat_replication"
        ).fetchall()
    return rows == [(state, True)]


def test_failover_to_a_synchronous_replica_loses_nothing(primary: Server, tmp_path: Path, checkpoints: Path) -> None:
    primary.start()
    replica = replica_of(primary, tmp_path / "replica")
    try:
        with primary.superuser() as superuser:
            superuser.execute("alter system set synchronous_standby_names = '*'")
            superuser.execute("select pg_reload_conf()")
        until(lambda: has_caught_up(primary, state="sync"), "a synchronous replica")
        with primary.with_django():
            table = Table("a", "b")
            assert [table.send(name) for name in "abab"] == [201] * 4
            table.seal()
            assert table.send("a") == 201
            primary.kill()
        promote(replica)
        with replica.with_django():
            table.finish()
            assert table.broken_rules() == set()
            assert verified("--against", str(checkpoints)) == "Everything holds."
    finally:
        replica.kill()


def test_what_an_asynchronous_replica_lacks_is_seen_recovered_and_sent_again(
    primary: Server, tmp_path: Path, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    primary.start()
    replica = replica_of(primary, tmp_path / "replica")
    try:
        with primary.with_django():
            table = Table("a", "b")
            officers = [hired(table.tenant, Role.DIRECTOR, "dora"), hired(table.tenant, Role.SECOND, "sam")]
            assert [table.send(name) for name in "ab"] == [201] * 2
            table.seal()
            until(lambda: has_caught_up(primary, state="async"), "the replica")
            replica.kill()  # it is away while the primary goes on
            assert [table.send(name) for name in "aab"] == [201] * 3
            table.seal()
            primary.kill()
        start_replica(replica)
        promote(replica)
        with replica.with_django():
            assert "lost" in table.broken_rules()
            with pytest.raises(Forked):
                table.seal()
            with pytest.raises(CommandError):
                verified("--against", str(checkpoints))
            recover(monkeypatch, [officer.username for officer in officers])
            assert epochs.current().number == 2
            assert table.send("a") == 409
            answer = table.history.requests[-1].answer
            assert (answer["code"], answer["next_seq"], answer["epoch"]) == ("gap", 3, 2)
            table.acknowledged = {"a": 2, "b": 2}  # which have receipts for more, and send it again
            table.finish()
            assert verified("--against", str(checkpoints)) == "Everything holds."
            # What was signed, said and given receipts before is of what was lost; what is here is right.
            assert table.broken_rules() == {"checkpoint-root", "next-seq", "receipt-changed", "receipt-unsealed"}
    finally:
        replica.kill()


def recover(monkeypatch: pytest.MonkeyPatch, officers: list[str]) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("x\nx\n"))
    named = [argument for officer in officers for argument in ("--officer", officer)]
    call_command("recover", *named, "--reason", "failover", stdout=StringIO())
