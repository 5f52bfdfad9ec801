"""Taking over what an earlier version found: before 0.2.0 the log did not keep the roots of findings.

What stands now is entered as it is. Whether it was right when it was stored, ``verify --deep`` shows, as far as this
version of the engine has found it; of earlier versions and of nights nobody can say it any more.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from audit.event_store import audit_trail
from audit.models import FIRST_SANDBOX_ID, Adjudication, Finding, LoggedStream
from audit.models.runs import CURRENT
from audit.projections.entries import entries
from audit.projections.found import TAKEN_OVER
from audit.reconciliation.findings import NIGHT_RULES
from audit.reconciliation.persons import RULES_OF_PERSONS
from audit.transparency import kept_findings
from audit.transparency.kept_findings import ADJUDICATED, KEPT


def keep_earlier() -> int:
    """Enter the findings of every session that has some and no entry that keeps them; return how many sessions."""
    covered: dict[tuple[int, str], set[str]] = {}
    for entry in entries(None, (ADJUDICATED, KEPT)):
        rules = entry.data.get("rules", [])
        stated = {ADJUDICATED} if entry.type == ADJUDICATED else set(rules if isinstance(rules, list) else [])
        covered.setdefault((entry.casino_id, entry.text("stream")), set()).update(stated)
    kept = 0
    for stream in LoggedStream.objects.filter(is_of_desk=False, pk__lt=FIRST_SANDBOX_ID).order_by("pk"):
        kept += _keep(stream, covered.get((stream.casino_id, stream.name), set()))
    audit_trail.record(audit_trail.account_name(), TAKEN_OVER, data={"sessions": kept})
    return kept


def _keep(stream: LoggedStream, covered: set[str]) -> bool:
    with transaction.atomic():
        others = set(Finding.objects.filter(stream=stream, run=None).stood_once().values_list("rule", flat=True))
        unkept = others - covered - {"log-tampered"}
        for rules in _together(unkept):
            kept_findings.keep({}, [stream.pk], rules)
        read = Adjudication.objects.filter(stream_id=stream.pk, what_if=None, run__state__in=CURRENT)
        adjudication = read.select_related("run").order_by("-run").first()
        is_new = adjudication is not None and adjudication.run is not None and ADJUDICATED not in covered
        if adjudication is not None and adjudication.run is not None and is_new:
            kept_findings.keep_adjudicated(adjudication.run, stream, adjudication.cursor)
    return bool(unkept) or is_new


def _together(rules: set[str]) -> list[Collection[str]]:
    """Return the rules as they are entered together: those of nights, those of money, every other alone."""
    groups: list[Collection[str]] = [group for group in (NIGHT_RULES, RULES_OF_PERSONS) if rules & {*group}]
    return groups + [(rule,) for rule in sorted(rules) if not any(rule in group for group in groups)]
