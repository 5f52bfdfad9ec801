"""How the mailing of requests for video and of notices of late cases goes: failures, pauses, giving up. And findings by their player."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0036_table_names"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                fields=["casino", "player", "gaming_day"],
                name="finding_by_player",
                condition=models.Q(("status", "standing"), models.Q(("player", ""), _negated=True)),
            ),
        ),
        migrations.AddField(
            model_name="escalationnotice",
            name="error",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="escalationnotice",
            name="failing_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="escalationnotice",
            name="failures",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="escalationnotice",
            name="given_up_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="escalationnotice",
            name="next_try_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="videorequest",
            name="error",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="videorequest",
            name="failing_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="videorequest",
            name="failures",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="videorequest",
            name="given_up_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="videorequest",
            name="next_try_at",
            field=models.DateTimeField(null=True),
        ),
    ]
