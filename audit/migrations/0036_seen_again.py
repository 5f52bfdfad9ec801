"""A listed player is seen again on the same gaming day, at another table than that of a dismissed sighting."""

from pathlib import Path

from django.db import migrations, models


AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0035_push'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='sighting',
            name='one_sighting_a_day',
        ),
        migrations.AddConstraint(
            model_name='sighting',
            constraint=models.UniqueConstraint(condition=models.Q(('dismissed_at', None)), fields=('listing', 'gaming_day'), name='one_open_sighting_a_day'),
        ),
        migrations.AddConstraint(
            model_name='sighting',
            constraint=models.UniqueConstraint(fields=('listing', 'gaming_day', 'stream'), name='one_sighting_a_session'),
        ),
        migrations.RunSQL((AUDIT / "persons/sql/seen_again.sql").read_text()),
    ]
