"""The file of a month: everything that the log has of it, a JSON value a line, compressed with gzip.

    {"archive": "2026-01", "v": 1, "checkpoint": note}    the signed tree by which the rest is proved
    {"stream": …}                                         a session, a count, a day of the audit trail, in order
    {"batch": …, "index": …, "leaf": …}                   a request: what its leaf in the tree is the hash of
    …                                                     its events, the very bytes that were hashed, ``count`` of them
    {"finding": …}                                        the findings of the session, as their leaves are made
    {"proof": [hash, …]}                                  what else the root of the tree takes
    {"end": …}                                            how much there is

gzip, and not something denser, because whatever there will be in ten years can read it: RFC 1952 is in the standard
library, and in every system's shell. A stream is in one month from its first event to its last, since a month is a
range of stream ids.
"""

from __future__ import annotations

import gzip
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from audit.event_store import binary_copy, durable_files, merkle
from audit.event_store.bulk_read import SeqRange, events_in
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow, instant
from audit.models import Finding
from audit.transparency import kept_findings, tree

FORMAT = 1
"""The version of the format."""

BLOCK_EVENTS = 5_000
"""Events that are read at once; a batch is never divided."""

HASHES_A_LINE = 1_000
"""Hashes that one line of the proof has."""

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a line: more than any event may have."""

_encode = msgspec.json.Encoder(order="sorted").encode


class BadArchive(Exception):
    """A file that is not what the log has of its month: altered, cut off, or of something else."""


@dataclass(slots=True)
class Counts:
    """How much a file has; ``taken`` are the batches and events of tables and counts, without the audit trail."""

    streams: int = 0
    batches: int = 0
    events: int = 0
    findings: int = 0
    taken_batches: int = 0
    taken_events: int = 0


@dataclass(frozen=True, slots=True)
class FiledStream:
    """A stream as a file has it: its identity, whether it is of the audit trail, and where it ends."""

    row: StreamRow
    is_of_desk: bool
    next_seq: int
    chain: bytes


@dataclass(frozen=True, slots=True)
class FiledBatch:
    """A batch as a file has it: the index and hash of its leaf, and its events, the bytes that were hashed."""

    batch: Batch
    index: int
    hash: bytes
    envelopes: list[bytes]


@dataclass(slots=True)
class Opened:
    """A file that is being read: its digest so far, and, once it is read to the end, its proof and what it counts."""

    month: str = ""
    checkpoint: str = ""
    proof: list[bytes] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    stated: Counts | None = None
    digest: str = ""


def name_of(month: date) -> str:
    """Return the name of the file of a month; its note has the same, and another ending."""
    return f"cabochon-{month:%Y-%m}.ndjson.gz"


def note_of(file: str) -> str:
    """Return the name of the note of a file."""
    return f"{file.removesuffix('.ndjson.gz')}.note"


# Writing -------------------------------------------------------------------------------------------------------------

_STREAMS = """
select s.stream_id, s.name, s.casino_id, s.table_id, s.is_of_desk, h.next_seq, h.chain, s.gaming_day, s.game, s.ruleset,
       s.currency, s.opened_at, coalesce(c.code, ''), t.code
from log.stream s join log.stream_head h using (stream_id)
left join audit_casino c on c.id = s.casino_id left join audit_gamingtable t on t.id = s.table_id
where s.stream_id >= %b::bigint and s.stream_id < %b::bigint order by s.stream_id
"""

_BATCHES = """
select b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id, b.signature,
       l.log_index, l.hash
from log.batch b join log.leaf l using (stream_id, first_seq) where b.stream_id = %b::bigint order by b.first_seq
"""


def write(path: Path, month: date, low: int, high: int, checkpoint: tree.StoredCheckpoint) -> None:
    """Write the file of a month, whose streams have ids from ``low`` to before ``high``, and sync it to the disk.

    Every batch of the month has to be in the tree of ``checkpoint``.
    """
    counts = Counts()
    indexes: list[int] = []
    with path.open("wb") as file:
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            _line(packed, {"archive": f"{month:%Y-%m}", "v": FORMAT, "checkpoint": checkpoint.note})
            for row in binary_copy.execute(_STREAMS, (low, high)):
                _write_stream(packed, row, counts, indexes)
            indexes.sort()
            proof = merkle.inclusion_of_many(indexes, checkpoint.size, tree.cached_root_of())
            for hashes in _chunks([each.hex() for each in proof]):
                _line(packed, {"proof": hashes})
            _line(packed, {"end": counts})
        file.flush()
        os.fsync(file.fileno())


def _write_stream(packed: gzip.GzipFile, row: tuple[Any, ...], counts: Counts, indexes: list[int]) -> None:
    stream_id, name, casino, table, is_of_desk, next_seq, chain, day, game, ruleset, currency, opened_at, *codes = row
    identity = {"stream_id": stream_id, "name": name, "casino": casino, "table": table, "is_of_desk": is_of_desk}
    ends = {"next_seq": next_seq, "chain": chain.hex()}
    opened = {"gaming_day": str(day), "game": game, "ruleset": ruleset, "currency": currency}
    opened |= {"opened_at": instant(opened_at), "casino_code": codes[0], "table_code": codes[1]}
    _line(packed, {"stream": {**identity, **ends, **opened}})
    counts.streams += 1
    for block in _blocks(binary_copy.execute(_BATCHES, (stream_id,))):
        first, last = block[0][0], block[-1][1]
        [events] = list(events_in([SeqRange(stream_id, first, last)]))  # read to the end: one statement at a time
        low = 0
        for values in block:
            *_, index, hash = values
            batch = Batch(*values[:9])
            high = bisect_right(events.seqs, batch.last_seq)
            stated = {"root": batch.root.hex(), "chain": batch.chain.hex(), "received_at": instant(batch.received_at)}
            stated |= {name: getattr(batch, name) for name in ("first_seq", "last_seq", "next_seq", "key_id")}
            if batch.signature is not None:
                stated["signature"] = batch.signature.hex()
            _line(packed, {"batch": {**stated, "count": high - low}, "index": index, "leaf": hash.hex()})
            packed.write(b"".join(b"%b\n" % envelope for envelope in events.envelopes[low:high]))
            indexes.append(index)
            _count(counts, high - low, is_of_desk=is_of_desk)
            low = high
    for content in kept_findings.contents_of(Finding.objects.filter(stream=stream_id)):
        _line(packed, {"finding": msgspec.Raw(content)})
        counts.findings += 1


def _count(counts: Counts, events: int, *, is_of_desk: bool) -> None:
    counts.batches += 1
    counts.events += events
    if not is_of_desk:
        counts.taken_batches += 1
        counts.taken_events += events


def _blocks(batches: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    block: list[tuple[Any, ...]] = []
    events = 0
    for each in batches:
        block.append(each)
        events += each[3]
        if events >= BLOCK_EVENTS:
            yield block
            block, events = [], 0
    if block:
        yield block


def _chunks(hashes: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(hashes), HASHES_A_LINE):
        yield hashes[at : at + HASHES_A_LINE]


def _line(packed: gzip.GzipFile, value: Any) -> None:
    packed.write(_encode(value) + b"\n")


def write_note(path: Path, note: str) -> None:
    """Write the note of a file that was renamed to its name, both names and the note synced to the disk."""
    durable_files.sync_folder(path.parent)
    durable_files.write(path, note.encode())
    durable_files.sync_folder(path.parent)


# Reading -------------------------------------------------------------------------------------------------------------


class _Hashing:
    """A file that is read through: its SHA-256 is that of all that was read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.digest = file, sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.digest.update(content)
        return content


def read(path: Path, opened: Opened) -> Iterator[FiledStream | FiledBatch]:
    """Yield what a file has, stream by stream, each before its batches, and fill ``opened``.

    Only the form is checked, and that it ends where it says: ``audit.archive.proof`` proves the content. Raise
    ``BadArchive``, or ``OSError`` if the file cannot be read.
    """
    with path.open("rb") as file:
        # From the disk, and not from what the system remembers of writing it.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        hashing = _Hashing(file)
        try:
            reader: Any = hashing  # which is read from its beginning to its end, and never sought in
            with gzip.GzipFile(fileobj=reader, mode="rb") as packed:
                yield from _parsed(_lines(packed), opened)
            while hashing.read(1 << 20):  # what is behind the compressed data counts, too
                continue
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadArchive(f"the file is damaged: {error}") from error
        except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
            raise BadArchive(f"the file is not an archive: {error}") from error
    opened.digest = hashing.digest.hexdigest()
    if opened.stated != opened.counts:
        raise BadArchive(f"the file has {opened.counts}, and says {opened.stated}")


def _lines(packed: gzip.GzipFile) -> Iterator[bytes]:
    while line := packed.readline(MAX_LINE):
        if not line.endswith(b"\n"):
            raise BadArchive("the file does not end where a line ends")
        yield line[:-1]


def _parsed(lines: Iterator[bytes], opened: Opened) -> Iterator[FiledStream | FiledBatch]:
    head = next(lines, None)
    if head is None:
        raise BadArchive("the file is empty")
    first = msgspec.json.decode(head)
    if first["v"] != FORMAT:
        raise BadArchive(f"the file is of version {first['v']}")
    opened.month, opened.checkpoint = str(first["archive"]), str(first["checkpoint"])
    stream: FiledStream | None = None
    for line in lines:
        if opened.stated is not None:
            raise BadArchive("the file goes on after its end")
        match msgspec.json.decode(line):
            case {"stream": dict(content)}:
                row = StreamRow(content["stream_id"], content["name"], content["casino"], content["table"])
                stream = FiledStream(row, content["is_of_desk"], content["next_seq"], bytes.fromhex(content["chain"]))
                opened.counts.streams += 1
                yield stream
            case {"batch": dict(content), "index": int(index), "leaf": str(leaf)} if stream is not None:
                envelopes = list(islice(lines, content["count"]))
                _count(opened.counts, len(envelopes), is_of_desk=stream.is_of_desk)
                yield FiledBatch(_batch(content), index, bytes.fromhex(leaf), envelopes)
            case {"finding": dict()}:
                opened.counts.findings += 1
            case {"proof": list(hashes)}:
                opened.proof += [bytes.fromhex(each) for each in hashes]
            case {"end": dict(stated)}:
                opened.stated = Counts(**stated)
            case _:
                raise BadArchive("the file has a line that is not of an archive")


def _batch(content: dict[str, Any]) -> Batch:
    return Batch(
        content["first_seq"],
        content["last_seq"],
        content["next_seq"],
        content["count"],
        bytes.fromhex(content["root"]),
        bytes.fromhex(content["chain"]),
        msgspec.convert(content["received_at"], type=datetime),
        content["key_id"],
        bytes.fromhex(content["signature"]) if "signature" in content else None,
    )
