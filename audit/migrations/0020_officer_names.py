"""No two officers have one user name, in capitals or not, and none has one under which acts without a person stand."""

import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0019_calendar"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="officer",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("username"), name="officer_of_one_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="officer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("username__iexact", "beat"), _negated=True),
                    models.Q(("username__iexact", "sign-in"), _negated=True),
                    models.Q(("username__iexact", "system"), _negated=True),
                ),
                name="officer_is_somebody",
            ),
        ),
    ]
