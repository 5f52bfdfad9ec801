#!/usr/bin/env python3
"""The verifier of evidence bundles: this one file, Python 3.9 or newer, and nothing else.

    python3 verify.py [--key VKEY] [--witness VKEY] BUNDLE.zip       a bundle as it was exported
    python3 verify.py [--key VKEY] [--witness VKEY] [FOLDER]         an unpacked one, by default in the current folder

    events.ndjson ─ leaf ─► root of each batch ─► chain of the stream
                                 └─ in the batch's entry ─ leaf ─ path ─► root in the checkpoint ─► its signature
    decision on a correction ─ leaf ─┤
    public key of a table system ────┴─► the signature in each entry of a batch that it signed

``--key`` is the log's public key as its operator publishes it, ``name+id+base64``. Without it, the bundle is checked
with the key that it contains, which shows that nothing was damaged, not who made it. ``--witness``, which may be
repeated, is the key of somebody who keeps watch over the log: the checkpoint has to be cosigned by it as well.

Prints a line for each check. Exit status 0: everything holds. 1: something does not, and the last line says what. 2:
there is nothing to check. ``docs/evidence.md`` specifies every format to the byte, so that anybody can write another.
"""

from __future__ import annotations

import base64
import calendar
import io
import json
import os
import re
import stat
import struct
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any
from zlib import crc32

FORMAT = "cabochon-evidence/v1"

FILES = frozenset(
    "MANIFEST.sha256 README.en.txt README.fr.txt batches.json checkpoint events.ndjson finding.json keys.json"
    " verdict.en.txt verdict.fr.txt verify.py".split()
)
"""The files of every bundle. In addition, ``law/`` has the texts of law that the finding quotes."""


class Unverified(Exception):
    """A check does not hold; the message says why."""


# Ed25519: RFC 8032, section 5.1. Points are in extended coordinates (X, Y, Z, T), x = X/Z, y = Y/Z, xy = T/Z. ---------

Point = tuple[int, int, int, int]

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def _add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(number: int, point: Point) -> Point:
    product = (0, 1, 1, 0)
    while number:
        if number & 1:
            product = _add(product, point)
        point = _add(point, point)
        number >>= 1
    return product


def _point(encoded: bytes) -> Point | None:
    """Section 5.1.3: decode 32 bytes to a point. None if they encode none."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * ROOT_OF_MINUS_1 % P
    if (v * x * x - u) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _encoded(point: Point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


GENERATOR = _point(bytes.fromhex("58" + "66" * 31))


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Section 5.1.7: whether ``signature``, 64 bytes, is over ``message`` by the key ``public``, 32 bytes."""
    key = _point(public) if len(public) == 32 else None
    s = int.from_bytes(signature[32:], "little")
    if key is None or GENERATOR is None or len(signature) != 64 or s >= ORDER:
        return False
    k = int.from_bytes(sha512(signature[:32] + public + message).digest(), "little") % ORDER
    minus_key = (P - key[0], key[1], 1, P - key[3])
    return _encoded(_add(_times(s, GENERATOR), _times(k, minus_key))) == signature[:32]


# The ZIP: files stored in order of their names, all else constant, so that there is one ZIP of given files. -----------

_LOCAL, _CENTRAL, _END = map(struct.Struct, ("<4s5H3I2H", "<4s6H3I5H2I", "<4s4H2IH"))
_MADE_BY, _NEEDED, _DAY, _MODE = 3 << 8 | 20, 20, 1 << 5 | 1, (stat.S_IFREG | 0o644) << 16  # unix, 2.0, 1980-01-01

_NAME = re.compile(rb"(?:law/)?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return the one ZIP of ``files``, by name."""
    members: list[bytes] = []
    directory: list[bytes] = []
    offset = 0
    for name in sorted(files):
        raw, path = files[name], name.encode("ascii")
        shared = (_NEEDED, 0, 0, 0, _DAY, crc32(raw), len(raw), len(raw), len(path), 0)
        members += (_LOCAL.pack(b"PK\3\4", *shared), path, raw)
        directory.append(_CENTRAL.pack(b"PK\1\2", _MADE_BY, *shared, 0, 0, 0, _MODE, offset) + path)
        offset += _LOCAL.size + len(path) + len(raw)
    central = b"".join(directory)
    end = _END.pack(b"PK\5\6", 0, 0, len(files), len(files), len(central), offset, 0)
    return b"".join(members) + central + end


def files_in(archive: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP, by name. Raise ``Unverified`` unless it is the one that ``zip_of`` makes of them."""
    if archive[-_END.size :][:4] != b"PK\5\6":
        raise Unverified("the file does not end as a bundle does: it was cut off, or bytes were added")
    files: dict[str, bytes] = {}
    at = 0
    while archive[at : at + 4] == b"PK\3\4" and at + _LOCAL.size <= len(archive):
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack_from(archive, at)
        start = at + _LOCAL.size + name_length
        path = archive[at + _LOCAL.size : start]
        if not _NAME.fullmatch(path):
            raise Unverified(f"the ZIP has a file whose name no bundle has: {path[:100]!r}")
        name = path.decode("ascii")
        if flags or method or packed != size or extra_length:
            raise Unverified(f"{name} is compressed, encrypted or has extra fields; a bundle's files are stored")
        if name in files:
            raise Unverified(f"the ZIP has {name} twice")
        raw = archive[start : start + size]
        if len(raw) != size or crc32(raw) != crc:
            raise Unverified(f"{name} is damaged: its CRC-32 is not that of the ZIP")
        files[name] = raw
        at = start + size
    if zip_of(files) != archive:
        raise Unverified("the ZIP is not the one that its files make: a header, the order, a comment, or extra bytes")
    return files


def files_under(folder: Path) -> dict[str, bytes]:
    """Return the files of an unpacked bundle, by path. Raise ``Unverified`` for a link or any other special file."""
    files: dict[str, bytes] = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
            elif not stat.S_ISDIR(mode):
                raise Unverified(f"{path} is not a regular file")
    return files


# JSON: each value has one format. -------------------------------------------------------------------------------------

_TYPES = {"int": int, "str": str, "bool": bool, "list": list, "dict": dict, "null": type(None)}


def parse_json(raw: bytes, what: str) -> Any:
    """Parse JSON of integers, no name twice. Raise ``Unverified``, naming ``what``, for anything else."""

    def no_fraction(number: str) -> None:
        raise ValueError(f"{number} is not an integer")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("a name is given twice")
        return dict(pairs)

    try:
        return json.loads(raw.decode(), object_pairs_hook=unique, parse_float=no_fraction, parse_constant=no_fraction)
    except (ValueError, RecursionError) as error:
        raise Unverified(f"{what} is not the JSON it should be: {error}") from None


def canonical(value: Any) -> bytes:
    """Format ``value`` as RFC 8785 does if names have no character beyond U+FFFF and numbers are integers."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "replace")


def indented(value: Any) -> bytes:
    """Format ``value`` as the bundle's own JSON files are, for people to read."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8", "replace") + b"\n"


def checked(value: Any, fields: str, what: str) -> Any:
    """Return ``value`` if it is an object of exactly these fields, each ``name:type`` with ``|null`` or ``|absent``."""
    expected = dict(field.split(":") for field in fields.split())
    needed = {name for name, types in expected.items() if "absent" not in types}  # bundles of before lack the others
    if type(value) is not dict or not needed <= value.keys() <= expected.keys():
        raise Unverified(f"{what} does not have the fields {', '.join(expected)}")
    for name in value:
        if type(value[name]) not in [_TYPES.get(each) for each in expected[name].split("|")]:
            raise Unverified(f"{name} of {what} has a wrong type")
    return value


def document(files: Mapping[str, bytes], name: str, fields: str) -> Any:
    """Return the content of one of the bundle's own JSON files."""
    value = checked(parse_json(files[name], name), fields, name)
    if indented(value) != files[name]:
        raise Unverified(f"{name} is not formatted as in a bundle")
    return value


def decoded(text: str, what: str) -> bytes:
    """Decode base64. Raise ``Unverified``, naming ``what``, unless it is padded and canonical (RFC 4648)."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raw = b""
    if base64.b64encode(raw).decode() != text:
        raise Unverified(f"{what} is not base64")
    return raw


# The hashes of the log: RFC 6962, section 2.1. ------------------------------------------------------------------------


def leaf(raw: bytes) -> bytes:
    return sha256(b"\x00" + raw).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    level = list(leaves)
    while len(level) > 1:
        odd = level[len(level) & ~1 :]
        level = [node(level[at], level[at + 1]) for at in range(0, len(level) & ~1, 2)] + odd
    return level[0]


def root_by_path(subtree: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that a leaf's audit path leads to, or None if its length is wrong: RFC 6962, 2.1.1."""
    inner = (index ^ (size - 1)).bit_length()  # from here up the leaf is on the right edge of the tree
    if len(path) != inner + bin(index >> inner).count("1"):
        return None
    for height, sibling in enumerate(path):
        is_right = height >= inner or index >> height & 1
        subtree = node(sibling, subtree) if is_right else node(subtree, sibling)
    return subtree


# The checkpoint: C2SP signed-note and tlog-checkpoint. ----------------------------------------------------------------

Key = tuple[str, bytes, bytes]
"""Name, id of 4 bytes, public key of 32."""


def key_of(vkey: str, kind: int = 1) -> Key:
    """Parse a public key, ``name+id+base64``, of a log (kind 1) or of a witness (kind 4)."""
    name, _, rest = vkey.partition("+")
    typed = decoded(rest[9:], "the public key")
    key_id = sha256(name.encode() + b"\n" + typed).digest()[:4]
    if not re.fullmatch(r"[^\s+]+", name) or len(typed) != 33 or typed[0] != kind or rest[:9] != key_id.hex() + "+":
        raise Unverified(f"'{vkey}' is not a public key of the format name+id+base64, of type {kind}")
    return name, key_id, typed[1:]


def cosigned_at(witness: Key, signatures: Sequence[tuple[str, bytes]], text: bytes) -> str:
    """Return when ``witness`` cosigned the checkpoint of ``text`` (C2SP cosignature/v1). Raise if it did not."""
    for name, signature in signatures:
        if (name, signature[:4], len(signature)) == (*witness[:2], 76):
            seconds = int.from_bytes(signature[4:12], "big")
            message = b"cosignature/v1\ntime %d\n" % seconds + text
            if seconds < 1 << 40 and is_signed(witness[2], signature[12:], message):
                return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
            raise Unverified(f"the cosignature of {name} is not over this checkpoint")
    raise Unverified(f"the checkpoint is not cosigned by the witness {witness[0]} given with --witness")


def check_checkpoint(
    files: Mapping[str, bytes], vkey: str | None, witnesses: Sequence[str]
) -> tuple[int, bytes, list[str]]:
    """Return size and root of the tree that the bundle's keys have signed, and the lines to print.

    After their signatures come those of witnesses: the ones given in ``witnesses`` have to be there, others may.
    """
    listed = document(files, "keys.json", KEYS)
    keys = [key_of(checked({"key": key}, "key:str", "keys.json")["key"]) for key in listed["keys"]]
    note = re.fullmatch(
        "((.+)\n([1-9][0-9]{0,18})\n(.{44})\n)\n((?:— \\S+ \\S+\n)+)", files["checkpoint"].decode("utf-8", "replace")
    )
    if note is None or note[2] != listed["origin"]:
        raise Unverified("the checkpoint is not a signed note of this log: origin, size, root, signatures")
    parts = [line.split(" ")[1:] for line in note[5].splitlines()]
    signatures = [(name, decoded(encoded, "a signature of the checkpoint")) for name, encoded in parts]
    ids = [(name, signature[:4]) for name, signature in signatures]
    if not keys or ids[: len(keys)] != [key[:2] for key in keys] or len(set(ids)) != len(ids):
        raise Unverified("the checkpoint is not signed by the keys of keys.json, in their order, each once")
    for index, (name, signature) in enumerate(signatures[: len(keys)]):
        if not is_signed(keys[index][2], signature[4:], note[1].encode()):
            raise Unverified(f"the signature of {name} is not over this checkpoint")
    if vkey is not None and key_of(vkey) not in keys:
        raise Unverified("the checkpoint is not signed by the key given with --key")
    lines = [f"checkpoint: {note[2]}, {note[3]} batches, signed by {', '.join(listed['keys'])}"]
    for witness in witnesses:
        seen = cosigned_at(key_of(witness, 4), signatures[len(keys) :], note[1].encode())
        lines.append(f"witness: {witness.partition('+')[0]} cosigned the checkpoint at {seen}")
    return int(note[3]), decoded(note[4], "the root of the tree"), lines


# The content of the files. --------------------------------------------------------------------------------------------

CONTENT = (
    "format:str stream:str casino:str table:str|null gaming_day:str currency:str ruleset:str engine_version:str"
    " readings:dict rule:dict finding:dict kinds:dict difference:int|null written:dict law:list no_text:dict|null"
    " coverage:list|absent corrections:dict|absent"
)
FINDING = (
    "rule:str severity:str seq:int evidence:list wager:str|null expected:int|str|null recorded:int|str|null"
    " provision:str|null after_loss:bool message:dict difference:int|null owed:dict|null player:str|null"
    " croupier:str|null put_right_by:int|null provisions:list caused_by:dict|null causes:list consequences:list"
    " remedy:dict hides:list|absent outcomes:list|absent outcomes_sum:dict|null|absent"
)
LEFT_OUT = {"wager": None, "after_loss": False, "put_right_by": None}
EARLIER: dict[str, Any] = {  # a bundle of engine version 1 has none of these
    **dict.fromkeys(("difference", "owed", "player", "croupier", "caused_by")),
    **{name: [] for name in ("provisions", "causes", "consequences")},
    "remedy": {},
}
ENTRY = (
    "casino:int chain:str count:int first_seq:int key:int last_seq:int next_seq:int received_at:str root:str"
    " signature:str|absent stream:str stream_id:int table:int|null"
)
KEYS = "keys:list origin:str signers:list|absent"
DECISION = "correction:int decision:str officer:str reason:str decided_at:str entry:dict"
CORRECTING = re.compile(r"entry\.(corrected|annulled)|(?!x\.).*\.voided")
AMOUNTS = ("expected", "recorded", "difference")


def manifest_of(files: Mapping[str, bytes]) -> bytes:
    """Return ``MANIFEST.sha256``: a line for every other file, as ``sha256sum`` writes it."""
    others = sorted(files.keys() - {"MANIFEST.sha256"})
    return "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in others).encode()


def check_manifest(files: Mapping[str, bytes]) -> str:
    for name in sorted(FILES - files.keys()):
        raise Unverified(f"{name} is missing")
    for name in sorted(files.keys() - FILES):
        if not name.startswith("law/"):
            raise Unverified(f"{name} is not a file of a bundle")
    if manifest_of(files) != files["MANIFEST.sha256"]:
        here, listed = (
            {line[66:]: line for line in raw.decode("utf-8", "replace").split("\n") if line}
            for raw in (manifest_of(files), files["MANIFEST.sha256"])
        )
        if changed := [name for name in here if here[name] != listed.get(name)]:
            raise Unverified(f"MANIFEST.sha256 lacks the digest of {', '.join(changed)}")
        for name in sorted(listed.keys() - here.keys()):
            raise Unverified(f"{name} is missing, and MANIFEST.sha256 has its digest")
        raise Unverified("MANIFEST.sha256 has a line twice, another order, or another end")
    return f"manifest: {len(files)} files, none missing, none extra, every digest"


def check_events(files: Mapping[str, bytes], stream: str) -> tuple[list[bytes], list[Any]]:
    """Return the lines of ``events.ndjson``, and the events in them."""
    lines = files["events.ndjson"].split(b"\n")
    if lines.pop() or not lines:
        raise Unverified("events.ndjson is truncated")
    events = [parse_json(raw, f"line {number} of events.ndjson") for number, raw in enumerate(lines, start=1)]
    for number, event in enumerate(events):
        given = event if type(event) is dict else {}
        fields = "stream:str seq:int type:str v:int occurred_at:str data:dict"
        fields += " actor:str" * ("actor" in given) + " ext:dict" * ("ext" in given)
        checked(event, fields, f"line {number + 1} of events.ndjson")
        if canonical(event) != lines[number]:
            raise Unverified(f"event {event['seq']} is not in its canonical form")
        if event["stream"] != stream:
            raise Unverified(f"event {event['seq']} is of another stream, {event['stream']}")
    return lines, events


def sealed_entry(batch: Any, size: int, root: bytes) -> Any:
    """Return the entry of a batch, which has to be in the tree."""
    raw = checked(batch, "entry:str index:int path:list", "a batch")["entry"].encode("utf-8", "replace")
    entry = checked(parse_json(raw, "an entry"), ENTRY, "an entry")
    what = f"the batch of event {entry['first_seq']} of {entry['stream']}"
    if canonical(entry) != raw:
        raise Unverified(f"the entry of {what} is not in its canonical form")
    path = [bytes.fromhex(sibling) for sibling in batch["path"]]
    proved = root_by_path(leaf(raw), batch["index"], size, path)
    if not 0 <= batch["index"] < size or proved != root or [each.hex() for each in path] != batch["path"]:
        raise Unverified(f"{what} is not in the tree of the checkpoint")
    return entry


def logged_event(logged: Any, what: str, casino: int, size: int, root: bytes) -> Any:
    """Return an entry of the casino's audit trail, which has to be in the tree."""
    checked(logged, "stream:str seq:int event:str batch:dict", "an entry")
    raw = logged["event"].encode("utf-8", "replace")
    # No table system records an entry (key 0), and each is a batch of its own.
    batch = {"casino": casino, "key": 0, "stream": logged["stream"], "first_seq": logged["seq"], "count": 1}
    batch["root"] = leaf(raw).hex()
    if not batch.items() <= sealed_entry(logged["batch"], size, root).items():
        raise Unverified(f"{what} is not what the audit trail says")
    return parse_json(raw, what)


def check_signers(files: Mapping[str, bytes], casino: int, size: int, root: bytes) -> Iterator[str]:
    """Check that each batch of a table system that signs is signed by the public key that the audit trail says."""
    keys: dict[int, tuple[str, bytes]] = {}
    for signer in document(files, "keys.json", KEYS).get("signers", []):
        number = checked(signer, "key:int entry:dict", "a signer")["key"]
        event = logged_event(signer["entry"], f"the public key of API key {number}", casino, size, root)
        if event["type"] not in ("key.made", "key.rotated") or event["data"]["id"] != number:
            raise Unverified(f"the public key of API key {number} is not what the audit trail says")
        keys[number] = event["data"]["prefix"], decoded(event["data"]["public_key"], "a public key")
    batches, signed = document(files, "batches.json", "batches:list")["batches"], set()
    for batch in batches:
        entry = json.loads(batch["entry"])
        if entry["key"] not in keys and "signature" not in entry:
            continue
        what = f"the batch of event {entry['first_seq']}"
        if entry["key"] not in keys:
            raise Unverified(f"{what} has a signature, and nothing says of which public key")
        prefix, public = keys[entry["key"]]
        content = {"key": prefix, **{name: entry[name] for name in ("count", "first_seq", "root", "stream")}}
        signature = decoded(entry.get("signature", ""), "the signature of a batch")
        if not is_signed(public, signature, b"cabochon-batch/v1\n" + canonical(content)):
            raise Unverified(f"{what} is not signed by its table system, API key {prefix}")
        signed.add(entry["first_seq"])
    if signed:
        yield f"signatures: {len(signed)} of {len(batches)} batches are signed by their table system, as the trail says"


def check_batches(
    files: Mapping[str, bytes], lines: list[bytes], events: list[Any], size: int, root: bytes
) -> tuple[int, str]:
    """Check every batch: its events, its root, the chain, its entry, its path to the root of the tree.

    Return the casino's id in the log, and the line to print.
    """
    batches = document(files, "batches.json", "batches:list")["batches"]
    chain, next_seq, start, last_index, stream_id, casino, before_s = bytes(32), 1, 0, -1, None, 0, 0
    for batch in batches:
        entry = sealed_entry(batch, size, root)
        what = f"the batch of event {entry['first_seq']}"
        end = start + entry["count"]
        if entry["stream"] != events[0]["stream"]:
            raise Unverified(f"the entry of {what} is of another stream")
        if stream_id not in (None, entry["stream_id"]) or entry["first_seq"] != next_seq:
            raise Unverified(f"{what} does not follow the one before it")
        if not start < end <= len(events):
            raise Unverified(f"{what} does not have as many events as its entry says")
        for event in events[start:end]:
            if event["seq"] != next_seq:
                raise Unverified(f"event {event['seq']} is where {next_seq} should be")
            through = event["data"].get("through") if event["type"] == "events.lost" else None
            next_seq = max(next_seq, through if type(through) is int else 0) + 1
        if (entry["last_seq"], entry["next_seq"]) != (events[end - 1]["seq"], next_seq):
            raise Unverified(f"{what} does not end where its entry says")
        batch_root = root_of([leaf(line) for line in lines[start:end]])
        if batch_root.hex() != entry["root"]:
            raise Unverified(f"the events of {what} do not have the root of its entry")
        chain = sha256(chain + batch_root + struct.pack(">qq", entry["first_seq"], entry["count"])).digest()
        if chain.hex() != entry["chain"]:
            raise Unverified(f"the chain of the stream breaks at {what}")
        at_s = calendar.timegm(time.strptime(entry["received_at"][:19], "%Y-%m-%dT%H:%M:%S"))
        if not last_index < batch["index"] or at_s < before_s - 3_600:  # clocks are set, but by less
            raise Unverified(f"{what} lies in the tree before the one before it, or was received long before it")
        start, last_index, before_s, stream_id, casino = end, batch["index"], at_s, entry["stream_id"], entry["casino"]
    if start != len(lines):
        raise Unverified("there are events that are in no batch")
    return (
        casino,
        f"batches: {len(batches)} of {start} events, each with its root, chained, in the tree of the checkpoint",
    )


def check_law(files: Mapping[str, bytes], content: Mapping[str, Any]) -> str:
    for text in content["law"]:
        checked(text, "file:str sha256:str language:str article:str title:str instrument:str quotations:list", "a text")
        raw = files.get(text["file"], b"")
        if sha256(raw).hexdigest() != text["sha256"]:
            raise Unverified(f"{text['file']} is not the text that finding.json names")
        for quotation in text["quotations"]:
            checked(quotation, "start:int end:int words:str", "a quotation")
            start, end = quotation["start"], quotation["end"]
            if not 0 <= start < end or raw.decode()[start:end] != quotation["words"]:
                raise Unverified(f"{text['file']} does not have the quoted words at {start} to {end}")
    if {text["file"] for text in content["law"]} != files.keys() - FILES:
        raise Unverified("the texts of law are not those that the finding quotes")
    return f"law: {len(content['law'])} quoted, each with its digest and its quotations"


def check_finding(content: Mapping[str, Any], events: list[Any]) -> str:
    """Check the finding against the events, and its amounts against their text."""
    finding = checked({**LEFT_OUT, **EARLIER, **content["finding"]}, FINDING, "the finding")
    for name in ("casino", "table", "gaming_day", "currency"):
        if events[0]["data"].get(name) != content[name]:
            raise Unverified(f"{name} is not the one that the first event names")
    evidence = finding["evidence"]
    if sorted(set(evidence)) != evidence or finding["seq"] not in evidence:
        raise Unverified("the events that prove the finding are not in order, or do not include its own")
    if not set(evidence) <= {event["seq"] for event in events}:
        raise Unverified("an event that proves the finding is missing")
    values = {**finding, "difference": content["difference"]}
    if content["difference"] is not None and content["difference"] != finding["recorded"] - finding["expected"]:
        raise Unverified("the difference is not that of the two amounts")
    for name in AMOUNTS:
        for language in ("en", "fr"):
            digits = re.sub(r"\D", "", content["written"][language][name] or "")
            if content["kinds"][name] == "money" and values[name] is not None and int(digits) != abs(values[name]):
                raise Unverified(f"{name} is not the amount in its text")
    readings = content["readings"]
    if readings["values"] is not None and sha256(canonical(readings["values"])).hexdigest() != readings["digest"]:
        raise Unverified("the readings do not have their digest")
    return f"finding: {finding['rule']} at event {finding['seq']}; events {evidence} are there"


def check_decisions(content: Mapping[str, Any], events: list[Any], casino: int, size: int, root: bytes) -> str:
    """Check what officers decided about corrections: each is in the audit trail, and two of them approve."""
    found = content.get("corrections") or {"approved": None, "decisions": []}
    checked(found, "approved:list|null decisions:list", "corrections")
    changes = {event["seq"]: event for event in events if CORRECTING.fullmatch(event["type"])}
    for each in found["decisions"]:
        logged = checked(each, DECISION, "a decision")["entry"]
        what = f"the decision of {each['officer']} about correction {each['correction']} ({each['decision']})"
        data = {"session": content["stream"], "correction": each["correction"], "reason": each["reason"]}
        event = {"stream": logged["stream"], "seq": logged["seq"], "v": 1, "type": f"correction.{each['decision']}"}
        event.update(actor=each["officer"], occurred_at=each["decided_at"], data=data)
        if logged_event(logged, what, casino, size, root) != event:
            raise Unverified(f"{what} is not what the audit trail says")
        change = changes.get(each["correction"])
        by = [] if change is None else [change.get("actor"), change["data"].get("approved_by")]
        if change is None or each["officer"].lower() in [str(person).lower() for person in by]:
            raise Unverified(f"{what} is about no correction here, or one that this officer recorded or approved")
    for seq in found["approved"] or ():
        about = [(each["decision"], each["officer"]) for each in found["decisions"] if each["correction"] == seq]
        if len(set(about)) != 2 or {decision for decision, _ in about} != {"countersigned"}:
            raise Unverified(f"correction {seq} is not countersigned by two officers")
    effect = "every correction took effect" if found["approved"] is None else f"approved are {found['approved']}"
    return f"decisions: {len(found['decisions'])} about corrections, each in the audit trail; {effect}"


def named(finding: Mapping[str, Any]) -> str:
    """Return how a verdict names another finding."""
    wager = f", {finding['wager']}" if finding["wager"] else ""
    return f"{finding['rule']} ({finding['seq']}{wager})"


def check_verdict(files: Mapping[str, bytes], content: Mapping[str, Any], language: str) -> str:
    """Return the verdict's text. It has to contain everything that ``finding.json`` says, in order."""
    finding, amounts = {**EARLIER, **content["finding"]}, content["written"][language]
    expected = [content["rule"]["title"][language], finding["message"][language], *(amounts[name] for name in AMOUNTS)]
    expected += [finding["remedy"].get(language), *(named(cause) for cause in finding["causes"])]
    expected += [named(consequence) for consequence in finding["consequences"]]
    expected += [", ".join(finding["provisions"]) or finding["provision"]]
    expected += [*(quote["words"] for text in content["law"] for quote in text["quotations"])]
    expected += [finding["rule"], *(content[name] for name in ("stream", "casino", "table", "gaming_day"))]
    expected += [str(finding["seq"]), ", ".join(map(str, finding["evidence"])), finding.get("wager")]
    text, at = files[f"verdict.{language}.txt"].decode(), 0
    for part in filter(None, [*expected, content["ruleset"], content["engine_version"]]):
        position = text.find(part, at)
        if position < 0:
            raise Unverified(f"verdict.{language}.txt does not say what finding.json says: {part}")
        at = position + len(part)
    return text


def checks(files: Mapping[str, bytes], vkey: str | None = None, witnesses: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line for each check that holds. Raise ``Unverified`` at the first that does not."""
    try:
        yield check_manifest(files)
        content = document(files, "finding.json", CONTENT)
        if content["format"] != FORMAT:
            raise Unverified(f"the bundle is of the format {content['format']}, this is the verifier of {FORMAT}")
        size, root, of_checkpoint = check_checkpoint(files, vkey, witnesses)
        yield from of_checkpoint
        lines, events = check_events(files, content["stream"])
        yield f"events: {len(events)} of stream {content['stream']}, each in its canonical form"
        casino, line = check_batches(files, lines, events, size, root)
        yield line
        yield from check_signers(files, casino, size, root)
        yield check_decisions(content, events, casino, size, root)
        yield check_finding(content, events)
        yield check_law(files, content)
        yield "verdict, as finding.json has it:"
        yield check_verdict(files, content, "en")
        yield check_verdict(files, content, "fr")
    except (
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        OverflowError,
        OSError,
        struct.error,
    ) as error:
        raise Unverified(f"the bundle is malformed: {error}") from error


_NOT_SHOWN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str) -> str:
    """Escape what moves the cursor, hides or turns text (bidi), ends a line, or has no glyph."""
    return "".join(f"\\u{ord(each):04x}" if unicodedata.category(each) in _NOT_SHOWN else each for each in text)


def main(arguments: list[str]) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    vkey, witnesses, paths = None, [], list(arguments)
    while paths[:1] in (["--key"], ["--witness"]) and len(paths) > 1:
        option, given, *paths = paths
        if option == "--witness":
            witnesses.append(given)
        else:
            vkey = given
    path = Path(paths[0] if paths else ".")
    if len(paths) > 1 or not path.exists() or path.name.startswith("-"):
        print(__doc__)
        return 2
    try:
        files = files_under(path) if path.is_dir() else files_in(path.read_bytes())
        for line in checks(files, vkey, witnesses):
            # A verdict has several lines. Whoever made the bundle chose them, and none looks like one of ours.
            if line.endswith("\n"):
                print("".join(f"  | {printable(each)}\n" for each in line[:-1].split("\n")), flush=True)
            else:
                print(f"ok      {printable(line)}", flush=True)
    except Unverified as reason:
        print(f"FAILED  {printable(str(reason))}")
        return 1
    if vkey is None:
        print("TAKE CARE: this trusts the key in the bundle. Compare it with the one that the operator publishes:")
        print("           " + "\n           ".join(map(printable, json.loads(files["keys.json"])["keys"])))
    print("NOT SIGNED: the finding, its words, and the texts in law/. Adjudicate the events again; compare law/.")
    print("Everything holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
