"""The ZIP of a bundle: every reader reads it, it has one form, and the verifier refuses hostile ones."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.evidence.verify import Unverified, files_in, zip_of

FILES = {"law/fr-art-54.txt": "pièce".encode(), "b": b"", "a": b"\0" * 300}


def by_the_library(members: Iterable[tuple[str, bytes]], *, comment: bytes = b"", **changed: Any) -> bytes:
    """Write a ZIP with the standard library, its members as in a bundle except for ``changed``."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.comment = comment
        for name, raw in members:
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            for field, value in changed.items():
                setattr(info, field, value)
            archive.writestr(info, raw)
    return out.getvalue()


def test_the_library_writes_the_same_bytes() -> None:
    assert zip_of(FILES) == by_the_library(sorted(FILES.items()))


@given(
    st.dictionaries(
        st.from_regex(r"\A(law/)?[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z"), st.binary(max_size=100), min_size=1, max_size=5
    )
)
def test_what_is_packed_is_unpacked_by_us_and_by_the_library(files: dict[str, bytes]) -> None:
    packed = zip_of(files)
    assert files_in(packed) == files
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files


def members(files: dict[str, bytes] = FILES) -> list[tuple[str, bytes]]:
    return sorted(files.items())


HOSTILE = {
    "compressed": by_the_library(members(), compress_type=zipfile.ZIP_DEFLATED),
    "a bomb": by_the_library([("a", bytes(10_000_000))], compress_type=zipfile.ZIP_DEFLATED),
    "a comment": by_the_library(members(), comment=b"look here"),
    "an extra field": by_the_library(members(), extra=struct.pack("<HH4s", 0x9999, 4, b"evil")),
    "another day": by_the_library(members(), date_time=(2026, 11, 19, 0, 0, 0)),
    "another mode": by_the_library(members(), external_attr=0o100755 << 16),
    "a link": by_the_library(members(), external_attr=0o120777 << 16),
    "another system": by_the_library(members(), create_system=0),
    "another order": by_the_library(members()[::-1]),
    "a name twice": by_the_library([("a", b"1"), ("a", b"2")]),
    "a path to the parent": by_the_library([("../a", b"")]),
    "a path to the parent below law": by_the_library([("law/../../a", b"")]),
    "an absolute path": by_the_library([("/etc/passwd", b"")]),
    "a drive": by_the_library([("C:a", b"")]),
    "a backslash": by_the_library([("law\\a", b"")]),
    "a hidden file": by_the_library([(".profile", b"")]),
    "a name that is not ASCII": by_the_library([("é", b"")]),
    "a folder": by_the_library([("law/", b"")]),
    "bytes before": b"\0" + zip_of(FILES),
    "bytes after": zip_of(FILES) + b"\0",
    "two ZIPs": zip_of(FILES) + zip_of(FILES),
    "half a ZIP": zip_of(FILES)[: len(zip_of(FILES)) // 2],
    "a header alone": zip_of(FILES)[:20],
    "no directory": zip_of(FILES)[: zip_of(FILES).index(b"PK\1\2")],
    "no bytes": b"",
    "no ZIP": b"%PDF-1.7 something else",
}


def commented() -> bytes:
    """Return a ZIP whose first file has a comment in the central directory."""
    out = io.BytesIO(zip_of(FILES))
    with zipfile.ZipFile(out, "a") as archive:
        archive.infolist()[0].comment = b"x"
        archive._didModify = True  # so that the directory is rewritten
    return out.getvalue()


HOSTILE["a comment of a file"] = commented()


@pytest.mark.parametrize("name", HOSTILE)
def test_every_other_zip_is_refused(name: str) -> None:
    with pytest.raises(Unverified):
        files_in(HOSTILE[name])


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_and_raise_nothing_else(noise: bytes) -> None:
    for archive in (noise, b"PK\3\4" + noise, zip_of(FILES)[: len(noise)] + noise):
        if archive != zip_of(FILES):
            with pytest.raises(Unverified):
                files_in(archive)


@given(st.data())
def test_a_wrong_length_is_refused(data: st.DataObject) -> None:
    whole = bytearray(zip_of(FILES))
    offset = data.draw(st.sampled_from([14, 18, 22, 26, 28]), "CRC, packed, size, name and extra length")
    value = data.draw(st.integers(0, 65_535))
    was = struct.unpack_from("<H", whole, offset)[0]
    struct.pack_into("<H", whole, offset, value)
    if value != was:
        with pytest.raises(Unverified):
            files_in(bytes(whole))
