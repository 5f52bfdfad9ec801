"""Having the log keep what is set already: once, when a record begins, or after casinos were made without it.

``keep_settings`` enters what casinos and tables are set to, the roles, the keys and the superusers that are there, and
since when the log's clock holds.
"""

from __future__ import annotations

from django.db import transaction

from audit.access import casino_settings
from audit.access.keys import stated_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import INSTALLATION
from audit.models import (
    ApiKey,
    Casino,
    GamingTable,
    Membership,
    NightSubscriber,
    Officer,
)
from audit.projections.access import KEY_KEPT, ROLE_KEPT, keys_stated, roles_stated
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.clock import clock
from audit.projections.entries import entries
from audit.projections.officers import SUPERUSER_KEPT, superusers_stated
from audit.projections.receivers import SUBSCRIBERS


@transaction.atomic
def keep_settings() -> int:
    """Enter the casinos, tables, roles, keys and subscribers that have no entry yet, once; return how many.

    Enter also that the log keeps them from now on, and since when its clock holds. After that nothing is taken over any
    more: a row without an entry is one that somebody has written past the desk.
    """
    if any(entries(INSTALLATION, (SETTINGS_KEPT,))):
        return 0
    actor, entered = audit_trail.account_name(), 0
    for model, types in ((Casino, casino_settings.CASINOS), (GamingTable, casino_settings.TABLES)):
        stated = {entry.number("id") for entry in entries(None, types) if "code" in entry.data}
        for row in model.objects.exclude(pk__in=stated).order_by("pk"):
            casino_settings.keep(actor, row)
            entered += 1
    given = roles_stated(None)
    for membership in Membership.objects.select_related("officer").order_by("pk"):
        if (membership.casino_id, name := membership.officer.get_username()) not in given:
            data = {"officer": name, "role": membership.role}
            audit_trail.record(actor, ROLE_KEPT, casino_id=membership.casino_id, data=data)
            entered += 1
    for key in ApiKey.objects.exclude(pk__in=keys_stated(None)).order_by("pk"):
        of_key = {
            **stated_of(key, key.tables.values_list("code", flat=True)),
            "revoked": int(key.revoked_at is not None),
        }
        audit_trail.record(actor, KEY_KEPT, casino_id=key.casino_id, data=of_key)
        entered += 1
    entered_before = {entry.number("id") for entry in entries(None, SUBSCRIBERS)}
    for subscriber in NightSubscriber.objects.exclude(pk__in=entered_before).order_by("pk"):
        received = {"id": subscriber.pk, **subscriber.stated()}
        audit_trail.record(actor, "nightsubscriber.added", casino_id=subscriber.casino_id, data=received)
        entered += 1
    known = superusers_stated()
    for officer in Officer.objects.filter(is_superuser=True).exclude(username__in=known).order_by("pk"):
        audit_trail.record(actor, SUPERUSER_KEPT, data={"id": officer.pk, "officer": officer.get_username()})
        entered += 1
    kept = clock()
    began = {} if kept is None else {"since": kept[0], "began_at": kept[1].isoformat()}
    audit_trail.record(actor, SETTINGS_KEPT, data={"rows": entered, **began})
    return entered
