"""The file of a month, attacked: every byte, every line, its note; and who may take a month away at all."""

from __future__ import annotations

import gzip
from io import StringIO
from pathlib import Path

import msgspec
import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from audit.access.database_roles import OPERATOR, OWNER, SEQUENCER, WEB, WORKER
from audit.archive import files, months, notes, proof
from audit.archive.files import BadArchive
from audit.archive.notes import Filed
from audit.archive.verify import wrong_files
from audit.event_store import audit_trail, merkle
from audit.event_store.append import EntryRefused
from audit.models import ArchivedMonth
from audit.transparency import signing_keys, tree
from audit.transparency.outcome import Outcome
from tests.audit.archive.years import MONTH, Years, archived, verified
from tests.roles import acting_as

pytestmark = pytest.mark.superuser

FILE, NOTE = "cabochon-1992-03.ndjson.gz", "cabochon-1992-03.note"


@pytest.fixture
def lines(played: Years, folder: Path) -> list[bytes]:
    """Archive a month; return the lines of its file."""
    archived("--before", "1992-04")
    return gzip.decompress((folder / FILE).read_bytes()).splitlines(keepends=True)


def proved(folder: Path) -> None:
    """Prove the file of the month against the log, and not against its note."""
    proof.prove(folder / FILE, MONTH, *months.range_of(MONTH), signing_keys.verifiers("checkpoint"))


def rewritten(folder: Path, lines: list[bytes]) -> None:
    (folder / FILE).write_bytes(gzip.compress(b"".join(lines)))


def test_verification_reads_the_files_and_says_so(lines: list[bytes], folder: Path) -> None:
    printed = StringIO()
    call_command("verify", "--archive", str(folder), stdout=printed)
    assert "1992-03 is archived in cabochon-1992-03.ndjson.gz: 2 streams" in printed.getvalue()
    assert "read and proved" in printed.getvalue()
    assert len(lines) > 100


def test_a_file_that_is_altered_in_any_one_byte_does_not_prove(lines: list[bytes], folder: Path) -> None:
    whole = (folder / FILE).read_bytes()
    for at in {*range(0, len(whole), max(1, len(whole) // 60)), len(whole) - 1}:
        altered = bytearray(whole)
        altered[at] ^= 1
        (folder / FILE).write_bytes(altered)
        found = list(wrong_files(folder, Outcome(), signing_keys.verifiers("checkpoint")))
        assert [fault.part for fault in found] == ["archive"], at
    with pytest.raises(CommandError, match="gz, of 1992-03: "):
        call_command("verify", "--archive", str(folder), stdout=StringIO())
    (folder / FILE).unlink()
    with pytest.raises(CommandError, match="No such file"):
        call_command("verify", "--archive", str(folder), stdout=StringIO())


def test_a_file_that_was_cut_off_says_so(lines: list[bytes], folder: Path) -> None:
    whole = (folder / FILE).read_bytes()
    for size in (len(whole) - 1, len(whole) - 20, len(whole) // 2, 9, 0):
        (folder / FILE).write_bytes(whole[:size])
        with pytest.raises(BadArchive, match=r"ended before|is empty"):
            proved(folder)
        with pytest.raises(CommandError, match=f"{FILE}, of 1992-03: the file (is empty|is damaged: .* ended before)"):
            call_command("verify", "--archive", str(folder), stdout=StringIO())


def _batches(lines: list[bytes]) -> list[int]:
    return [at for at, line in enumerate(lines) if line.startswith(b'{"batch"')]


def _an_event(lines: list[bytes]) -> list[bytes]:
    at = _batches(lines)[0] + 3
    return [*lines[:at], lines[at].replace(b'"seq":3', b'"seq":3 ', 1), *lines[at + 1 :]]


def _an_event_less(lines: list[bytes]) -> list[bytes]:
    at = _batches(lines)[0]
    content = msgspec.json.decode(lines[at])
    content["batch"]["count"] -= 1
    counted = msgspec.json.decode(lines[-1])
    counted["end"]["events"] -= 1
    counted["end"]["taken_events"] -= 1
    lines = [*lines[:at], msgspec.json.encode(content) + b"\n", *lines[at + 1 : at + 5], *lines[at + 6 :]]
    return [*lines[:-1], msgspec.json.encode(counted) + b"\n"]


def _leaves_swapped(lines: list[bytes]) -> list[bytes]:
    one, other = (msgspec.json.decode(lines[at]) for at in _batches(lines)[:2])
    one["index"], other["index"] = other["index"], one["index"]
    return _with(lines, one, other)


def _leaves_and_hashes_swapped(lines: list[bytes]) -> list[bytes]:
    one, other = (msgspec.json.decode(lines[at]) for at in _batches(lines)[:2])
    for name in ("index", "leaf"):
        one[name], other[name] = other[name], one[name]
    return _with(lines, one, other)


def _a_leaf_twice(lines: list[bytes]) -> list[bytes]:
    one, other = (msgspec.json.decode(lines[at]) for at in _batches(lines)[:2])
    other["index"] = one["index"]
    return _with(lines, one, other)


def _with(lines: list[bytes], *batches: object) -> list[bytes]:
    changed = dict(zip(_batches(lines), batches, strict=False))
    return [msgspec.json.encode(changed[at]) + b"\n" if at in changed else line for at, line in enumerate(lines)]


def _another_time(lines: list[bytes]) -> list[bytes]:
    content = msgspec.json.decode(lines[_batches(lines)[0]])
    content["batch"]["received_at"] = "1999-01-01T00:00:00.000000Z"
    return _with(lines, content)


def _a_stream_less(lines: list[bytes]) -> list[bytes]:
    """The count is left out, with its leaf, and the counts say so."""
    streams = [at for at, line in enumerate(lines) if line.startswith(b'{"stream"')]
    end = next(at for at, line in enumerate(lines) if line.startswith((b'{"proof"', b'{"end"')))
    taken = lines[streams[1] : end]
    counted = msgspec.json.decode(lines[-1])
    events = len([line for line in taken if not line.startswith((b'{"batch"', b'{"stream"', b'{"finding"'))])
    findings = len([line for line in taken if line.startswith(b'{"finding"')])
    for name, less in (("streams", 1), ("batches", 1), ("events", events), ("findings", findings)):
        counted["end"][name] -= less
    counted["end"]["taken_batches"] -= 1
    counted["end"]["taken_events"] -= events
    return [*lines[: streams[1]], *lines[end:-1], msgspec.json.encode(counted) + b"\n"]


def _a_stream_less_and_proved(lines: list[bytes]) -> list[bytes]:
    """The same, and the proof is that of the leaves that are left: only the log knows that there is one more."""
    left = _a_stream_less(lines)
    indexes = sorted(msgspec.json.decode(left[at])["index"] for at in _batches(left))
    size = int(msgspec.json.decode(left[0])["checkpoint"].split("\n")[1])
    hashes = [each.hex() for each in merkle.inclusion_of_many(indexes, size, tree.cached_root_of())]
    without = _no_proof(left)
    return [*without[:-1], msgspec.json.encode({"proof": hashes}) + b"\n", without[-1]]


def _a_stream_that_ends_elsewhere(lines: list[bytes]) -> list[bytes]:
    at = next(at for at, line in enumerate(lines) if line.startswith(b'{"stream"'))
    content = msgspec.json.decode(lines[at])
    content["stream"]["next_seq"] += 1
    return [*lines[:at], msgspec.json.encode(content) + b"\n", *lines[at + 1 :]]


def _no_proof(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if not line.startswith(b'{"proof"')]


def _more_proof(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], msgspec.json.encode({"proof": ["00" * 32]}) + b"\n", lines[-1]]


def _another_month(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b"1992-03", b"1992-02"), *lines[1:]]


def _no_end(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def _another_checkpoint(lines: list[bytes]) -> list[bytes]:
    first = msgspec.json.decode(lines[0])
    first["checkpoint"] = first["checkpoint"].replace("\n\n", "\nmore\n\n", 1)
    return [msgspec.json.encode(first) + b"\n", *lines[1:]]


WRITTEN_ANEW = {
    _an_event: "its events are not those that were accepted",
    _an_event_less: "has other events|its events are not those",
    _leaves_swapped: "the leaves are not those of the signed tree",
    _leaves_and_hashes_swapped: "its leaf is not the hash of its entry",
    _a_leaf_twice: "is there twice",
    _another_time: "its leaf is not the hash of its entry",
    _a_stream_less: "the leaves are not those of the signed tree",
    _a_stream_less_and_proved: "of the month is not in the file",
    _a_stream_that_ends_elsewhere: "does not end where its stream does",
    _no_proof: "the leaves are not those of the signed tree",
    _more_proof: "the leaves are not those of the signed tree",
    _another_month: "the file is of 1992-02",
    _no_end: "and says None",
    _another_checkpoint: "the checkpoint: ",
}


def test_a_file_that_was_written_anew_does_not_prove_even_without_its_note(lines: list[bytes], folder: Path) -> None:
    rewritten(folder, lines)
    proved(folder)
    for attack, what in WRITTEN_ANEW.items():
        changed = attack(lines)
        assert changed != lines, attack
        rewritten(folder, changed)
        with pytest.raises(BadArchive, match=what):
            proved(folder)


def test_a_note_that_the_log_has_not_signed_is_not_its_note(lines: list[bytes], folder: Path) -> None:
    note = (folder / NOTE).read_text()
    verifiers = signing_keys.verifiers("checkpoint")
    assert notes.read(note, verifiers).file == FILE
    (folder / NOTE).write_text(note.replace("1992-03", "1992-02"))
    with pytest.raises(CommandError, match="its note"):
        call_command("verify", "--archive", str(folder), stdout=StringIO())
    with pytest.raises(CommandError, match="does not prove"):
        archived("--attach", "1992-03")
    other = Filed("1992-03", FILE, "0" * 64, 2, 135, 1).sign()
    (folder / NOTE).write_text(other)
    with pytest.raises(CommandError, match="its note is of another file"):
        archived("--attach", "1992-03")


def test_a_file_that_does_not_prove_is_neither_attached_nor_destroyed_and_keeps_an_attached_month_here(
    lines: list[bytes], folder: Path
) -> None:
    archived("--attach", "1992-03")
    rewritten(folder, _an_event(lines))
    with pytest.raises(CommandError, match="Nothing was changed: the file does not prove"):
        archived("--detach", "1992-03")
    assert ArchivedMonth.objects.get().state == "attached"
    assert verified().faults == []


def test_a_file_whose_writing_was_cut_off_is_written_anew(played: Years, folder: Path) -> None:
    folder.mkdir()
    (folder / FILE).write_bytes(b"cut off")
    (folder / NOTE).write_text("cut off\n")
    archived("--before", "1992-04")
    call_command("verify", "--archive", str(folder), stdout=StringIO())


# Who may


@pytest.mark.parametrize("role", [WEB, WORKER, SEQUENCER, OPERATOR])
def test_no_role_that_serves_takes_a_partition_away(played: Years, role: str) -> None:
    low, high = months.range_of(MONTH)
    for attack in (
        "select log.stage_month('1992-03-01')",
        "select log.swap_month('1992-03-01', 2, 135)",
        "alter table log.event detach partition log.event_199203",
        "drop table log.event_199203",
        "create table log.event_199203_next (like log.event)",
        "insert into audit_archivedmonth (month, low, high, state, file, digest, batches, events, note, archived_at,"
        f" entry_stream, entry_seq, destruction_note) values ('1992-03-01', {low}, {high}, 'archived', '', '', 0, 0,"
        " '', now(), '', 1, '')",
        "update audit_archivedmonth set state = 'destroyed'",
        "select audit_demand_log_owner('{}')",
        "select audit_act_log_archived('{}', 1, null)",
    ):
        with pytest.raises(DatabaseError) as refused, transaction.atomic(), acting_as(role):
            _execute(attack)
        assert isinstance(refused.value.__cause__, psycopg.errors.InsufficientPrivilege), (attack, refused.value)


def _execute(statement: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_not_even_the_owner_of_the_tables_makes_a_partition_go_past_the_functions(played: Years) -> None:
    for attack in ("alter table log.event detach partition log.event_199203", "drop table log.event_199203"):
        with pytest.raises(DatabaseError, match="outside maintenance"), transaction.atomic(), acting_as(OWNER):
            _execute(attack)


def test_the_swap_takes_the_numbers_that_were_proved_and_no_others(played: Years) -> None:
    _execute("select log.stage_month('1992-03-01')")
    for batches, events in ((2, 134), (1, 135), (0, 0)):
        with pytest.raises(DatabaseError, match=r"not .* with"), transaction.atomic():
            _execute(f"select log.swap_month('1992-03-01', {batches}, {events})")


DATA = {"month": "1992-03", "file": FILE, "sha256": "0" * 64, "batches": 2, "events": 135, "note": "n"}


def test_the_desk_archives_and_destroys_nothing(played: Years) -> None:
    for type in ("log.archived", "log.attached", "log.detached", "log.destroyed"):
        with pytest.raises(EntryRefused, match="not-allowed"):
            audit_trail.perform(played.director.username, type, data=DATA)


def test_the_database_itself_refuses_an_entry_while_something_is_open_and_a_destruction_before_its_time(
    played: Years,
) -> None:
    from audit.casework import actions

    case = played.case()
    actions.perform(case.pk, played.second, "hold", reason="a court")
    with pytest.raises(EntryRefused, match="held"):
        audit_trail.perform_command("log.archived", data=DATA)
    actions.perform(case.pk, played.director, "lift_hold", reason="settled")
    actions.perform(case.pk, played.second, "reopen", reason="another camera")
    with pytest.raises(EntryRefused, match="case-open"):
        audit_trail.perform_command("log.archived", data=DATA)
    played.close_cases()
    with pytest.raises(EntryRefused, match="not-over"):
        audit_trail.perform_command("log.archived", data=DATA | {"month": "2099-01"})
    with pytest.raises(EntryRefused, match="not-attached"):
        audit_trail.perform_command("log.detached", data=DATA)
    archived("--before", "1992-04")
    digest = ArchivedMonth.objects.get().digest
    officers = [played.second.username, played.director.username]
    base = {"month": "1992-03", "sha256": digest, "retention_years": 10, "officers": officers, "note": "n"}
    for wrong, code in (
        ({"retention_years": 0}, "retained"),
        ({"retention_years": 90}, "retained"),
        ({"officers": officers[:1]}, "two-officers"),
        ({"officers": [officers[0], officers[0]]}, "another-officer"),
        ({"officers": [officers[0], "nobody"]}, "not-an-officer"),
        ({"sha256": "0" * 64}, "not-archived"),
    ):
        with pytest.raises(EntryRefused, match=code):
            audit_trail.perform_command("log.destroyed", data=base | wrong, reason="years")
    with pytest.raises(EntryRefused, match="two-officers"):
        audit_trail.perform_command("log.destroyed", data=base)
    with pytest.raises(EntryRefused, match="archived-already"):
        audit_trail.perform_command("log.archived", data=DATA)


# The proof of many leaves


def test_the_proof_of_many_leaves_gives_the_root_for_every_choice_of_leaves_of_a_small_tree() -> None:
    for size in range(1, 9):
        hashes = [merkle.leaf(bytes([number])) for number in range(size)]
        root_of = lambda low, high, hashes=hashes: merkle.root(hashes[low:high])  # noqa: E731
        for chosen in range(1, 1 << size):
            indexes = [number for number in range(size) if chosen >> number & 1]
            shown = list(merkle.inclusion_of_many(indexes, size, root_of))
            leaves = {index: hashes[index] for index in indexes}
            assert merkle.root_of_many(leaves, size, shown) == merkle.root(hashes)
            assert merkle.root_of_many(leaves, size, [*shown, bytes(32)]) is None
            if shown:
                assert merkle.root_of_many(leaves, size, shown[:-1]) is None
            if len(indexes) == 1:
                assert sorted(shown) == sorted(merkle.inclusion(indexes[0], size, root_of))
            assert merkle.root_of_many(leaves | {indexes[0]: bytes(32)}, size, shown) != merkle.root(hashes)
    assert files.note_of(FILE) == NOTE
