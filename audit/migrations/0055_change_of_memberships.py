"""Who works at which casino is noted when it changes, too: what an administrator's pages count depends on it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0054_changes"),
    ]

    operations = [
        migrations.RunSQL(
            "create trigger note_change after insert or update or delete or truncate on audit_officer_casinos"
            " for each statement execute function audit_note_change()",
        ),
    ]
