"""``python -m tests.faults``: plays schedules on databases of its own, two processes side by side.

python -m tests.faults                               10,000 interleavings in one process each
python -m tests.faults --schedules 500 --seed 7000   those of the seeds 7000 to 7499
python -m tests.faults --schedules 1 --seed 7012     one of them again
python -m tests.faults --processes --schedules 5000  those in which whole processes are killed
"""

from __future__ import annotations

import argparse
import os
import sys

import pytest


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schedules", type=int, default=10_000, metavar="N", help="how many, one a seed")
    parser.add_argument("--seed", type=int, metavar="S", help="the first seed; with --processes, the only one")
    parser.add_argument("--processes", action="store_true", help="kill processes instead: tests/faults/schedule.py")
    args = parser.parse_args()
    os.environ["CABOCHON_SCHEDULES"] = str(args.schedules)
    if args.processes:
        if args.seed is not None:
            os.environ["CABOCHON_SCHEDULE"] = str(args.seed)
        return int(pytest.main(["-q", "-x", "-m", "", "tests/faults/test_crash_points.py"]))
    os.environ["CABOCHON_SEED"] = str(args.seed or 0)
    side_by_side = ["-n", "2"] if args.schedules > 1 else []
    chosen = ["-m", "soak", "tests/faults/test_interleavings.py"]
    return int(pytest.main(["-q", "-x", "--show-capture=no", *side_by_side, *chosen]))


if __name__ == "__main__":
    sys.exit(main())
