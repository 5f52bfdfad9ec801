"""How many subjects a casino says that a year will have: its ledger shares the levels of the year among so many.

    manage.py ledger --expect ─► ledger.expected in the audit trail ─► read when the year begins, kept with its budget

It is stated before the year begins, or before the casino has played at all, so it depends on no draw of the year. The
newest entry about a subject holds; 0 takes back what was stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import Casino, LedgerCursor, LoggedStream, Officer
from settlement.eprocess.budget import SUBJECTS

EXPECTED = "ledger.expected"

MOST = 100_000
"""Subjects that a casino may say it has: a level that is shared among more is hardly one."""


class ExpectedRefused(Exception):
    """Nothing is noted; the message says why."""


def say(officer: Officer, casino: Casino, year: int, stated: Mapping[str, int], *, reason: str) -> None:
    """Note how many subjects a year will have, by subject, with an entry of the audit trail for each.

    Raise ``ExpectedRefused``: without the right, without a reason, for a year that has begun or is not the next.
    """
    reason = audit_trail.cleaned(reason)
    if not officer.is_superuser:
        raise ExpectedRefused(f"{officer.get_username()} is no superuser: nobody else sets the levels of a casino.")
    if not reason:
        raise ExpectedRefused("Give a reason.")
    for subject, number in stated.items():
        if subject not in SUBJECTS:
            raise ExpectedRefused(f"No process is about a '{subject}'. There are: {'; '.join(sorted(SUBJECTS))}.")
        if not 0 <= number <= MOST:
            raise ExpectedRefused(f"Say from 1 to {MOST:,} of a '{subject}', or 0 to take back what was stated.")
    with transaction.atomic():
        LedgerCursor.objects.get_or_create(casino=casino)
        LedgerCursor.objects.select_for_update().get(casino=casino)  # no year begins meanwhile
        now = timezone.now().astimezone(ZoneInfo(casino.time_zone)).year
        has_played = LoggedStream.objects.filter(casino=casino, is_of_desk=False).exists()
        if year not in ((now + 1,) if has_played else (now, now + 1)):
            raise ExpectedRefused(
                f"{year} has begun, or is not the next year: its levels must not depend on its draws."
            )
        entry = {"year": year, "reason": reason}
        datas = [{**entry, "subject": subject, "subjects": number} for subject, number in stated.items()]
        audit_trail.record_all(officer.get_username(), EXPECTED, casino_id=casino.pk, datas=datas)


def stated_of(casino: Casino, year: int) -> dict[str, int]:
    """Return how many subjects the casino has said that a year has, by subject."""
    # A day more on either side: the trail has the days of UTC.
    entries = audit_trail.entries_of_type(casino.pk, EXPECTED, date(year - 2, 12, 31), date(year + 1, 1, 1))
    newest = {entry.data["subject"]: entry.data["subjects"] for entry in entries if entry.data["year"] == year}
    return {subject: number for subject, number in newest.items() if number}
