"""``python -m tests.faults``: schedules beyond those of the test run, or one of them again, on data of its own."""

from __future__ import annotations

import argparse
import os
import sys

import pytest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--schedules", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, help="this schedule alone")
    given = parser.parse_args()
    os.environ["CABOCHON_SCHEDULES"] = str(given.schedules)
    if given.seed is not None:
        os.environ["CABOCHON_SCHEDULE"] = str(given.seed)
    return int(pytest.main(["-q", "-x", "tests/faults/test_crash_points.py"]))


if __name__ == "__main__":
    sys.exit(main())
