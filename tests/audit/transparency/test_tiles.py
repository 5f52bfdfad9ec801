"""The log as static tiles: the specification's examples, and a reader who has the files alone."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import metamorphic_log
import pytest
from django.core.management import CommandError, call_command

from audit.event_store import audit_trail, merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.transparency import cosignatures, signing_keys, tiles, tree
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.signed_notes import Checkpoint
from audit.transparency.tiles import CannotTile, Tile, tiles_of, write_tiles
from audit.transparency.tree import StoredCheckpoint
from cabochon_witness.notes import CosigningKey
from settlement.codec import STREAM_NAME
from tests.audit.conftest import make_tenant
from tests.audit.transparency.sealed import seal, several_streams


def widths(size: int, level: int) -> list[int]:
    return [tile.width for tile in tiles_of(size) if tile.level == level]


def test_the_tree_of_70_000_leaves_has_the_tiles_that_the_specification_says() -> None:
    assert widths(70_000, 0) == [256] * 273 + [112]
    assert widths(70_000, 1) == [256, 17]
    assert widths(70_000, 2) == [1]
    assert widths(70_000, 3) == []
    assert (widths(256, 0), widths(256, 1), widths(256, 2)) == ([256], [1], [])
    assert list(tiles_of(0)) == []


PATHS = """
    0  1234067  256  tile/0/x001/x234/067
    0        0  256  tile/0/000
    0      999    1  tile/0/999.p/1
    1     1000  255  tile/1/x001/000.p/255
    63       7  256  tile/63/007
    2  1000000    8  tile/2/x001/x000/000.p/8
"""


@pytest.mark.parametrize("row", PATHS.strip().splitlines(), ids=str.split)
def test_a_tile_is_where_the_specification_says(row: str) -> None:
    level, index, width, path = row.split()
    assert Tile(int(level), int(index), int(width)).path() == path
    assert Tile(0, 1_234_067, 8).path("entries") == "tile/entries/x001/x234/067.p/8"


@pytest.mark.parametrize("size", [1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 70_000])
def test_in_steps_the_same_tiles_are_written_as_at_once_and_partial_ones_of_each_step(size: int) -> None:
    at_once = set(tiles_of(size))
    for step in {1, 100, 256, 300, 40_000, size} & set(range(1, size + 1)):
        in_steps = set(tiles_of(step)) | set(tiles_of(size, after=step))
        assert at_once <= in_steps
        assert {tile for tile in in_steps - at_once if tile.width == 256} == set()
    assert list(tiles_of(size, after=size)) == []


class Reader:
    """A reader of the files alone, who knows the specification and nothing of Cabochon."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.note = (folder / "checkpoint").read_text()
        self.size = int(self.note.splitlines()[1])

    def hash(self, level: int, index: int) -> bytes:
        count = self.size // 256**level
        width = min(256, count - index // 256 * 256)
        number = f"{index // 256:03}"
        name = self.folder / "tile" / str(level) / (number if width == 256 else f"{number}.p/{width}")
        content = name.read_bytes()
        assert len(content) == 32 * width
        return content[index % 256 * 32 :][:32]

    def root(self, low: int, high: int) -> bytes:
        span = high - low
        for level in (2, 1, 0):
            if span == 256**level and low % span == 0:
                return self.hash(level, low // span)
        half = 1
        while half * 2 < span:
            half *= 2
        return merkle.node(self.root(low, low + half), self.root(low + half, high))

    def entries(self) -> list[bytes]:
        found: list[bytes] = []
        for number in range(0, self.size, 256):
            width = min(256, self.size - number)
            name = f"{number // 256:03}" if width == 256 else f"{number // 256:03}.p/{width}"
            content = (self.folder / "tile" / "entries" / name).read_bytes()
            while content:
                length = int.from_bytes(content[:2], "big")
                found.append(content[2 : 2 + length])
                content = content[2 + length :]
        return found


def newest() -> StoredCheckpoint:
    checkpoint = tree.newest_checkpoint()
    assert checkpoint is not None
    return checkpoint


def grow(batches: int) -> None:
    for number in range(batches):
        audit_trail.record("claire", "test.recorded", data={"n": number})
    seal()


@pytest.mark.django_db
def test_who_has_the_files_alone_proves_every_entry_and_that_nothing_was_rewritten(tmp_path: Path) -> None:
    several_streams(make_tenant(), sizes=[[3, 1], [2]])
    grow(250)
    write_tiles(tmp_path / "log", newest())
    shutil.copytree(tmp_path / "log", tmp_path / "before")
    grow(300)
    write_tiles(tmp_path / "log", newest())
    vkeys = [str(key) for key in signing_keys.verifiers("checkpoint")]
    before, after = Reader(tmp_path / "before"), Reader(tmp_path / "log")
    assert after.size == before.size + 300 == newest().size
    entries = after.entries()
    assert len(entries) == after.size
    for index in {0, 1, 255, 256, after.size // 2, before.size, after.size - 1}:
        leaf = merkle.leaf(entries[index])
        assert leaf == after.hash(0, index)
        path = merkle.inclusion(index, after.size, after.root)
        metamorphic_log.checkpoint_verify_inclusion(after.note, vkeys, index, leaf, path)
        with pytest.raises(metamorphic_log.VerifyError):
            metamorphic_log.checkpoint_verify_inclusion(after.note, vkeys, index, merkle.leaf(b"x"), path)
    proof = merkle.consistency(before.size, after.size, after.root)
    metamorphic_log.checkpoint_verify_consistency(before.note, after.note, vkeys, proof)


@pytest.mark.django_db
def test_what_is_there_is_not_written_again_and_a_partial_tile_goes_when_it_is_full(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grow(3)
    call_command("tiles", "--output", str(tmp_path))
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert not [path for path in files if path.name.startswith(".")]
    capsys.readouterr()
    call_command("tiles", "--output", str(tmp_path))
    assert capsys.readouterr().out.endswith("leaves, 0 files written\n")
    size = newest().size
    [partial] = (tmp_path / "tile" / "0").glob(f"*.p/{size % 256}")
    grow(256)
    call_command("tiles", "--output", str(tmp_path))
    assert not partial.exists()
    assert partial.parent.with_suffix("").stat().st_size == 256 * 32
    assert Reader(tmp_path).root(0, newest().size) == newest().root


@pytest.mark.django_db
def test_the_newest_cosigned_checkpoint_can_be_served_with_its_cosignature(tmp_path: Path) -> None:
    grow(3)
    with pytest.raises(CommandError, match="no such checkpoint"):
        call_command("tiles", "--output", str(tmp_path), "--cosigned")
    cosigned = newest()
    witness = CosigningKey("witness.example/w1", b"w" * 32)
    line = witness.cosign(cosignatures.text_of(cosigned.note), 1_700_000_000).removesuffix("\n")
    cosignatures.keep(cosigned, WitnessKey.parse(str(witness.public)), line, 1_700_000_000)
    grow(2)
    call_command("tiles", "--output", str(tmp_path), "--cosigned")
    assert (tmp_path / "checkpoint").read_text() == f"{cosigned.note}{line}\n"


@pytest.mark.django_db
def test_tiles_of_another_log_are_left_alone(tmp_path: Path) -> None:
    grow(3)
    checkpoint = newest()
    write_tiles(tmp_path, checkpoint)
    other = Checkpoint(signing_keys.origin(), checkpoint.size, bytes(32))
    (tmp_path / "checkpoint").write_text(f"{other.text()}\n— a AAAAAAAA\n")
    for content in ((tmp_path / "checkpoint").read_text(), "nonsense"):
        (tmp_path / "checkpoint").write_text(content)
        with pytest.raises(CannotTile):
            write_tiles(tmp_path, checkpoint)
    with pytest.raises(CannotTile, match="not the one of its checkpoint"):
        write_tiles(tmp_path / "new", StoredCheckpoint(checkpoint.size, bytes(32), checkpoint.note))


@pytest.mark.django_db
def test_an_entry_that_does_not_fit_its_length_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(2)
    monkeypatch.setattr(tiles, "MAX_ENTRY", 100)
    with pytest.raises(CannotTile, match="more than 100"):
        write_tiles(tmp_path, newest())
    assert not (tmp_path / "checkpoint").exists()


def test_every_entry_that_can_be_recorded_fits() -> None:
    longest = max((name for name in ("x" * size for size in range(1, 2_000)) if STREAM_NAME.fullmatch(name)), key=len)
    big = 2**63 - 1
    batch = Batch(big, big, big, big, bytes(32), bytes(32), datetime.now(UTC), big)
    assert len(tree.entry(StreamRow(big, longest, big, big), batch)) < 2_000 < tiles.MAX_ENTRY
