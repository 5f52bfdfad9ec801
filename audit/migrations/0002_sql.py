"""What the models do not say: the schema ``log`` and its guard, functions, triggers, and a few constraints.

Each package has its SQL in a folder ``sql``, a file for each subject. It cannot be reversed: nothing deletes an event.
"""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent

FILES = (
    # A file comes after the tables and types that it names; a function may call one that comes later.
    *("event_store/sql/streams.sql", "event_store/sql/events.sql", "event_store/sql/tree.sql"),
    *("event_store/sql/archive.sql", "event_store/sql/sandboxes.sql", "event_store/sql/entries.sql"),
    *("access/sql/hands.sql", "access/sql/accounts.sql", "access/sql/requests.sql", "access/sql/second_factors.sql"),
    *("access/sql/sign_on.sql", "access/sql/keys.sql", "access/sql/sandboxes.sql"),
    *("persons/sql/erasure.sql", "register/sql/entries.sql", "corrections/sql/decisions.sql"),
    *("adjudication/sql/findings.sql", "casework/sql/cases.sql", "notifications/sql/feed.sql"),
    *("reconciliation/sql/nights.sql", "archive/sql/months.sql"),
    *("transparency/sql/integrity.sql", "transparency/sql/recovery.sql", "desk/sql/changes.sql"),
    # Rights and the guard are about all of these.
    *("access/sql/rights.sql", "event_store/sql/guard.sql"),
)


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        # Their tables have triggers of ours, and depend on our officers.
        ("otp_static", "0003_add_timestamps"),
        ("otp_totp", "0003_add_timestamps"),
    ]

    operations = [migrations.RunSQL((AUDIT / file).read_text()) for file in FILES]
