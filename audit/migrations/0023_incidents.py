"""Findings say who, how much, and what caused them; and an incident has one case. See sql/.

Adding the digest anew writes each finding again. No finding stored before has a cause: those of the next engine version
have, and join the case of their cause when they come to stand, as far as it is open.
"""

from pathlib import Path

from django.db import migrations, models
from django.db.models import Func

SQL = Path(__file__).resolve().parent / "sql"

IDENTITY = ["stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest"]

EMPTY = models.Value([], models.JSONField())

FIELDS = {
    "player": models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="player"),
    "croupier": models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="croupier"),
    "provisions": models.JSONField(db_default=EMPTY, default=list, verbose_name="clauses"),
    "causes": models.JSONField(db_default=EMPTY, default=list, verbose_name="causes"),
    "difference": models.BigIntegerField(null=True, verbose_name="difference"),
    "put_right_by": models.BigIntegerField(null=True, verbose_name="put right by event"),
    "owed": models.JSONField(null=True, verbose_name="owed"),
}


class Migration(migrations.Migration):
    dependencies = [("audit", "0022_account_functions")]

    operations = [
        migrations.RunSQL((SQL / "0023_content.sql").read_text()),
        migrations.RemoveConstraint("finding", "one_finding_an_identity"),
        migrations.RemoveField("finding", "content"),
        *(
            migrations.AddField(model, name, field.clone())
            for model in ("finding", "whatiffinding")
            for name, field in FIELDS.items()
        ),
        migrations.AddField(
            "finding",
            "content",
            models.GeneratedField(
                db_persist=True,
                expression=Func("run", "severity", "evidence", "expected", "recorded", "provision", "facts", "after_loss", "occurred_at", "player", "croupier", "provisions", "causes", function="audit_finding_content"),
                output_field=models.UUIDField(null=True),
            ),
        ),
        migrations.AddConstraint("finding", models.UniqueConstraint(fields=[*IDENTITY, "content"], nulls_distinct=False, name="one_finding_an_identity")),
        migrations.RunSQL((SQL / "0023_incidents.sql").read_text()),
    ]
