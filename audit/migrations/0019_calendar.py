"""No hour and no instant that PostgreSQL has and no page can show: of a casino, of a key, of an action on a case."""

import datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0018_task_failures"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "created_at__range",
                        (
                            datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc),
                            datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc),
                        ),
                    ),
                    models.Q(
                        ("expires_at", None),
                        (
                            "expires_at__range",
                            (
                                datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc),
                                datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc),
                            ),
                        ),
                        _connector="OR",
                    ),
                ),
                name="key_of_the_calendar",
            ),
        ),
        migrations.AddConstraint(
            model_name="caseaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "at__range",
                        (
                            datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc),
                            datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc),
                        ),
                    )
                ),
                name="action_of_the_calendar",
            ),
        ),
        migrations.AddConstraint(
            model_name="casino",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("cutoff__lte", datetime.time(23, 59, 59, 999999)),
                    models.Q(
                        ("reports_from", None),
                        ("reports_from__lte", datetime.time(23, 59, 59, 999999)),
                        _connector="OR",
                    ),
                    models.Q(
                        ("reports_until", None),
                        ("reports_until__lte", datetime.time(23, 59, 59, 999999)),
                        _connector="OR",
                    ),
                ),
                name="casino_hours_of_the_clock",
            ),
        ),
    ]
