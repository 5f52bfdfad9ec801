"""What was refused is kept for a time: then its bytes go, and their digest stays."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_append_named")]

    operations = [
        migrations.RemoveConstraint("quarantined", "one_copy_of_what_was_refused"),
        migrations.RenameField("quarantined", "digest", "generated"),
        migrations.AddField(
            "quarantined",
            "digest",
            models.BinaryField(default=b"", editable=False, max_length=32, verbose_name="SHA-256 of the bytes"),
            preserve_default=False,
        ),
        migrations.AddField("quarantined", "size", models.IntegerField(default=0, verbose_name="bytes")),
        migrations.AddField(
            "quarantined", "purged_at", models.DateTimeField(blank=True, null=True, verbose_name="bytes let go")
        ),
        migrations.RunSQL("update audit_quarantined set digest = generated, size = octet_length(body)"),
        migrations.RemoveField("quarantined", "generated"),
        migrations.AlterField("quarantined", "body", models.BinaryField()),
        migrations.AlterField(
            "quarantined",
            "received_at",
            models.DateTimeField(default=django.utils.timezone.now, verbose_name="received"),
        ),
        migrations.AddConstraint(
            "quarantined",
            models.UniqueConstraint(fields=("casino", "stream", "code", "digest"), name="one_copy_of_what_was_refused"),
        ),
    ]
