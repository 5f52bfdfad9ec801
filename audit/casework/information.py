"""The nightly list of information: what opens no case is read once by one officer, who signs it.

    a finding for information without a case ──► the list of its casino and gaming day ──► information.signed

A finding that comes to stand after a signature is on the list again, alone. A finding that has a case is on none.
Goodwill from the casino's amount on stands first, and whoever signs confirms it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.actions import ActionRefused
from audit.event_store import audit_trail
from audit.models import FIRST_SANDBOX_ID, Finding, InformationSigning, Officer
from audit.models.adjudication import Severity
from audit.presentation import reference
from settlement.catalogue.sentences import minor_units

SIGNED = "information.signed"

GOODWILL = "goodwill-paid"

OF_MONEY = (
    *("offsetting-players", "threshold-splitting", "minimal-play"),
    *("chips-from-elsewhere", "chips-pooled", "chips-outstanding"),
)
"""The questions about persons' money that open no case. They stand after large goodwill, before all other rules."""

LISTED = Q(severity=Severity.INFO, case=None, stream__lt=FIRST_SANDBOX_ID)
"""True of a finding that is read on the nightly list: information that opened no case."""


def listed(casinos: Collection[int], since: date, until: date | None = None) -> QuerySet[Finding]:
    """Return the standing findings of the lists of ``casinos``, from one gaming day to another, by default to now."""
    of_days = Q(gaming_day__gte=since) if until is None else Q(gaming_day__range=(since, until))
    return Finding.objects.standing().filter(LISTED, of_days, casino__in=casinos)


def unsigned(casinos: Collection[int], since: date, until: date | None = None) -> QuerySet[Finding]:
    """Return those of ``listed`` that no officer has signed."""
    read = (
        "select unnest(s.findings) from audit_informationsigning s where s.casino_id = any(%s) and s.gaming_day >= %s"
    )
    return listed(casinos, since, until).exclude(pk__in=RawSQL(read, (list(casinos), since)))


def to_read_first(casinos: Collection[int], since: date) -> list[Finding]:
    """Return what nobody has signed and the overview names: questions about money and large goodwill, newest first."""
    rows = unsigned(casinos, since).filter(rule__in=(*OF_MONEY, GOODWILL)).select_related("casino", "table")
    return [each for each in rows.order_by("-gaming_day", "pk") if each.rule in OF_MONEY or is_large(each)]


def is_large(finding: Finding) -> bool:
    """Return whether a finding is about goodwill of the casino's amount or more."""
    given = finding.recorded
    if finding.rule != GOODWILL or not isinstance(given, int):
        return False
    return given >= minor_units(finding.casino.priority_threshold, finding.currency)


def digest_of(findings: Iterable[int]) -> str:
    """Return what an entry says of the ids of findings: SHA-256 of them in order, with a comma between, as hex."""
    return sha256(",".join(map(str, sorted(findings))).encode()).hexdigest()


def sign(officer: Officer, casino_id: int, day: date, digest: str, *, confirms: bool = False) -> InformationSigning:
    """Sign what a list has that nobody has signed: what the officer has read, of which ``digest`` is.

    ``confirms`` says that the officer confirms its large goodwill. Raise ``ActionRefused``: nothing is stored.
    """
    if not Scope.of(officer, Capability.WORK_CASES).includes(casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    with transaction.atomic():
        _hold(casino_id, day)
        ids = sorted(unsigned([casino_id], day, day).values_list("pk", flat=True))
        if not ids:
            raise ActionRefused(_("There is nothing to sign: another officer has signed it."))
        if digest_of(ids) != digest:
            raise ActionRefused(_("The list has changed in the meantime. Read it again."))
        goodwill = Finding.objects.filter(pk__in=ids, rule=GOODWILL).select_related("casino").order_by("pk")
        large = [reference(each) for each in goodwill if is_large(each)]
        if large and not confirms:
            raise ActionRefused(_("Confirm the large goodwill payments."))
        now = datetime.now(UTC)
        signing = InformationSigning.objects.create(
            casino_id=casino_id, gaming_day=day, findings=ids, digest=digest, signed_by=officer, signed_at=now
        )
        data: dict[str, Any] = {
            "signing": signing.pk,
            "gaming_day": day.isoformat(),
            "findings": len(ids),
            "digest": digest,
            "at": now.isoformat(),
            **({"confirmed": large} if large else {}),
        }
        audit_trail.record(officer.get_username(), SIGNED, casino_id=casino_id, data=data)
    return signing


def _hold(casino_id: int, day: date) -> None:
    """Let nobody else sign the list of a night until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select pg_advisory_xact_lock(hashtextextended('audit.information', %s))",
            [casino_id * 10**7 + day.toordinal()],
        )
