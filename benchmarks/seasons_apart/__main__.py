"""Write seasons as JSON lines: ``python -m benchmarks.seasons_apart --seeds 10 --out FOLDER``.

Each season has four files: ``N.events.jsonl`` with a stream in each line, ``N.planted.jsonl`` with the frauds,
``N.duties.jsonl`` with the croupiers' shifts, ``N.deeds.jsonl`` with what each fraud did and the honest mistakes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from random import Random

from benchmarks.seasons_apart import FRAUDS, season


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many seasons, of the seeds 1, 2, …")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--frauds", nargs="*", choices=FRAUDS, help="those given; otherwise --some of all, drawn anew")
    parser.add_argument("--some", type=int, default=6, help="how many frauds are drawn for a season")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(1, args.seeds + 1):
        drawn = Random(f"{seed}/frauds").sample(list(FRAUDS), args.some)
        one = season(seed, nights=args.nights, tables=args.tables, frauds=drawn if args.frauds is None else args.frauds)
        with (args.out / f"{seed}.events.jsonl").open("w") as file:
            for stream in one.streams:
                file.write(json.dumps(stream._asdict()) + "\n")
        written = {
            "planted": [asdict(each) for each in one.planted],
            "duties": [each._asdict() for each in one.duties],
            "deeds": [each._asdict() for each in one.deeds],
        }
        for name, rows in written.items():
            (args.out / f"{seed}.{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
