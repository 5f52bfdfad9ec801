"""``python -m benchmarks.desk``: the server time of each page of the desk, over millions of events.

One run on a real PostgreSQL, on its own database. Nights with every irregularity are recorded and replayed as if they
came from table systems; then a signed-in officer requests each page in this process, whose memory is kept as that of a
web server's. The time includes all middleware and excludes network and browser.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks.database import database

TABLES = 40
BATCH = 1_000
COUPS = 1_200
MEDIAN_MS, P95_MS = 50, 100
"""What the median and the 95th percentile of each page may be."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    options = parser.parse_args()
    with database() as environment:
        figures = _run(environment["DATABASE_URL"], options)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return (
        0
        if all(page["median_ms"] <= MEDIAN_MS and page["p95_ms"] <= P95_MS for page in figures["pages"].values())
        else 1
    )


def _run(url: str, options: argparse.Namespace) -> dict[str, Any]:
    import django

    django.setup()
    console = Console(stderr=True)
    started = time.perf_counter()
    with console.status("recording"):
        events = _record(options.events)
    console.print(f"{events:,} events recorded in {time.perf_counter() - started:,.0f} s")
    started = time.perf_counter()
    with console.status("replaying"):
        _replay()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    from audit.models import Finding

    findings = Finding.objects.count()
    console.print(f"replayed in {time.perf_counter() - started:,.0f} s: {findings:,} findings")
    pages = _pages(options.rounds)
    table = Table(title=f"Server time of a page, {events:,} events, {findings:,} findings")
    for heading in ("page", "median ms", "p95 ms", "slowest ms", "KiB"):
        table.add_column(heading, justify="left" if heading == "page" else "right")
    for name, page in pages.items():
        figures = (f"{page['median_ms']:.0f}", f"{page['p95_ms']:.0f}", f"{page['slowest_ms']:.0f}", str(page["kib"]))
        table.add_row(name, *figures)
    Console().print(table)
    return {"events": events, "findings": findings, "pages": pages}


def _record(target: int) -> int:
    """Record about ``target`` events and return how many: the same few nights, each time under another name and day."""
    from django.db import connection

    from audit.ingest.bodies import Body
    from audit.ingest.record import record
    from audit.models import ApiKey, Casino, GamingTable, KeyScope
    from audit.simulation import IRREGULARITIES, RULESET_NAMES, play

    casino = Casino.objects.create(code="bench", name="Bench")
    for index in range(TABLES):
        GamingTable.objects.create(casino=casino, code=f"T{index}")
    key, _secret = ApiKey.make(casino=casino, name="bench", scopes=list(KeyScope.values))
    nights = []
    for ruleset in RULESET_NAMES:
        day = date(2010, 1, 1)
        night = play(
            ruleset, casino="bench", code="T0", gaming_day=day, seed=1, coups=COUPS, irregularities=list(IRREGULARITIES)
        )
        lines = [json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() for event in night.events]
        nights.append((night.stream.encode(), lines))

    def send(number: int) -> int:
        name, lines = nights[number % len(nights)]
        stream = f"bench.{number}"
        gaming_day = date(2010, 1, 1) + timedelta(days=number // TABLES)
        dates = [(gaming_day + timedelta(days=offset)).isoformat().encode() for offset in range(2)]
        for low in range(0, len(lines), BATCH):
            batch = [
                line.replace(b'"' + name + b'"', b'"%b"' % stream.encode())
                .replace(b"2010-01-02", dates[1])
                .replace(b"2010-01-01", dates[0])
                for line in lines[low : low + BATCH]
            ]
            if low == 0:
                batch[0] = batch[0].replace(b'"T0"', b'"T%d"' % (number % TABLES))
            record(key, stream, Body(b"", batch, "", b"[" + b",".join(batch) + b"]"))
        connection.close()
        return len(lines)

    events_a_night = sum(len(lines) for _name, lines in nights) / len(nights)
    with ThreadPoolExecutor(4) as threads:
        return sum(threads.map(send, range(max(1, round(target / events_a_night)))))


def _replay() -> None:
    from django.db import connection

    from audit.models import LoggedStream

    ids = list(LoggedStream.objects.filter(is_of_desk=False).values_list("pk", flat=True))
    connection.close()
    with ProcessPoolExecutor(2) as workers:
        list(workers.map(_replay_one, ids, chunksize=4))


def _replay_one(stream_id: int) -> None:
    from audit.adjudication.replay import advance

    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def _reconciled() -> Any:
    """Reconcile the middle one of all nights and return its report."""
    from audit.models import Casino, LoggedStream
    from audit.reconciliation import runs

    days = sorted(set(LoggedStream.objects.filter(is_of_desk=False).values_list("gaming_day", flat=True)))
    return runs.reconcile(Casino.objects.get(), days[len(days) // 2], actor="benchmark")[0]


def _what_if() -> Any:
    """Return a what-if run over one night, under another reading."""
    from audit.adjudication import what_if as what_if_runs
    from audit.adjudication.what_if import Selection
    from audit.models import LoggedStream

    day = _nth(LoggedStream.objects.filter(is_of_desk=False).order_by("-pk"), TABLES).gaming_day
    run = what_if_runs.begin(
        "five", readings={"payout_unit": 5}, selection=Selection(first_day=day, last_day=day), actor="benchmark"
    )
    for stream_id in what_if_runs.streams_of(run):
        what_if_runs.replay_one(run, stream_id)
    what_if_runs.end(run)
    return run


def _nth(rows: Any, index: int) -> Any:
    """Return the row at ``index``, or the last one if there are fewer."""
    return rows[min(index, rows.count() - 1)]


def _addresses() -> dict[str, str]:
    """Return the pages to request, by name."""
    from django.urls import reverse

    from audit.desk.findings.queues import HEADS, OPEN
    from audit.desk.scoped_admin import RecordAdmin
    from audit.models import Finding, LoggedStream

    finding = _nth(Finding.objects.standing().filter(table__isnull=False).order_by("-pk"), 100)
    stream = _nth(LoggedStream.objects.filter(is_of_desk=False).order_by("-pk"), 3)
    queue = Finding.objects.standing().filter(HEADS, case__state__in=OPEN).count()
    last_page = (queue - 1) // RecordAdmin.list_per_page + 1
    reconciled = _reconciled()
    what_if = _what_if()
    desk = "/admin/audit"
    night = f"{desk}/nightreport/{reconciled.pk}"
    session = reconciled.parsed_content()["sessions"][0]["stream_id"]
    month = f"{reconciled.casino_id}/{reconciled.gaming_day:%Y}/{reconciled.gaming_day.month}/{reconciled.currency}"
    addresses = {
        "first page": "/admin/",
        "findings": f"{desk}/finding/",
        "queue": f"{desk}/finding/?queue=open",
        "queue, page 9": f"{desk}/finding/?queue=open&p={min(9, last_page)}",
        "by rule": f"{desk}/finding/?rule={finding.rule}",
        "by day": f"{desk}/finding/?day={finding.gaming_day}",
        "by table": f"{desk}/finding/?table={finding.table_id}",
        "in groups": f"{desk}/finding/groups/",
        "finding": f"{desk}/finding/{finding.pk}/change/",
        "streams": f"{desk}/loggedstream/",
        "events": f"{desk}/loggedstream/{stream.pk}/events/?after=9000",
        "table": f"{desk}/loggedstream/{stream.pk}/table/?at=9000",
        "audit trail": "/admin/audit-trail/",
        "quarantine": f"{desk}/quarantined/",
        "nights": f"{desk}/nightreport/",
        "a night": f"{night}/change/",
        "a session of it": f"{night}/session/{session}/",
        "its month": f"{desk}/nightreport/month/{month}/",
        "what-if runs": f"{desk}/whatif/",
        "a what-if run": f"{desk}/whatif/{what_if.pk}/change/",
        "background jobs": reverse("admin:audit_job_changelist"),
        "keys": f"{desk}/apikey/",
        "tables": f"{desk}/gamingtable/",
        "officers": f"{desk}/officer/",
    }
    return addresses | _addresses_about(finding)


def _addresses_about(finding: Any) -> dict[str, str]:
    """Return the pages of the persons, the rule and the day of a finding, and those that are one for all."""
    from django.urls import reverse

    from audit.models import Finding

    desk = "/admin/audit"
    player = (
        Finding.objects.standing().filter(gaming_day=finding.gaming_day).exclude(player="").order_by("pk")[0].player
    )

    def person(role: str, code: str) -> str:
        month = f"?month={finding.gaming_day:%Y-%m}"
        return reverse(f"admin:audit_person_{role}", args=(finding.casino_id, code or "unknown")) + month

    return {
        "owed to players": f"{desk}/finding/?queue=open&owed=player",
        "of a croupier": f"{desk}/finding/?croupier={quote(finding.croupier)}&month={finding.gaming_day:%Y-%m}",
        "search": f"/admin/search/?q={quote(finding.croupier or 'T1')}",
        "to approve": reverse("admin:approve"),
        "a croupier": person("croupier", finding.croupier),
        "a player": person("player", player),
        "a player's money": reverse(
            "admin:audit_person_money", args=(finding.casino_id, finding.gaming_day.isoformat(), player)
        ),
        "rules": reverse("admin:rules"),
        "a rule": reverse("admin:rule", args=(finding.rule,)),
        "settings": reverse("admin:app_list", args=("audit",)),
        "questions": f"{desk}/ledgerprocess/",
        "state of the record": reverse("admin:record_state"),
    }


def _pages(rounds: int) -> dict[str, dict[str, Any]]:
    from django.conf import settings
    from django.test import Client

    from audit.models import Officer
    from casino.gunicorn import post_worker_init

    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    officer = Officer.objects.create_superuser("bench", password=None)
    client.force_login(officer, backend="django.contrib.auth.backends.ModelBackend")
    pages: dict[str, dict[str, Any]] = {}
    addresses = _addresses()
    for address in addresses.values():
        client.get(address)
    post_worker_init(None)
    for name, address in addresses.items():
        times = []
        for _ in range(rounds):
            started = time.perf_counter()
            response = client.get(address)
            times.append((time.perf_counter() - started) * 1000)
            assert response.status_code == 200, (name, response.status_code)
            size = len(response.content)
        pages[name] = {
            "median_ms": statistics.median(times),
            "p95_ms": statistics.quantiles(times, n=20)[-1],
            "slowest_ms": max(times),
            "kib": size // 1024,
        }
    return pages


if __name__ == "__main__":
    sys.exit(main())
