"""The log as static files that any web server can serve: C2SP tlog-tiles.

    checkpoint                     the signed note, with the cosignatures that are kept on it
    tile/L/N[.p/W]                 up to 256 hashes: of leaves at level 0, above of the full tiles of the level below
    tile/entries/N[.p/W]           the entries of up to 256 leaves, each after its length (2 bytes, big-endian)

``N`` is written in groups of three digits, all but the last after an x; ``.p/W`` is there while a tile has only W
hashes. A file that is written is not changed any more, except ``checkpoint``, which is written last: what it covers is
there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audit.event_store import binary_copy, durable_files, merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.transparency import tree
from audit.transparency.cosignatures import cosigned_note, text_of
from audit.transparency.signed_notes import BadNote, Checkpoint
from audit.transparency.tree import StoredCheckpoint

WIDTH = 1 << merkle.TILE_BITS
"""Hashes of a full tile, entries of a full bundle."""

MAX_ENTRY = 65_535
"""Bytes of an entry: its length is written in two."""

_ENTRIES = """
select l.hash, s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id, b.signature
from log.leaf l join log.batch b using (stream_id, first_seq) join log.stream s using (stream_id)
where l.log_index >= %b::bigint and l.log_index < %b::bigint order by l.log_index
"""


class CannotTile(Exception):
    """The log has not what its checkpoint covers, or the folder has the tiles of another log."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: its level, its index in the level, and how many hashes it has, 1 to 256."""

    level: int
    index: int
    width: int

    def path(self, kind: str | None = None) -> str:
        """Return where it is; ``kind`` is written in the place of the level."""
        digits = f"{self.index:03}"
        digits = digits.zfill((len(digits) + 2) // 3 * 3)
        *groups, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
        partial = "" if self.width == WIDTH else f".p/{self.width}"
        return "/".join(["tile", kind or str(self.level), *(f"x{group}" for group in groups), f"{last}{partial}"])


def tiles_of(size: int, *, after: int = 0) -> Iterator[Tile]:
    """Yield the tiles of the tree of ``size`` leaves that the one of ``after`` leaves does not have, level by level."""
    level = 0
    while hashes := size >> level * merkle.TILE_BITS:
        known = after >> level * merkle.TILE_BITS
        for index in range(known // WIDTH, hashes // WIDTH):
            yield Tile(level, index, WIDTH)
        if hashes % WIDTH and hashes != known:
            yield Tile(level, hashes // WIDTH, hashes % WIDTH)
        level += 1


def write_tiles(folder: Path, checkpoint: StoredCheckpoint) -> int:
    """Write what ``folder`` lacks of the tree of ``checkpoint``, then the checkpoint; return how many files but that.

    Raise ``CannotTile`` if the tree is not the one that the checkpoint says, or that is in the folder.
    """
    if tree.frontier(checkpoint.size).root() != checkpoint.root:
        raise CannotTile(f"the tree of {checkpoint.size} leaves is not the one of its checkpoint; run manage.py verify")
    after = _size_in(folder)
    if after > checkpoint.size:
        raise CannotTile(f"{folder} has {after} leaves, and this checkpoint is of {checkpoint.size}")
    written = 0
    for tile in tiles_of(checkpoint.size, after=after):
        first = tile.index * WIDTH
        hashes = tree.hashes_of(tile.level * merkle.TILE_BITS, first, first + tile.width)
        if len(hashes) != tile.width:
            raise CannotTile(f"the stored tree lacks hashes of {tile.path()}")
        _write(folder, tile.path(), b"".join(hashes))
        written += 1
        if tile.level == 0:
            _write(folder, tile.path("entries"), b"".join(_entries(first, hashes)))
            written += 1
    _write(folder, "checkpoint", cosigned_note(checkpoint).encode())
    for tile in tiles_of(checkpoint.size, after=after):
        _drop_partial(folder, tile)
    return written


def entries_in(folder: Path, low: int, high: int) -> Iterator[bytes]:
    """Yield the entries of the leaves ``low`` … ``high`` - 1 from the bundles in a folder, as far as these go."""
    for index in range(low // WIDTH, (high + WIDTH - 1) // WIDTH):
        bundle = _bundle(folder, index)
        for position, entry in enumerate(bundle, start=index * WIDTH):
            if low <= position < high:
                yield entry
        if len(bundle) < WIDTH:
            return


def _bundle(folder: Path, index: int) -> list[bytes]:
    """Return the entries of a bundle: of the full one, or of the widest partial one that is there."""
    full = folder / Tile(0, index, WIDTH).path("entries")
    partial = sorted(full.parent.glob(f"{full.name}.p/*"), key=lambda path: int(path.name))
    paths = [full] if full.exists() else partial[-1:]
    entries: list[bytes] = []
    for content in (path.read_bytes() for path in paths):
        at = 0
        while at < len(content):
            end = at + 2 + int.from_bytes(content[at : at + 2], "big")
            entries.append(content[at + 2 : end])
            at = end
    return entries


def _size_in(folder: Path) -> int:
    """Return how many leaves the tiles in a folder have, 0 if it has none; they have to be of this log."""
    path = folder / "checkpoint"
    if not path.exists():
        return 0
    try:
        there = Checkpoint.parse(text_of(path.read_text()))
    except (BadNote, UnicodeDecodeError) as error:
        raise CannotTile(f"{path}: {error}") from None
    if there.size > tree.size() or tree.frontier(there.size).root() != there.root:
        raise CannotTile(f"{folder} has the tiles of another log: {there.origin}, {there.size} leaves")
    return there.size


def _entries(first: int, hashes: list[bytes]) -> Iterator[bytes]:
    """Yield the entries of the leaves from ``first`` on, each after its length; they have the leaves' ``hashes``."""
    rows = binary_copy.execute(_ENTRIES, (first, first + len(hashes)))
    if len(rows) != len(hashes):
        raise CannotTile(f"batches of the leaves from {first} on are missing")
    for index, (row, hash) in enumerate(zip(rows, hashes, strict=True), start=first):
        entry = tree.entry(StreamRow(*row[1:5]), Batch(*row[5:]))
        if merkle.leaf(entry) != hash:
            raise CannotTile(f"leaf {index} is not that of its batch; run manage.py verify")
        if len(entry) > MAX_ENTRY:
            raise CannotTile(f"the entry of leaf {index} has {len(entry)} bytes, more than {MAX_ENTRY}")
        yield len(entry).to_bytes(2, "big") + entry


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a file atomically, for everybody to read."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    durable_files.write(path, content)


def _drop_partial(folder: Path, tile: Tile) -> None:
    """Delete the partial tiles in whose place a full one is now."""
    if tile.width == WIDTH:
        for path in [tile.path(), *([tile.path("entries")] if tile.level == 0 else [])]:
            shutil.rmtree(folder / f"{path}.p", ignore_errors=True)
