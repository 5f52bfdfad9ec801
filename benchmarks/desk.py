"""``python -m benchmarks.desk``: the server time of each page of the desk, over millions of events.

One run on a real PostgreSQL, on its own database. Nights with every irregularity are recorded and replayed as if they
came from table systems; then a signed-in officer requests each page in this process, whose memory is kept as that of a
web server's. The time includes all middleware and excludes network and browser;
*own* is the processor time of this process at the median, without that of PostgreSQL or of whatever else runs.
*changed* is the median of requests each of which follows a change: another officer has taken a case, or released it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks import desk_record
from benchmarks.database import database, kept
from benchmarks.desk_record import nth

DESK = "/admin/audit"

COUPS = 1_200
"""Coups of a night: those of a long one. With fewer, as many events have more findings: 24 a night."""

P95_MS = 100
"""What the 95th percentile of each page may be, and its median just after a change."""

CHANGED = 6
"""Requests of each page that follow a change."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--coups", type=int, default=COUPS, help="of a night; with fewer there are more findings")
    parser.add_argument("--only", metavar="WORD", default="", help="the pages whose name has this word")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument(
        "--keep", metavar="FOLDER", type=Path, help="fill a record that stays, or measure the one there"
    )
    options = parser.parse_args()
    if options.keep:
        with kept(options.keep) as (environment, is_new):
            figures = _run(environment["DATABASE_URL"], options, is_new=is_new)
    else:
        with database() as environment:
            figures = _run(environment["DATABASE_URL"], options, is_new=True)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(max(page["p95_ms"], page["changed_ms"]) <= P95_MS for page in figures["pages"].values()) else 1


def _run(url: str, options: argparse.Namespace, *, is_new: bool) -> dict[str, Any]:
    import django

    django.setup()
    if is_new:
        _fill(url, options)
    else:  # each run leaves rows that were written anew, which PostgreSQL clears away where it has a moment
        _vacuum(url)
    from audit.models import Finding, LoggedEvent

    events, findings = LoggedEvent.objects.count(), Finding.objects.count()
    pages = _pages(options.rounds, options.only)
    table = Table(title=f"Server time of a page, {events:,} events, {findings:,} findings")
    for heading in ("page", "median ms", "p95 ms", "slowest ms", "own ms", "changed ms", "KiB"):
        table.add_column(heading, justify="left" if heading == "page" else "right")
    for name, page in pages.items():
        figures = [f"{page[f'{figure}_ms']:.0f}" for figure in ("median", "p95", "slowest", "own", "changed")]
        table.add_row(name, *figures, str(page["kib"]))
    Console().print(table)
    return {"events": events, "findings": findings, "pages": pages}


def _fill(url: str, options: argparse.Namespace) -> None:
    """Record, replay and seal what the pages show."""
    console = Console(stderr=True)

    def timed(words: str, step: Any, *arguments: Any) -> Any:
        started = time.perf_counter()
        with console.status(words):
            outcome = step(*arguments)
        shown = f": {outcome:,}" if isinstance(outcome, int) else ""
        console.print(f"{words} in {time.perf_counter() - started:,.0f} s{shown}")
        return outcome

    nights = timed("nights simulated", desk_record.play_nights, options.coups)
    timed("events recorded", desk_record.record, nights, options.events)
    timed("replayed", desk_record.replay)
    timed("sealed", desk_record.seal)
    timed("processes of the ledger fed", desk_record.feed_ledger)
    timed("persons named", desk_record.name_everybody)
    timed("vacuumed", _vacuum, url)


def _vacuum(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def _addresses() -> dict[str, str]:
    """Return the pages to request, by name."""
    from audit.desk.findings.queues import HEADS, OPEN
    from audit.models import Finding, LoggedStream

    finding = nth(
        Finding.objects.standing().filter(HEADS, table__isnull=False, case__state__in=OPEN).order_by("-pk"), 100
    )
    stream = nth(LoggedStream.objects.filter(is_of_desk=False).order_by("-pk"), 3)
    return {
        **_of_findings(finding),
        **_of_nights(),
        **_of_tables(stream),
        **_of_persons(finding),
        **_of_rules(finding),
        **_of_the_desk(),
        **_of_decisions(finding),
    }


def _of_findings(finding: Any) -> dict[str, str]:
    from audit.desk.findings.queues import HEADS, OPEN
    from audit.desk.scoped_admin import RecordAdmin
    from audit.models import Finding

    queue = Finding.objects.standing().filter(HEADS, case__state__in=OPEN).count()
    last_page = (queue - 1) // RecordAdmin.list_per_page + 1
    listed = f"{DESK}/finding/"
    return {
        "first page": "/admin/",
        "findings": listed,
        "queue": f"{listed}?queue=open",
        "queue, page 9": f"{listed}?queue=open&p={min(9, last_page)}",
        "by rule": f"{listed}?rule={finding.rule}",
        "by day": f"{listed}?day={finding.gaming_day}",
        "by table": f"{listed}?table={finding.table_id}",
        "in groups": f"{listed}groups/",
        "owed to players": f"{listed}?queue=open&owed=player",
        "of a croupier": f"{listed}?croupier={quote(finding.croupier)}&month={finding.gaming_day:%Y-%m}",
        "finding": f"{listed}{finding.pk}/change/",
        "search": f"/admin/search/?q={quote(finding.croupier or 'T1')}",
        "search for a moment": f"/admin/search/?q={quote(f'T1 23:41 {finding.gaming_day}')}",
        "search for a finding": f"/admin/search/?q=F-{finding.opened_at:%y}-{finding.pk:04d}",
        "search for a name": f"/admin/search/?q={quote('Name of ' + (finding.croupier or 'never-77'))}",
    }


def _of_nights() -> dict[str, str]:
    reconciled = desk_record.reconciled()
    night = f"{DESK}/nightreport/{reconciled.pk}"
    session = reconciled.parsed_content()["sessions"][0]["stream_id"]
    month = f"{reconciled.casino_id}/{reconciled.gaming_day:%Y}/{reconciled.gaming_day.month}/{reconciled.currency}"
    return {
        "nights": f"{DESK}/nightreport/",
        "a night": f"{night}/change/",
        "a session of it": f"{night}/session/{session}/",
        "its month": f"{DESK}/nightreport/month/{month}/",
        "questions": f"{DESK}/ledgerprocess/",
        **_of_processes(),
    }


def _of_processes() -> dict[str, str]:
    from audit.models import LedgerProcess

    longest = LedgerProcess.objects.order_by("-sessions", "pk").first()
    return {"a process": f"{DESK}/ledgerprocess/{longest.pk}/change/"} if longest is not None else {}


def _of_tables(stream: Any) -> dict[str, str]:
    from audit.models import LoggedEvent

    middle = LoggedEvent.objects.filter(stream_id=stream.pk).count() * 3 // 4
    return {
        "streams": f"{DESK}/loggedstream/",
        "events": f"{DESK}/loggedstream/{stream.pk}/events/?after={middle}",
        "table at a moment": f"{DESK}/loggedstream/{stream.pk}/table/?at={middle}",
        "law in a session": f"{DESK}/loggedstream/{stream.pk}/coverage/",
        "tables": f"{DESK}/gamingtable/",
        "a table": f"{DESK}/gamingtable/{stream.table_id}/change/",
    }


def _of_persons(finding: Any) -> dict[str, str]:
    from django.urls import reverse

    from audit.models import Finding, Person

    standing = Finding.objects.standing().filter(gaming_day=finding.gaming_day)
    player = standing.exclude(player="").order_by("pk")[0].player
    known = Person.objects.get(code=player, kind="player")

    def person(role: str, code: str) -> str:
        month = f"?month={finding.gaming_day:%Y-%m}"
        return reverse(f"admin:audit_person_{role}", args=(finding.casino_id, code or "unknown")) + month

    people = f"{DESK}/person/"
    return {
        "people": people,
        "people by incidents": f"{people}?o=-2",
        "people by what is owed": f"{people}?o=-3",
        "people by what was paid too much": f"{people}?o=-4",
        "people by what is owed, page 9": f"{people}?o=-3&p=9",
        "people, least owed first": f"{people}?o=3",
        "people of a name": f"{people}?q=never-77&o=-2",
        "somebody in the directory": f"{people}{known.pk}/change/",
        "a croupier": person("croupier", finding.croupier),
        "a player": person("player", player),
        "a player's money": reverse(
            "admin:audit_person_money", args=(finding.casino_id, finding.gaming_day.isoformat(), player)
        ),
    }


def _of_rules(finding: Any) -> dict[str, str]:
    from django.urls import reverse

    what_if = desk_record.what_if()
    return {
        "rules": reverse("admin:rules"),
        "a rule": reverse("admin:rule", args=(finding.rule,)),
        "a text of law": reverse("admin:law", args=("fr-art-55-7",)),
        "house register": f"{DESK}/registerentry/",
        "a proposal for the register": f"{DESK}/registerentry/add/",
        "what-if runs": f"{DESK}/whatif/",
        "what if, a reading chosen": f"{DESK}/whatif/?reading=payout_unit",
        "a what-if run": f"{DESK}/whatif/{what_if.pk}/change/",
    }


def _of_the_desk() -> dict[str, str]:
    from django.urls import reverse

    return {
        "state of the record": reverse("admin:record_state"),
        "audit trail": "/admin/audit-trail/",
        "failed runs": f"{DESK}/failedrun/",
        "quarantine": f"{DESK}/quarantined/",
        "background jobs": reverse("admin:audit_job_changelist"),
        "settings": reverse("admin:app_list", args=("audit",)),
        "casinos": f"{DESK}/casino/",
        "a casino": f"{DESK}/casino/{_casino_id()}/change/",
        "keys": f"{DESK}/apikey/",
        "subscribers": f"{DESK}/nightsubscriber/",
        "deadlines": f"{DESK}/deadline/",
        "contacts of cases": f"{DESK}/casecontacts/",
        "officers": f"{DESK}/officer/",
    }


def _casino_id() -> int:
    from audit.models import Casino

    return int(Casino.objects.get().pk)


def _of_decisions(finding: Any) -> dict[str, str]:
    from django.urls import reverse

    from audit.models import Correction, Finding

    complaint = desk_record.propose(finding)
    proposed = Finding.objects.standing().filter(heads_case=True, case__state="second")[0]
    correction = Correction.objects.filter(status="standing", facts__waits="waits").order_by("pk").first()
    pages = {
        "to approve": reverse("admin:approve"),
        "a closing to approve": reverse("admin:approve_closing", args=(proposed.pk,)),
        "corrections": f"{DESK}/correction/",
        "complaints": f"{DESK}/complaint/?answered=no",
        "a complaint": f"{DESK}/complaint/{complaint.pk}/change/",
        "a complaint to enter": f"{DESK}/complaint/add/",
    }
    return pages | ({"a correction": f"{DESK}/correction/{correction.pk}/change/"} if correction is not None else {})


def _pages(rounds: int, only: str) -> dict[str, dict[str, Any]]:
    from django.conf import settings
    from django.test import Client

    from audit.models import Officer
    from casino.web import freeze

    settings.ALLOWED_HOSTS = ["*"]
    settings.CABOCHON_PROCESSOR_BURST_S = 1e9  # one officer requests more here than any does
    client = Client()
    officer = Officer.objects.filter(username="bench").first() or Officer.objects.create_superuser(
        "bench", password=None
    )
    client.force_login(officer, backend="django.contrib.auth.backends.ModelBackend")
    pages: dict[str, dict[str, Any]] = {}
    addresses = {name: address for name, address in _addresses().items() if only in name}
    for address in addresses.values():
        client.get(address)
    freeze()
    for name, address in addresses.items():
        times, processor = [], []
        for _ in range(rounds):
            started, own = time.perf_counter(), time.process_time()
            response = client.get(address)
            times.append((time.perf_counter() - started) * 1000)
            processor.append((time.process_time() - own) * 1000)
            assert response.status_code == 200, (name, response.status_code)
            size = len(response.content)
        changed = []
        for _ in range(CHANGED):
            desk_record.change()
            started = time.perf_counter()
            client.get(address)
            changed.append((time.perf_counter() - started) * 1000)
        pages[name] = {
            "median_ms": statistics.median(times),
            "p95_ms": statistics.quantiles(times, n=20)[-1],
            "slowest_ms": max(times),
            "own_ms": statistics.median(processor),
            "changed_ms": statistics.median(changed),
            "kib": size // 1024,
        }
    return pages


if __name__ == "__main__":
    sys.exit(main())
