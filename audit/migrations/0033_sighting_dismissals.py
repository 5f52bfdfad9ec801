"""An officer dismisses a sighting of a listed player, for a reason."""

from pathlib import Path

import datetime
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0032_reopened_notices'),
    ]

    operations = [
        migrations.AddField(
            model_name='sighting',
            name='dismissal',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='sighting',
            name='dismissed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='sighting',
            name='dismissed_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='sighting',
            name='outcome',
            field=models.CharField(blank=True, choices=[('another_person', 'not the same person'), ('spoken_to', 'spoken to'), ('shown_out', 'shown out'), ('observed', 'observed, nothing to do')], db_default='', default='', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='sighting',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dismissal', ''), ('dismissed_at', None), ('dismissed_by', None), ('outcome', '')), models.Q(('dismissed_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), ('dismissed_by__isnull', False), ('outcome__in', ['another_person', 'spoken_to', 'shown_out', 'observed'])), _connector='OR'), name='sighting_dismissed_by_somebody'),
        ),
        migrations.RunSQL((AUDIT / "persons/sql/dismissals.sql").read_text()),
    ]
