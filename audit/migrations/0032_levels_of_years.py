"""The levels and budgets of every year of the evidence ledger, so that a night of a past year can state them.

What the ledger has of the year it is in is copied. Years that had ended before are not known: nothing kept them.
"""

import django.db.models.deletion
from django.db import migrations, models

COPY = """
insert into audit_ledgeryear (casino_id, year, budget)
  select casino_id, year, budget from audit_ledgercursor where year > 0;
insert into audit_ledgerlevel (process_id, year, alpha, opening)
  select p.id, p.year, p.alpha, p.opening
    from audit_ledgerprocess p join audit_ledgercursor c on c.casino_id = p.casino_id and c.year = p.year;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0031_slips"),
    ]

    operations = [
        migrations.CreateModel(
            name="LedgerYear",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("year", models.IntegerField()),
                ("budget", models.CharField(max_length=32)),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="ledger_years", to="audit.casino"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("casino", "year"), name="one_budget_a_year")],
            },
        ),
        migrations.CreateModel(
            name="LedgerLevel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("year", models.IntegerField()),
                ("alpha", models.CharField(max_length=64)),
                ("opening", models.DecimalField(decimal_places=0, max_digits=1000)),
                (
                    "process",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="levels", to="audit.ledgerprocess"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("process", "year"), name="one_level_a_year")],
            },
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
