"""The priority of the queue, what-if runs of one casino, and their promotion from one engine version to the next."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("audit", "0026_information")]

    operations = [
        migrations.AddField(
            "casino",
            "priority_threshold",
            models.PositiveIntegerField(
                db_default=100,
                default=100,
                help_text=(
                    "In whole units of the currency. An incident of this much money or more is looked at earlier."
                ),
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="amount that raises the priority",
            ),
        ),
        migrations.AddIndex(
            "finding",
            models.Index(
                condition=Q(status="standing") & ~Q(croupier=""),
                fields=["casino", "rule", "croupier", "gaming_day"],
                name="finding_by_croupier",
            ),
        ),
        migrations.AddField(
            "whatif",
            "casino",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="what_ifs",
                to="audit.casino",
                verbose_name="casino",
            ),
        ),
        migrations.RunSQL(
            "update audit_whatif w set casino_id = c.id from audit_casino c where c.code = w.selection ->> 'casino'",
            migrations.RunSQL.noop,
        ),
        migrations.AlterField("whatif", "name", models.CharField(max_length=100, verbose_name="name")),
        migrations.AddField(
            "whatif", "promoted_at", models.DateTimeField(blank=True, null=True, verbose_name="promoted")
        ),
        migrations.AddField(
            "whatif",
            "promoted_by",
            models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="promoted by"),
        ),
        migrations.AddConstraint(
            "whatif",
            models.UniqueConstraint(fields=["casino", "name"], name="one_what_if_a_name", nulls_distinct=False),
        ),
        migrations.AddConstraint(
            "whatif",
            models.CheckConstraint(
                condition=Q(casino=None) & ~Q(selection__has_key="casino")
                | Q(casino__isnull=False, selection__has_key="casino"),
                name="what_if_of_its_casino",
            ),
        ),
        migrations.AddConstraint(
            "whatif",
            models.CheckConstraint(
                condition=Q(promoted_at=None, promoted_by="") | Q(promoted_at__isnull=False) & ~Q(promoted_by=""),
                name="what_if_promoted_by_somebody",
            ),
        ),
    ]
