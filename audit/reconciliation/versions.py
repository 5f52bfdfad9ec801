"""Versions of a report: made when what it says has changed, signed by two, never rewritten.

    open ─► counting ─► provisional ─► reviewed (first signature) ─► closed (second, another officer)

The first three say how complete a version was when it was made; a later version is another row. Only the newest
version is signed. Closing in spite of a gap, a missing count or an open critical finding takes a reservation for each,
named and signed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import Finding, NightReport, NightState, Officer, SignoffException
from audit.reconciliation.content import content_of, digest, written
from audit.reconciliation.gaming_days import has_ended
from audit.reconciliation.night import Night
from audit.reconciliation.restatement import sheet_between
from settlement import ENGINE_VERSION

NEEDS_SIGNOFF_EXCEPTION = ("gap", "session-open", "count-missing", "critical-open", "not-sealed")
"""What a report can be closed in spite of, each with a reservation."""

MAX_WORDS = 2_000


class SignatureRefused(Exception):
    """The report cannot be signed so; ``code`` says why, ``missing`` what still needs a reservation."""

    def __init__(self, code: str, missing: list[str] | None = None) -> None:
        super().__init__(f"{code}: {', '.join(missing or [])}")
        self.code = code
        self.missing = missing or []


def version_of(night: Night, *, actor: str, now: datetime) -> tuple[NightReport, bool]:
    """Return the newest version of a night, and whether it was made now, because it says something new."""
    with transaction.atomic():
        # One writer at a time for a house: two runs at once would make two versions of one number.
        type(night.casino).objects.select_for_update(no_key=True).get(pk=night.casino.pk)
        before = NightReport.newest(night.casino, night.day, night.currency)
        content = content_of(night, before)
        content["needs"] = needs_of(night)
        says = digest(content)
        if before is not None and before.digest == says and before.engine_version == ENGINE_VERSION:
            return before, False
        head = night.head
        content["watermark"] = {"size": head.size if head else 0, "root": head.root.hex() if head else ""}
        content["version"] = before.version + 1 if before else 1
        report = NightReport.objects.create(
            casino=night.casino,
            gaming_day=night.day,
            currency=night.currency,
            version=content["version"],
            state=_state(night, now),
            tree_size=content["watermark"]["size"],
            tree_root=content["watermark"]["root"],
            engine_version=ENGINE_VERSION,
            content=written(content),
            digest=says,
            through={str(stream_id): last for stream_id, last in sorted(night.through.items())},
            sheet=sheet_between(before, content, night) if before else [],
            made_by=actor,
        )
        _record(report, actor, "night.reported")
    return report, True


def needs_of(night: Night) -> list[str]:
    """Return what the report can only be closed in spite of."""
    needs = []
    if any(sitting.figures.lost or sitting.faults for sitting in night.sittings):
        needs.append("gap")
    if any(not sitting.figures.closed_by for sitting in night.sittings):
        needs.append("session-open")
    if any(sitting.drop is None for sitting in night.sittings):
        needs.append("count-missing")
    if any(finding.severity == "critical" for finding in night.findings):
        needs.append("critical-open")
    if any(not sitting.is_sealed for sitting in night.sittings):
        needs.append("not-sealed")
    return needs


def _state(night: Night, now: datetime) -> NightState:
    is_open = any(not sitting.figures.closed_by for sitting in night.sittings)
    if is_open or not has_ended(night.casino, night.day, now):
        return NightState.OPEN
    if any(sitting.drop is None for sitting in night.sittings):
        return NightState.COUNTING
    return NightState.PROVISIONAL


def add_signoff_exception(report: NightReport, code: str, reason: str, *, officer: Officer) -> SignoffException:
    """Take on oneself that a report is closed in spite of ``code``. Raise ``SignatureRefused``."""
    reason = reason.strip()
    if code not in report.said()["needs"]:
        raise SignatureRefused("exception-not-needed", [code])
    if not reason or len(reason) > MAX_WORDS or "\0" in reason:
        raise SignatureRefused("reason-missing", [code])
    with transaction.atomic():
        locked = _locked(report)
        if locked.state == NightState.CLOSED:
            raise SignatureRefused("closed")
        made, is_new = SignoffException.objects.get_or_create(
            report=locked, code=code, defaults={"reason": reason, "officer": officer}
        )
        if not is_new:
            raise SignatureRefused("exception-already-signed", [code])
        _record(locked, officer.get_username(), "night.reserved", code=code, reason=reason)
    return made


def sign(report: NightReport, *, officer: Officer, now: datetime | None = None) -> NightReport:
    """Put an officer's signature under a report: the first reviews it, the second closes it.

    Raise ``SignatureRefused``.
    """
    try:
        return _sign(report, officer, now or timezone.now())
    except SignatureRefused as refused:
        _record(report, officer.get_username(), "night.signature_refused", code=refused.code)
        raise


def _sign(report: NightReport, officer: Officer, now: datetime) -> NightReport:
    with transaction.atomic():
        locked = _locked(report)
        if not locked.is_newest():
            raise SignatureRefused("restated")
        if locked.state == NightState.CLOSED:
            raise SignatureRefused("closed")
        if not has_ended(locked.casino, locked.gaming_day, now):
            raise SignatureRefused("day-not-over")
        missing = missing_signoff_exceptions(locked)
        if missing:
            raise SignatureRefused("needs-signoff-exceptions", missing)
        if locked.reviewed_by_id is None:
            locked.state, locked.reviewed_by, locked.reviewed_at = NightState.REVIEWED, officer, now
        elif locked.reviewed_by_id == officer.pk:
            raise SignatureRefused("another-officer")
        else:
            locked.state, locked.closed_by, locked.closed_at = NightState.CLOSED, officer, now
        locked.save(update_fields=["state", "reviewed_by", "reviewed_at", "closed_by", "closed_at"])
        _record(locked, officer.get_username(), f"night.{locked.state}")
    return locked


def missing_signoff_exceptions(report: NightReport) -> list[str]:
    """Return what of a report's needs nobody has taken on himself yet."""
    settled = set(report.signoff_exceptions.values_list("code", flat=True))
    if not _has_open_critical_case(report):
        settled.add("critical-open")
    return [code for code in report.said()["needs"] if code not in settled]


def _has_open_critical_case(report: NightReport) -> bool:
    """Tell whether two officers have not closed every case of a critical finding of the night yet."""
    critical = Finding.objects.filter(
        casino=report.casino,
        gaming_day=report.gaming_day,
        currency=report.currency,
        severity="critical",
        superseded_at=None,
    )
    return critical.exclude(case__state="closed").exists()


def _locked(report: NightReport) -> NightReport:
    return NightReport.objects.select_for_update(of=("self",)).select_related("casino").get(pk=report.pk)


def _record(report: NightReport, actor: str, type: str, **data: Any) -> None:
    reason = data.pop("reason", "")
    audit_trail.record(
        actor,
        type,
        casino_id=report.casino_id,
        data={
            "gaming_day": report.gaming_day.isoformat(),
            "currency": report.currency,
            "version": report.version,
            "digest": report.digest,
            **data,
        },
        reason=reason,
    )
