"""``manage.py welcome``: a first officer and a first, simulated night; prints where the desk is. Idempotent."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from rich.console import Console
from rich.panel import Panel

from audit.event_store import read
from audit.models import ApiKey, Casino, Finding, GamingTable, KeyScope, LoggedStream, Officer
from audit.simulation import tables_for
from settlement import ENGINE_VERSION

CASINO = "deauville"
SHOWN_RULE = "dice-changed-during-point-series"
TIMEOUT_S = 120


class Command(BaseCommand):
    help = "Create an officer's account and, in an empty event store, a simulated night; print where the desk is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000", help="where the web server answers")
        parser.add_argument("--tables", type=int, default=12, help="tables of the simulated night; 0 for none")

    def handle(self, *args: Any, **options: Any) -> None:
        url: str = options["url"].rstrip("/")
        console = Console()
        password = self._officer()
        self._wait_for_web(url)
        unfinished = Path(settings.DATA_DIR) / "first-night-unfinished"
        if options["tables"] and (unfinished.exists() or not LoggedStream.objects.filter(is_of_desk=False).exists()):
            unfinished.touch()
            self._simulate(url, options["tables"])
            unfinished.unlink()
        self._wait_for_replay(console)
        lines = [f"The desk         {url}{reverse('admin:index')}", f"Officer          officer   password  {password}"]
        finding = Finding.objects.standing().filter(rule=SHOWN_RULE).order_by("pk").first()
        if finding is not None:
            address = reverse("admin:audit_finding_change", args=(finding.pk,))
            lines.append(f"A finding        {url}{address}")
        lines.append(f"API docs         {url}{reverse('docs')}")
        console.print(Panel("\n".join(lines), title="Cabochon", border_style="green", expand=False), soft_wrap=True)
        console.print("Ctrl-C stops everything. Started again, it keeps its data.", style="dim")

    def _officer(self) -> str:
        """Return the password of the first officer, created on the first run in a file that only its owner can read."""
        path = Path(settings.DATA_DIR) / "officer-password"
        officer = Officer.objects.filter(username="officer").first()
        if officer is not None:
            is_unchanged = path.exists() and officer.check_password(path.read_text())
            return path.read_text() if is_unchanged else "(as you set it)"
        password = secrets.token_urlsafe(9)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(password)
        Officer.objects.create_superuser("officer", password=password)
        return password

    def _wait_for_web(self, url: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{url}/health/accepts", timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        raise CommandError(f"The web server does not answer at {url}.")

    def _simulate(self, url: str, tables: int) -> None:
        casino, _created = Casino.objects.get_or_create(
            code=CASINO, defaults={"name": "Casino de Deauville (simulated)"}
        )
        for code in tables_for(tables):
            GamingTable.objects.get_or_create(casino=casino, code=code)
        scopes = [KeyScope.EVENTS_WRITE, KeyScope.EVENTS_BACKFILL]  # the nights of Québec are of 2010
        _key, secret = ApiKey.make(casino=casino, name="simulated tables", scopes=list(map(str, scopes)))
        subprocess.run(
            [
                *(sys.executable, "manage.py", "simulate", "--casino", CASINO, "--tables", str(tables)),
                *("--seed", "1", "--irregularities", "all", "--post", url, "--key", secret, "--names"),
            ],
            check=True,
        )

    def _wait_for_replay(self, console: Console) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        with console.status("Replaying the night …"):
            while read.dirty_streams(ENGINE_VERSION, limit=1):
                if time.monotonic() > deadline:
                    raise CommandError(f"The night is not replayed after {TIMEOUT_S} s; see the workers' logs.")
                time.sleep(0.3)
