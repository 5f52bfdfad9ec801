"""``python -m benchmarks.history``: the dry run of an import, its duration and the memory of its process.

It writes a file of ``--rows`` rows to the folder for temporary files, sessions of 1,000 events at two tables, and has
``manage.py import --dry-run`` read, prove and judge it against an empty record. The spool is in the same folder.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.database import ROOT, database

MAPPING = ROOT / "docs" / "import-example.toml"

EVENTS = 1_000
"""Events of a session: its first and its last one, and coups of four between them."""

_COUP = ("EINSATZ;{n};Rot;;10,00;;p1", "ABSAGE;;;;;;", "KUGEL;;;1;;;", "AUSZAHLUNG;{n};;;10,00;10,00;")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows: int = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder, database(CABOCHON_MONTHS_A_DAY="10000"):
        file = Path(folder) / "history.csv"
        with file.open("w") as lines:
            lines.write("Tisch;Tag;Sitzung;Zeit;Art;Nr;Wette;Zahlen;Betrag;Zurueck;Spieler\n")
            for session in range(rows // EVENTS):
                lines.writelines(_session(session))
        megabytes = file.stat().st_size / 1e6
        key = _key()
        from django.core.management import call_command

        began = time.monotonic()
        call_command("import", str(file), mapping=MAPPING, key=key, dry_run=True)
        seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{rows:,} rows, {megabytes:,.0f} MB: {seconds:,.0f} s, {rows / seconds:,.0f} rows/s, peak {peak:,.0f} MiB"
        )
    return 0


def _key() -> str:
    import django

    django.setup()
    from audit.models import ApiKey, Casino, GamingTable, KeyScope

    casino = Casino.objects.create(code="deauville", name="bench")
    for table in ("R1", "R2"):
        GamingTable.objects.create(casino=casino, code=table)
    return ApiKey.make(casino=casino, name="bench", scopes=list(KeyScope.values))[0].prefix


def _session(number: int) -> Iterator[str]:
    opened = datetime(2012, 1, 1, 12) + timedelta(days=number // 2)  # noqa: DTZ001  (the mapping has the zone)
    name = f"R{number % 2 + 1};{opened:%d.%m.%Y};{number}"
    body = [line.format(n=f"w{coup}") for coup in range((EVENTS - 2) // len(_COUP)) for line in _COUP]
    rest = ["ABSAGE;;;;;;"] * (EVENTS - 2 - len(body))
    for second, row in enumerate(["AUF;;;;50.000,00;;", *body, *rest, "ZU;;;;50.000,00;;"]):
        yield f"{name};{opened + timedelta(seconds=20 * second):%d.%m.%Y %H:%M:%S};{row}\n"


if __name__ == "__main__":
    sys.exit(main())
