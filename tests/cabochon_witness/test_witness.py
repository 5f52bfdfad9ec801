"""What a witness answers, remembers and raises an alarm about: C2SP tlog-witness, case by case."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from cabochon_witness import storage
from cabochon_witness.notes import Checkpoint, CosigningKey
from cabochon_witness.storage import CannotRead
from cabochon_witness.witness import Alarm, Witness
from tests.cabochon_witness.logs import ORIGIN, Log

KEY = CosigningKey("witness.example/w1", b"w" * 32)


class Watch:
    """A witness of one log, with a clock that stands where it is put, and the alarms it raised."""

    def __init__(self, data: Path, log: Log) -> None:
        self.now, self.data, self.log = 1_700_000_000.0, data, log
        self.alarms: list[Alarm] = []
        self.start()

    def start(self) -> None:
        self.witness = Witness(
            KEY,
            {ORIGIN: [self.log.key]},
            self.data,
            silent_after_s=600,
            on_alarm=self.alarms.append,
            clock=lambda: self.now,
        )

    def send(self, body: bytes) -> tuple[int, str]:
        answer = self.witness.add_checkpoint(body)
        return answer.status, answer.body

    @property
    def size(self) -> int | None:
        [log] = self.witness.status()["logs"]
        return log["size"]

    @property
    def kept(self) -> list[str]:
        [log] = self.witness.status()["logs"]
        return [name.partition("-")[0] for name in log["alarms"]]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path / "data", Log())


def test_it_cosigns_what_extends_what_it_has_seen_and_remembers_it_over_a_restart(watch: Watch) -> None:
    for old, size in ((0, 3), (3, 8), (8, 8), (8, 257)):
        status, line = watch.send(watch.log.request(old, size))
        assert status == 200
        assert Checkpoint.parse(watch.log.note(size) + line).cosigned_at(KEY.public) == int(watch.now)
        watch.now += 10
    watch.start()
    assert watch.size == 257
    assert watch.send(watch.log.request(8, 300)) == (409, "257\n")
    assert watch.send(watch.log.request(257, 300))[0] == 200
    assert watch.alarms == []


def test_what_it_answered_is_on_the_disk_before_it_answers(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    watch.send(watch.log.request(0, 3))

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(storage, "write", full)
    with pytest.raises(OSError, match="no space"):
        watch.send(watch.log.request(3, 8))
    monkeypatch.undo()
    assert watch.size == 3
    watch.start()
    assert watch.size == 3


def test_it_says_which_size_it_has_cosigned(watch: Watch) -> None:
    watch.send(watch.log.request(0, 8))
    for old, size in ((0, 9), (3, 9), (9, 12), (3, 3), (0, 8)):
        answer = watch.witness.add_checkpoint(watch.log.request(old, size))
        assert (answer.status, answer.body, answer.content_type) == (409, "8\n", "text/x.tlog.size")
    assert watch.alarms == []


def test_two_trees_of_one_size_are_a_fork_whose_two_notes_are_kept(watch: Watch) -> None:
    watch.send(watch.log.request(0, 8))
    forked = watch.log.fork(5)
    assert watch.send(forked.request(8, 8, [])) == (409, "8\n")
    assert watch.send(forked.request(0, 8)) == (409, "8\n")
    [alarm] = watch.alarms
    assert (alarm.kind, alarm.origin) == ("forked", ORIGIN)
    assert alarm.folder is not None
    had, sent = (Checkpoint.parse((alarm.folder / name).read_text()) for name in ("had", "sent"))
    assert had.size == sent.size == 8
    assert had.root != sent.root
    assert had.signed_by([watch.log.key])
    assert sent.signed_by([watch.log.key])
    assert watch.size == 8
    assert watch.send(watch.log.request(8, 9))[0] == 200


def test_a_proof_that_does_not_hold_is_refused_and_kept(watch: Watch) -> None:
    watch.send(watch.log.request(0, 8))
    forked = watch.log.fork(5)
    assert watch.send(forked.request(8, 12))[0] == 422
    assert watch.send(forked.request(8, 12))[0] == 422
    assert [alarm.kind for alarm in watch.alarms] == ["unproven"]
    watch.start()
    assert watch.send(forked.request(8, 13))[0] == 422
    assert watch.kept == ["unproven", "unproven"]
    assert len(watch.alarms) == 1  # the command runs once for a kind


def test_evidence_does_not_fill_the_disk_and_one_kind_does_not_hide_another(watch: Watch) -> None:
    watch.send(watch.log.request(0, 8))
    forked = watch.log.fork(5)
    for size in range(9, 9 + 2 * storage.MAX_KEPT):
        assert watch.send(forked.request(8, size))[0] == 422
    assert watch.kept == ["unproven"] * storage.MAX_KEPT
    watch.send(forked.request(8, 8, []))
    assert [alarm.kind for alarm in watch.alarms] == ["unproven", "forked"]


def test_a_first_checkpoint_has_no_proof(watch: Watch) -> None:
    assert watch.send(watch.log.request(0, 8, [watch.log.leaves[0]]))[0] == 422
    assert watch.size is None


def test_an_unknown_log_and_an_unknown_key_are_told_apart(watch: Watch) -> None:
    assert watch.send(Log(origin="other.example/log").request(0, 8))[0] == 404
    assert watch.send(Log(seed=b"x" * 32).request(0, 8))[0] == 403
    changed = watch.log.request(0, 8).replace(b"\n8\n", b"\n9\n")
    assert watch.send(changed)[0] == 403
    assert watch.size is None
    assert watch.alarms == []


H = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    "head",
    ["", "old\n", "old -1\n", "old 01\n", "old 1 \n", "old ٣\n", "new 1\n", "old 99999999999999999999\n", "old 9\n"]
    + [f"old 1\n{each}\n" for each in ("AAAA", "?", H + H, H[:-1], f" {H}")]
    + ["old 1\n" + f"{H}\n" * 64],
    ids=range(15),
)
def test_a_malformed_request_is_refused_and_nothing_is_remembered(watch: Watch, head: str) -> None:
    assert watch.send(f"{head}\n{watch.log.note(8)}".encode())[0] == 400
    assert watch.size is None


def test_no_bytes_make_it_fail(watch: Watch) -> None:
    valid = watch.log.request(3, 8)
    watch.send(watch.log.request(0, 3))
    for at in range(len(valid)):
        for body in (valid[:at], valid[:at] + b"\xff" + valid[at + 1 :], valid[:at] + b"\n" + valid[at:]):
            if body != valid:
                assert watch.send(body)[0] in (200, 400, 403, 404, 409, 422)
    assert watch.size in (3, 8)


def test_a_silent_log_raises_one_alarm_until_it_speaks_again(watch: Watch) -> None:
    watch.send(watch.log.request(0, 3))
    for now, count in ((600, 0), (1, 1), (5000, 1)):
        watch.now += now
        watch.witness.look_for_silence()
        assert len(watch.alarms) == count
    assert watch.send(watch.log.request(3, 3))[0] == 200  # the same checkpoint is none that is new
    assert watch.witness.status()["logs"][0]["is_silent"]
    watch.send(watch.log.request(3, 4))
    assert not watch.witness.status()["logs"][0]["is_silent"]
    watch.now += 601
    watch.witness.look_for_silence()
    assert [alarm.kind for alarm in watch.alarms] == ["silent", "silent"]


def test_a_log_that_never_spoke_is_silent_too(watch: Watch) -> None:
    watch.now += 601
    watch.witness.look_for_silence()
    assert [alarm.kind for alarm in watch.alarms] == ["silent"]


def test_a_changed_memory_stops_the_witness_instead_of_being_forgotten(watch: Watch) -> None:
    watch.send(watch.log.request(0, 8))
    [memory] = watch.data.glob("*/checkpoint")
    kept = memory.read_text()
    for changed in ("", kept.replace("\n8\n", "\n9\n"), watch.log.note(3)):
        memory.write_text(changed)
        with pytest.raises(CannotRead):
            watch.start()


def test_one_process_uses_a_folder(tmp_path: Path) -> None:
    storage.lock(tmp_path)
    with pytest.raises(CannotRead, match="another witness"):
        storage.lock(tmp_path)


def test_the_status_is_plain_data(watch: Watch) -> None:
    watch.send(watch.log.request(0, 3))
    [log] = json.loads(json.dumps(watch.witness.status()))["logs"]
    assert (log["origin"], log["size"], log["root"]) == (ORIGIN, 3, watch.log.root_of(0, 3).hex())
