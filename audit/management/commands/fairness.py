"""``manage.py fairness FILE``: what the ledger's processes make of published spins of a wheel. Needs no database.

FILE, compressed by xz, gzip or bzip2 or not at all, has a run of consecutive spins on each line, separated by commas.
It is read line by line: memory does not grow with its length.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from settlement.eprocess.process import UNIT
from settlement.eprocess.spins import LONGEST_LINE, Block, NotASpin, blocks_of, runs_of
from settlement.layouts import LAYOUT_37, LAYOUT_38

LAYOUTS = {37: LAYOUT_37, 38: LAYOUT_38}

OPENERS: Mapping[bytes, Callable[..., Any]] = {b"\xfd7zXZ\x00": lzma.open, b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
"""By what a compressed file begins with."""


class Command(BaseCommand):
    help = "Show the wealth of e-processes over published spins, block by block, and where it raises an alarm."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a run of consecutive spins on each line, separated by commas")
        parser.add_argument("--pockets", type=int, choices=sorted(LAYOUTS), default=37)
        parser.add_argument("--block", type=int, default=9_000, help="spins of a block; 0: all are one")
        parser.add_argument("--wealth", type=_from_two, default=1_000, help="an alarm is raised at this wealth")
        parser.add_argument("--alarms", action="store_true", help="show blocks with an alarm only, and the sum")

    def handle(self, *args: Any, **options: Any) -> None:
        layout, wealth = LAYOUTS[options["pockets"]], options["wealth"]
        alarms: dict[str, int] = {}
        blocks: dict[str, int] = {}
        try:
            with _opened(options["file"]) as lines:
                for block in blocks_of(runs_of(lines, layout), layout, block=options["block"]):
                    is_alarm = block.reaches(wealth)
                    blocks[block.kind] = blocks.get(block.kind, 0) + 1
                    alarms[block.kind] = alarms.get(block.kind, 0) + is_alarm
                    if is_alarm or not options["alarms"]:
                        self.stdout.write(_line(block) + (" ALARM" if is_alarm else ""))
        except (OSError, NotASpin) as error:
            raise CommandError(str(error)) from error
        for kind, number in blocks.items():
            self.stdout.write(
                f"{kind}: {counted(alarms[kind], 'alarm')} in {counted(number, 'block')} at wealth {wealth:,};"
                f" if the wheel is fair, {float(Fraction(number, wealth)):.3f} or fewer on average"
            )


def _from_two(text: str) -> int:
    wealth = int(text)
    if wealth < 2:
        raise argparse.ArgumentTypeError("wealth begins with 1: the least is 2")
    return wealth


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[str]]:
    """Open a file by what it begins with, whatever its name, and yield its lines."""
    with path.open("rb") as raw:
        begins = raw.read(max(map(len, OPENERS)))
    opener = next((each for magic, each in OPENERS.items() if begins.startswith(magic)), open)
    with opener(path, "rb") as file:
        yield _lines(file)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file, a very long one cut off. Raise ``NotASpin`` with the number of what is no text."""
    number = 0
    while True:
        number += 1
        try:
            line = file.readline(LONGEST_LINE + 1)
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise NotASpin(f"Line {number}: this is no text.") from None
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise NotASpin(f"Line {number}: {error}") from error
        if not line:
            return
        yield text


def _line(block: Block) -> str:
    wealth, highest = (f"{float(Fraction(each, UNIT)):,.3g}" for each in (block.evidence, block.highest))
    return f"{block.kind:<20} spins {block.first:>9,} to {block.last:>9,}  wealth {wealth:>8}  highest {highest:>8}"
