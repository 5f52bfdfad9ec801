"""Published spins: read by run, looked at by block."""

from __future__ import annotations

import random

import pytest

from settlement.eprocess.process import UNIT
from settlement.eprocess.spins import NotASpin, batches_of, blocks_of, runs_of
from settlement.layouts import LAYOUT_37, LAYOUT_38


def test_a_line_is_a_run_of_pockets_by_their_position_on_the_wheel() -> None:
    assert list(runs_of(["0,32, 15\n", "\n", "26"], LAYOUT_37)) == [[0, 1, 2], [36]]
    assert list(runs_of(["00"], LAYOUT_38)) == [[LAYOUT_38.wheel.index("00")]]


@pytest.mark.parametrize("line", ["1,37", "1,,2", "x", "00"])
def test_what_is_no_pocket_is_reported_with_its_line(line: str) -> None:
    with pytest.raises(NotASpin, match="Line 2"):
        list(runs_of(["1,2", line], LAYOUT_37))


def test_runs_are_put_together_until_they_are_a_batch_and_never_divided() -> None:
    runs = [[1] * 4, [2] * 4, [3] * 20, [4]]
    assert list(batches_of(runs, 5)) == [[[1] * 4, [2] * 4], [[3] * 20], [[4]]]


def test_blocks_follow_each_other_and_begin_anew() -> None:
    chance = random.Random(3)
    runs = [[chance.randrange(37) for _ in range(100)] for _ in range(25)]
    blocks = [block for block in blocks_of(runs, LAYOUT_37, block=900) if block.kind == "wheel"]
    assert [(block.first, block.last) for block in blocks] == [(1, 900), (901, 1_800), (1_801, 2_500)]
    [alone] = [block for block in blocks_of(runs[9:18], LAYOUT_37, block=0) if block.kind == "wheel"]
    assert (alone.evidence, alone.highest) == (blocks[1].evidence, blocks[1].highest)
    assert not any(block.reaches(1_000) for block in blocks)


def test_a_croupier_who_aims_raises_the_alarm_of_the_displacement() -> None:
    chance = random.Random(4)
    run = [0]
    for _ in range(900):
        step = chance.randrange(9) if chance.random() < 0.3 else chance.randrange(37)
        run.append((run[-1] + step) % 37)
    blocks = {
        block.kind: block for block in blocks_of([run[at : at + 150] for at in range(0, 900, 150)], LAYOUT_37, block=0)
    }
    assert blocks["wheel-displacement"].reaches(1_000)
    assert not blocks["wheel"].reaches(1_000)
    assert blocks["wheel-displacement"].highest >= blocks["wheel-displacement"].evidence > UNIT


def test_no_spins_are_no_block() -> None:
    assert list(blocks_of([], LAYOUT_37, block=9_000)) == []
