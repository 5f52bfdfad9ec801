"""Taking over what an earlier version left outside the log.

Before 0.2.0 the log did not keep the roots of findings. What stands now is entered as it is. Whether it was right when
it was stored, ``verify --deep`` shows, as far as this version of the engine has found it; of earlier versions and of
nights nobody can say it any more.

Before 0.3.0 it did not keep what casinos and tables are set to, what keys may do, nor since when its clock
holds; and before 0.2.0, not every role, nor who may do everything.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from audit.access import casino_settings
from audit.access.keys import stated_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import INSTALLATION
from audit.models import (
    FIRST_SANDBOX_ID,
    Adjudication,
    ApiKey,
    Casino,
    Finding,
    GamingTable,
    LoggedStream,
    Membership,
    Officer,
)
from audit.models.runs import CURRENT
from audit.projections.access import KEY_KEPT, ROLE_KEPT, keys_stated, roles_stated
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.clock import clock
from audit.projections.entries import entries
from audit.projections.found import TAKEN_OVER
from audit.projections.officers import SUPERUSER_KEPT, superusers_stated
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


@transaction.atomic
def keep_settings() -> int:
    """Enter what casinos, tables, roles and keys are of which no entry says it, once; return how many.

    Enter also that the log keeps them from now on, and since when its clock holds. After that nothing is taken over any
    more: a row without an entry is one that somebody has written past the desk.
    """
    if any(entries(INSTALLATION, (SETTINGS_KEPT,))):
        return 0
    actor, entered = audit_trail.account_name(), 0
    for model, types in ((Casino, casino_settings.CASINOS), (GamingTable, casino_settings.TABLES)):
        stated = {entry.number("id") for entry in entries(None, types) if "code" in entry.data}
        for row in model.objects.exclude(pk__in=stated).order_by("pk"):
            casino_settings.record(actor, "kept", row)
            entered += 1
    given = roles_stated(None)
    for membership in Membership.objects.select_related("officer").order_by("pk"):
        if (membership.casino_id, name := membership.officer.get_username()) not in given:
            data = {"officer": name, "role": membership.role}
            audit_trail.record(actor, ROLE_KEPT, casino_id=membership.casino_id, data=data)
            entered += 1
    for key in ApiKey.objects.exclude(pk__in=keys_stated(None)).order_by("pk"):
        of_key = {**stated_of(key), "revoked": int(key.revoked_at is not None)}
        audit_trail.record(actor, KEY_KEPT, casino_id=key.casino_id, data=of_key)
        entered += 1
    known = superusers_stated()
    for officer in Officer.objects.filter(is_superuser=True).exclude(username__in=known).order_by("pk"):
        audit_trail.record(actor, SUPERUSER_KEPT, data={"id": officer.pk, "officer": officer.get_username()})
        entered += 1
    kept = clock()
    began = {} if kept is None else {"since": kept[0], "began_at": kept[1].isoformat()}
    audit_trail.record(actor, SETTINGS_KEPT, data={"rows": entered, **began})
    return entered


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
