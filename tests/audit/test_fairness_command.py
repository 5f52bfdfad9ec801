"""``manage.py fairness``: alarms over published spins, block by block."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from settlement.eprocess.spins import blocks_of, runs_of
from settlement.layouts import LAYOUT_37


def printed(file: Path, *arguments: str) -> list[str]:
    out = StringIO()
    call_command("fairness", str(file), *arguments, stdout=out)
    return out.getvalue().splitlines()


def spins(number: int, pockets: int = 37) -> str:
    chance = random.Random(6)
    return "\n".join(",".join(str(chance.randrange(pockets)) for _ in range(20)) for _ in range(number // 20))


def test_fair_spins_raise_no_alarm_and_every_block_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "spins.txt"
    file.write_text(spins(1_400))
    lines = printed(file, "--block", "900")
    assert [line.split()[0] for line in lines[:6]] == ["wheel", "wheel-displacement", "wheel-memory"] * 2
    assert "spins       901 to     1,400" in lines[3]
    assert lines[6:] == [
        f"{kind}: 0 alarms in 2 blocks at wealth 1,000; if the wheel is fair, 0.002 or fewer on average"
        for kind in ("wheel", "wheel-displacement", "wheel-memory")
    ]
    assert printed(file, "--block", "900", "--alarms") == lines[6:]


def test_a_wheel_without_its_upper_half_raises_an_alarm(tmp_path: Path) -> None:
    file = tmp_path / "spins.txt.xz"
    file.write_bytes(lzma.compress(spins(600, pockets=19).encode()))
    lines = printed(file, "--block", "0", "--alarms")
    assert lines[0].startswith("wheel ")
    assert lines[0].endswith(" ALARM")
    assert "wheel: 1 alarm in 1 block at" in lines[-3]


def test_a_wheel_of_38_pockets_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "spins.txt"
    file.write_text("1,00,3")
    with pytest.raises(CommandError, match="Line 1: '00' is no pocket"):
        printed(file)
    assert "wheel: 0 alarms" in printed(file, "--pockets", "38")[-3]


def test_what_cannot_be_read_is_an_error_and_not_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        printed(tmp_path / "nothing.txt")
    (tmp_path / "broken.xz").write_bytes(b"not compressed")
    with pytest.raises(CommandError):
        printed(tmp_path / "broken.xz")
    (tmp_path / "one.txt").write_text("1")
    with pytest.raises(CommandError, match="the least is 2"):
        printed(tmp_path / "one.txt", "--wealth", "1")


@pytest.mark.parametrize("compress", [bytes, lzma.compress, gzip.compress, bz2.compress])
def test_a_file_is_opened_by_what_it_has_and_not_by_its_name(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    text, file = spins(100), tmp_path / "spins.data"
    file.write_bytes(compress(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()))
    (tmp_path / "plain.txt").write_text(text)
    assert printed(file) == printed(tmp_path / "plain.txt")


@pytest.mark.parametrize(
    "content, error",
    [
        (b"1,2\n3,,4\n", "Line 2: '' is no pocket of a wheel with 37"),
        (b"1,2\n3;4\n", "Line 2: '3;4' is no pocket"),
        (b"1,2\n\n\xff\xfe\n", "Line 3: this is no text"),
        (gzip.compress(b"1,2\n" * 5_000)[:-20], "Line [0-9]+: .*"),
        (lzma.compress(spins(2_000).encode())[:-40], "Line [0-9]+: .*"),
        (b"1," * 600_000, "Line 1: more than 1048576 characters"),
    ],
    ids=["empty", "semicolon", "bytes", "gzip cut", "xz cut", "endless"],
)
def test_a_broken_line_is_named_by_its_number(tmp_path: Path, content: bytes, error: str) -> None:
    file = tmp_path / "spins"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=error):
        printed(file)


def test_memory_does_not_grow_with_the_length_of_a_file() -> None:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for number in range(1, 400):
            read = number
            yield "1,2,3,4,5,6,7,8,9,10"

    blocks = blocks_of(runs_of(lines(), LAYOUT_37), LAYOUT_37, block=600)
    next(blocks)
    assert read <= 61, "the lines of the first block only, and none of the next"
