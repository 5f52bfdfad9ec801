"""Versions of a report: created when its content changes, signed by two officers, never rewritten.

    open ─► counting ─► provisional ─► reviewed (first signature) ─► closed (second, by another officer)

The first three say how complete a version was when it was created; a later version is another row. Only the newest
version is signed. A report with a gap, a missing count or an open critical finding can only be signed with a sign-off
exception for each: its code, a reason, and the officer who accepts it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit.access.keepers import same_hands
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Casino, Finding, NightReport, NightState, Officer, SignoffException
from audit.reconciliation.content import build_content, canonical_json, digest
from audit.reconciliation.gaming_days import has_ended
from audit.reconciliation.night import Night
from audit.reconciliation.restatement import restatement_rows
from settlement import ENGINE_VERSION

OF_A_VERSION = ("version", "watermark")
"""What content has in addition to the night: its number, and the tree as it was."""


class SignatureRefused(Exception):
    """The officer cannot sign this report. ``code`` says why, ``missing`` names what needs a sign-off exception."""

    def __init__(self, code: str, missing: list[str] | None = None) -> None:
        super().__init__(f"{code}: {', '.join(missing or [])}")
        self.code = code
        self.missing = missing or []


def create_version(night: Night, *, actor: str, now: datetime) -> tuple[NightReport, bool]:
    """Return the newest version of a night, and whether it is new. A version is created only if its content differs.

    One that an officer has signed stays the newest while its money and its findings are the same, though cases of it
    were closed, or claims paid, since: what was signed is what stood, and the desk shows the cases as they are now.
    """
    with transaction.atomic():
        # One writer per casino at a time: two runs at once would create two versions with one number.
        Casino.objects.select_for_update(no_key=True).get(pk=night.casino.pk)
        before = NightReport.newest(night.casino, night.day, night.currency)
        content = build_content(night, before)
        content["needs"] = needs_of(night)
        content_digest = digest(content)
        if before is not None and before.digest == content_digest:  # the engine's version is part of the content
            return before, False
        if before is not None and before.reviewed_by_id is not None and _differs_in_cases_alone(before, content):
            return before, False
        head = night.head
        content["watermark"] = {"size": head.size if head else 0, "root": head.root.hex() if head else ""}
        content["version"] = before.version + 1 if before else 1
        report = NightReport.objects.create(
            casino=night.casino,
            gaming_day=night.day,
            currency=night.currency,
            version=content["version"],
            state=_completeness(night, now),
            tree_size=content["watermark"]["size"],
            tree_root=content["watermark"]["root"],
            engine_version=ENGINE_VERSION,
            content=canonical_json(content),
            digest=content_digest,
            through={str(stream_id): last for stream_id, last in sorted(night.through.items())},
            sheet=restatement_rows(before, content, night) if before else [],
            made_by=actor,
        )
        _record(report, actor, "night.reported", state=str(report.state), kept=kept_root(report))
    return report, True


def kept_root(report: NightReport) -> str:
    """Return the SHA-256 of what a version is made with and never changes, as hex: the log keeps it."""
    created = {
        "casino": report.casino.code,
        "gaming_day": report.gaming_day.isoformat(),
        "currency": report.currency,
        "version": report.version,
        "tree_size": report.tree_size,
        "tree_root": report.tree_root,
        "engine_version": report.engine_version,
        "content": hashlib.sha256(bytes(report.content)).hexdigest(),
        "digest": report.digest,
        "through": report.through,
        "sheet": report.sheet,
        "made_at": report.made_at.astimezone(UTC).isoformat(),
        "made_by": report.made_by,
    }
    return hashlib.sha256(canonical_json(created)).hexdigest()


def digest_of(report: NightReport) -> str:
    """Return the digest that the content of a version has: what its ``digest`` should be."""
    return digest({key: value for key, value in report.parsed_content().items() if key not in OF_A_VERSION})


def _differs_in_cases_alone(before: NightReport, content: Mapping[str, Any]) -> bool:
    """Whether content has the money and the findings of a version, and only its cases, deadlines or payments differ."""
    return digest(_without_cases(before.parsed_content())) == digest(_without_cases(content))


def _without_cases(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return content with how many findings stand of each rule, whatever became of their cases and their claims."""
    lines = [
        {**line, "verdict": "", "rows": sorted(map(_standing, line["rows"]))} if line["code"] == "findings" else line
        for line in content["lines"]
    ]
    of_cases = (*OF_A_VERSION, "worst")  # the largest debt, which a payment makes smaller
    return {key: value for key, value in content.items() if key not in of_cases} | {"lines": lines}


def _standing(row: Mapping[str, Any]) -> tuple[str, int]:
    """Return the rule of a row of line 10, and its findings, those whose cases are closed included."""
    facts = row["facts"]
    return facts.get("rule", ""), row["found"] + facts.get("closed", 0)


def needs_of(night: Night) -> list[str]:
    """Return the codes of the shortcomings that a signature needs a sign-off exception for."""
    sessions = night.sessions
    needs = {
        "gap": any(session.figures.lost or session.faults for session in sessions),
        "session-open": any(not session.figures.closed_by for session in sessions),
        "count-missing": any(session.drop is None for session in sessions),
        "critical-open": any(finding.severity == "critical" for finding in night.findings),
        "not-sealed": any(not session.is_sealed for session in sessions),
    }
    return [code for code, is_needed in needs.items() if is_needed]


def _completeness(night: Night, now: datetime) -> NightState:
    """Return the state that a new version has before anybody signs it."""
    is_open = any(not session.figures.closed_by for session in night.sessions)
    if is_open or not has_ended(night.casino, night.day, now):
        return NightState.OPEN
    if any(session.drop is None for session in night.sessions):
        return NightState.COUNTING
    return NightState.PROVISIONAL


def add_signoff_exception(report: NightReport, code: str, reason: str, *, officer: Officer) -> SignoffException:
    """Sign a report's shortcoming ``code`` in an officer's name. Raise ``SignatureRefused``."""
    reason = audit_trail.as_typed(reason).strip()
    if code not in report.parsed_content()["needs"]:
        raise SignatureRefused("exception-not-needed", [code])
    if not reason or reason != audit_trail.cleaned(reason):
        raise SignatureRefused("reason-missing", [code])
    added = _perform(report, officer, "night.reserved", code=code, reason=reason)
    return SignoffException.objects.get(pk=added["id"])


def sign(
    report: NightReport, *, officer: Officer, now: datetime | None = None, under_review: Sequence[str] = ()
) -> NightReport:
    """Sign a report: the first signature reviews it, the second, by another officer, closes it.

    ``under_review`` are the references of the questions about persons that were open: the entry names them.
    A refusal is recorded in the audit trail. Raise ``SignatureRefused``.
    """
    try:
        return _sign(report, officer, now or timezone.now(), under_review)
    except SignatureRefused as refused:
        _record(report, officer.get_username(), "night.signature_refused", code=refused.code)
        raise


def _sign(report: NightReport, officer: Officer, now: datetime, under_review: Sequence[str]) -> NightReport:
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
        if locked.reviewed_by_id == officer.pk:
            raise SignatureRefused("another-officer")
        if locked.reviewed_by is not None and same_hands(locked.reviewed_by, officer):
            raise SignatureRefused("same-hands")
        type = "night.reviewed" if locked.reviewed_by_id is None else "night.closed"
        stated: dict[str, Any] = {"under_review": list(under_review)} if under_review else {}
        _perform(locked, officer, type, **stated)
    locked.refresh_from_db()
    return locked


def missing_signoff_exceptions(report: NightReport) -> list[str]:
    """Return the codes of a report's shortcomings that no officer has signed an exception for."""
    accepted = set(report.signoff_exceptions.values_list("code", flat=True))
    if not _has_open_critical_case(report):
        accepted.add("critical-open")
    return [code for code in report.parsed_content()["needs"] if code not in accepted]


def _has_open_critical_case(report: NightReport) -> bool:
    """Whether the night has a standing critical finding whose case is not closed."""
    critical = Finding.objects.standing().filter(
        casino=report.casino,
        gaming_day=report.gaming_day,
        currency=report.currency,
        severity="critical",
    )
    return critical.exclude(case__state="closed").exists()


def _locked(report: NightReport) -> NightReport:
    """Return the report as it is now, with a lock for who signs it next, held for this transaction.

    An advisory lock: only the functions that sign may lock the row.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('audit.night.sign', %s))", [report.pk])
    return NightReport.objects.select_related("casino").get(pk=report.pk)


def _record(report: NightReport, actor: str, type: str, **data: Any) -> None:
    audit_trail.record(actor, type, casino_id=report.casino_id, data={**_named(report), **data})


def _perform(report: NightReport, officer: Officer, type: str, *, reason: str = "", **data: Any) -> dict[str, Any]:
    """Have the database sign, with its entry. Raise ``SignatureRefused`` with the database's code."""
    try:
        return audit_trail.perform(
            officer.get_username(),
            type,
            casino_id=report.casino_id,
            data={**_named(report), **data},
            reason=reason,
        )
    except EntryRefused as refused:
        raise SignatureRefused(refused.code, list(data.values())) from refused


def _named(report: NightReport) -> dict[str, Any]:
    """Return what names a report in the audit trail."""
    return {
        "gaming_day": report.gaming_day.isoformat(),
        "currency": report.currency,
        "version": report.version,
        "digest": report.digest,
    }
