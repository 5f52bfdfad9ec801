"""``python -m tests.faults``: plays more schedules than ``make faults``, or one of them again, on a new database."""

from __future__ import annotations

import argparse
import os
import sys

import pytest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--schedules", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, help="play this schedule only")
    args = parser.parse_args()
    os.environ["CABOCHON_SCHEDULES"] = str(args.schedules)
    if args.seed is not None:
        os.environ["CABOCHON_SCHEDULE"] = str(args.seed)
    return int(pytest.main(["-q", "-x", "-m", "", "tests/faults/test_crash_points.py"]))


if __name__ == "__main__":
    sys.exit(main())
