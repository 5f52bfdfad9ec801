"""``manage.py welcome``: the first officers and, in an empty record, a simulated month; prints where the desk is.

    officers ─► a night, replayed, and a case half-way ─► the desk's URL
             ─► the last two nights, reconciled, of which one is left to sign ─► the rest of the month

The nights take the way of any table system: they are posted to the API, replayed by the workers, reconciled by the
night worker. Interrupted anywhere and run again, it goes on where it was. It never adds to a record with events of a
casino that is not simulated.
"""

from __future__ import annotations

import os
import secrets
import time
import urllib.request
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rich.panel import Panel

from audit import task_queue
from audit.access import casino_settings, keys
from audit.casework.actions import perform
from audit.casework.priority import by_urgency
from audit.event_store import audit_trail, read
from audit.event_store.audit_trail import address_mark
from audit.management.counted import counted
from audit.management.terminal import BaseCommand, Console
from audit.models import (
    ApiKey,
    Case,
    CaseContacts,
    Casino,
    Finding,
    GamingTable,
    KeyScope,
    LoggedStream,
    Membership,
    NightReport,
    NightRun,
    Officer,
    Role,
)
from audit.models.cases import Outcome, State
from audit.models.nights import NightState
from audit.reconciliation.versions import SignatureRefused, add_signoff_exception, missing_signoff_exceptions, sign
from audit.simulation import first_run
from audit.simulation.month import SHOWN, VENUES, MonthNight, Venue, codes_of, nights_of, play
from audit.simulation.people import fill_directory
from audit.simulation.posting import Post, PostRejected, in_turn
from settlement import ENGINE_VERSION

KEY_NAME = "simulated tables"
BATCH = 500
TIMEOUT_S = 120
LOOK_AGAIN_S = 0.3

COLLEAGUES = (
    ("claire.moreau", "Claire", "Moreau", Role.SECOND),
    ("paul.delacroix", "Paul", "Delacroix", Role.DIRECTOR),
)
"""Two officers beside the first, because closing a case and signing a night need two people."""

RESERVE = "Des agents s’en occupent déjà."
"""Why a colleague signs a night although something of it is open. The officers write French: so do their casinos."""

PROPOSAL = (
    "La vidéo confirme l’enregistrement. Rectifié à l’ouverture suivante de la table ; le croupier a été informé."
)


class Command(BaseCommand):
    help = "Create the first officers and, in an empty record, a simulated month; print where the desk is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000", help="where the web server answers")
        parser.add_argument("--tables", type=int, default=9, help="tables of the simulated month; 0 for none")
        parser.add_argument("--nights", type=int, default=30, help="nights of the simulated month; 0 for none")

    def handle(self, *args: Any, **options: Any) -> None:
        url: str = options["url"].rstrip("/")
        console = Console()
        password = self._officer("officer")
        self._wait_for_web(url)
        plan = first_run.plan()
        is_simulated = options["tables"] > 0 and options["nights"] > 0
        if plan is None and is_simulated and not LoggedStream.objects.filter(is_of_desk=False).exists():
            plan = first_run.begin(tables=options["tables"], nights=options["nights"], now=timezone.now())
        lines = [f"The desk         {url}{reverse('admin:index')}", f"Officer          officer   password  {password}"]
        if plan is None:
            self._wait_for_replay(console)
            self._print(console, url, lines)
            return
        self._casinos(plan)
        lines += [
            f"{role.label.capitalize():<17}{name}   password  {self._officer(name, first, last, role)}"
            for name, first, last, role in COLLEAGUES
        ]
        if plan.is_done:
            self._print(console, url, lines)
            return
        codes = [venue.code for venue in VENUES]
        for key in ApiKey.objects.filter(casino__code__in=codes, name=KEY_NAME, revoked_at=None):
            self._revoke(key)  # of a run that was interrupted: nobody has its secret
        nights = list(nights_of(plan.last_day, tables=plan.tables, number=plan.nights))
        # A night more of each casino than is reconciled at first: without it, no float of the night before is known.
        first = min(len(nights), (first_run.FIRST_NIGHTS + 1) * sum(bool(venue.share) for venue in VENUES) + 1)
        console.print(
            f"The desk answers at {url}{reverse('admin:index')}: officer, password {password}", highlight=False
        )
        try:
            self._load(console, url, plan, nights[:1])
            self._propose_closing(console)
            self._print(console, url, lines)
            os.nice(10)  # the desk comes before the rest of the month
            self._load(console, url, plan, nights[1:first])
            self._reconcile_all(console, nights[:first], of=nights)
            self._sign_nights(plan)
            for number in range(first, len(nights)):
                self._load(console, url, plan, nights[number : number + 1])
                self._reconcile_all(console, nights[: number + 1], of=nights)
            self._sign_nights(plan)
        except PostRejected as rejection:
            raise CommandError(str(rejection)) from None
        if first_run.is_of_others():
            console.print("A casino of yours sends events: nothing simulated is added any more.")
        else:
            console.print("The month is loaded.", style="dim")
        first_run.Plan(plan.last_day, plan.tables, plan.nights, is_done=True).keep()

    def _officer(self, username: str, first_name: str = "", last_name: str = "", role: Role | None = None) -> str:
        """Return the password of an officer, created on the first run in a file that only its owner can read."""
        path = Path(settings.DATA_DIR) / f"{username}-password"
        officer = Officer.objects.filter(username=username).first()
        if officer is not None:
            is_unchanged = path.exists() and officer.check_password(path.read_text())
            self._appoint(officer, role)
            return path.read_text() if is_unchanged else "(as you set it)"
        password = secrets.token_urlsafe(9)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(password)
        if role is None:
            Officer.objects.create_superuser(username, password=password)
            return password
        with transaction.atomic():
            officer = Officer.objects.create_user(
                username, password=password, first_name=first_name, last_name=last_name, is_staff=True
            )
            self._appoint(officer, role)
        return password

    def _appoint(self, officer: Officer, role: Role | None) -> None:
        """Give an officer a role at every simulated casino where they have none."""
        if role is None or officer.memberships.exists():
            return
        for casino in Casino.objects.filter(code__in=[venue.code for venue in VENUES]):
            Membership(officer=officer, casino=casino, role=role).save()

    def _wait_for_web(self, url: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{url}/health/accepts", timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        raise CommandError(f"The web server does not answer at {url}.")

    def _casinos(self, plan: first_run.Plan) -> None:
        for venue in VENUES:
            defaults = {"name": venue.name, "time_zone": venue.zone}
            casino = Casino.objects.filter(code=venue.code).first()
            if casino is None:
                casino = Casino(code=venue.code, **defaults)
                casino_settings.store(keys.COMMAND, "added", casino)
            registered = set(GamingTable.objects.filter(casino=casino).values_list("code", flat=True))
            for code in codes_of(venue, plan.tables):
                if code not in registered:
                    casino_settings.store(keys.COMMAND, "added", GamingTable(casino=casino, code=code))
            self._video_room(casino)

    def _video_room(self, casino: Casino) -> None:
        """Give a casino a video room, so that officers can ask it for the video; its address is nobody's."""
        if CaseContacts.objects.filter(casino=casino).exists():
            return
        with transaction.atomic():
            contacts = CaseContacts.objects.create(casino=casino, video_room=f"video@{casino.code}.example")
            stated = {"address": address_mark(contacts.video_room), "deputy": ""}
            entry = {"id": contacts.pk, "named": str(casino), "fields": ["casino", "video_room"], **stated}
            audit_trail.record(audit_trail.account_name(), "casecontacts.added", casino_id=casino.pk, data=entry)

    def _load(self, console: Console, url: str, plan: first_run.Plan, nights: list[tuple[Venue, date]]) -> None:
        """Load what is not loaded yet of ``nights``. Stop if a real casino sends events."""
        posts: dict[str, Post] = {}
        keys: list[ApiKey] = []
        try:
            for venue, day in nights:
                if first_run.is_of_others():
                    return
                casino = Casino.objects.get(code=venue.code)
                if not first_run.is_loaded(venue, day):
                    if venue.code not in posts:
                        key, posts[venue.code] = self._post(casino, url)
                        keys.append(key)
                    played = play(venue, day, plan.last_day, tables=plan.tables, number=plan.nights)
                    self._send(posts[venue.code], casino, played)
                    events = sum(len(session.events) for session in played.sessions)
                    done = first_run.progress(plan)
                    console.print(
                        f"{venue.name}, {day:%d %b %Y}: {counted(events, 'event')}; "
                        f"night {done.loaded} of {done.planned}",
                        highlight=False,
                        style="dim",
                    )
        finally:
            for post in posts.values():
                post.close()
            for key in keys:
                self._revoke(key)

    def _reconcile_all(
        self, console: Console, loaded: list[tuple[Venue, date]], *, of: list[tuple[Venue, date]]
    ) -> None:
        """Reconcile the nights whose night before is loaded, and those that have none: so no later one reopens them.

        The oldest first: a night is held against the closing floats of the one before.
        """
        if first_run.is_of_others():
            return
        for venue, day in sorted(loaded, key=lambda each: each[1]):
            before = (venue, day - timedelta(days=1))
            if before in loaded or before not in of:
                self._reconcile(console, Casino.objects.get(code=venue.code), day)

    def _post(self, casino: Casino, url: str) -> tuple[ApiKey, Post]:
        scopes = [KeyScope.EVENTS_WRITE, KeyScope.EVENTS_BACKFILL]  # most nights are of other days than today
        key, secret = keys.make(keys.COMMAND, casino=casino, name=KEY_NAME, scopes=list(map(str, scopes)))
        return key, Post(url, secret)

    def _revoke(self, key: ApiKey) -> None:
        keys.revoke(keys.COMMAND, [key.pk], reason="loaded")

    def _send(self, post: Post, casino: Casino, played: MonthNight) -> None:
        """Post a night, and its count when all its sessions are stored: that it is stored says the night is."""
        counts = [] if played.count is None else [played.count]
        fill_directory(casino, [*played.sessions, *counts], seed=1)
        for nights in (played.sessions, counts):
            for night, events in in_turn(nights, BATCH):
                post.send(night.stream, events)

    def _reconcile(self, console: Console, casino: Casino, day: date) -> None:
        """Have a night replayed and reconciled, and wait for it; what takes too long, the sweeps finish."""
        reports = NightReport.objects.filter(casino=casino, gaming_day=day)
        if reports.exists():
            return
        self._wait_for_replay(console)
        deadline = time.monotonic() + TIMEOUT_S
        task_queue.send(task_queue.NIGHT_RECONCILE, casino_id=casino.pk, day=day.isoformat())
        with console.status(f"Reconciling the night of {day:%d %b} …"):
            while (
                NightRun.objects.filter(casino=casino, gaming_day=day, ended_at=None).exists() or not reports.exists()
            ):
                if time.monotonic() > deadline:
                    return
                time.sleep(LOOK_AGAIN_S)

    def _propose_closing(self, console: Console) -> None:
        """Let a colleague propose to close the most urgent incident, once: another officer is to decide."""
        colleague = Officer.objects.filter(username=COLLEAGUES[0][0]).first()
        if colleague is None or Case.objects.filter(state__in=(State.SECOND, State.CLOSED)).exists():
            return
        self._wait_for_replay(console)
        casinos = Casino.objects.filter(code=VENUES[0].code)
        waiting = Finding.objects.standing().filter(casino__in=casinos, case__state=State.NEW)
        finding = by_urgency(waiting).first()
        if finding is None or finding.case_id is None:
            return
        with transaction.atomic():
            perform(finding.case_id, colleague, "take")
            perform(finding.case_id, colleague, "propose", reason=PROPOSAL, outcome=Outcome.CONFIRMED)

    def _sign_nights(self, plan: first_run.Plan) -> None:
        """Have two colleagues sign every night but the last one of the first casino: that one is to be signed."""
        officers = [Officer.objects.filter(username=name).first() for name, *_rest in COLLEAGUES]
        simulated = NightReport.objects.filter(casino__code__in=[venue.code for venue in VENUES])
        others = simulated.exclude(casino__code=VENUES[0].code, gaming_day=plan.last_day)
        for report in others.exclude(state=NightState.CLOSED).order_by("gaming_day", "pk"):
            if not report.is_newest():
                continue
            for officer in filter(None, officers):
                try:
                    for code in missing_signoff_exceptions(report):
                        add_signoff_exception(report, code, RESERVE, officer=officer)
                    if report.reviewed_by_id != officer.pk:
                        report = sign(report, officer=officer)
                except SignatureRefused:
                    break  # it stays to be signed, and its page says why

    def _print(self, console: Console, url: str, lines: list[str]) -> None:
        standing = Finding.objects.standing()
        finding = standing.filter(rule=SHOWN).order_by("pk").first() or by_urgency(standing).first()
        if finding is not None:
            address = reverse("admin:audit_finding_change", args=(finding.pk,))
            lines = [*lines, f"A finding        {url}{address}"]
        lines = [*lines, f"API docs         {url}{reverse('docs')}"]
        console.print(Panel("\n".join(lines), title="Cabochon", border_style="green", expand=False), soft_wrap=True)
        console.print("Ctrl-C stops everything. Started again, it keeps its data.", style="dim")

    def _wait_for_replay(self, console: Console) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        with console.status("Replaying …"):
            while read.dirty_streams(ENGINE_VERSION, limit=1):
                if time.monotonic() > deadline:
                    raise CommandError(f"The night is not replayed after {TIMEOUT_S} s; see the workers' logs.")
                time.sleep(LOOK_AGAIN_S)
