"""The inbox: an index over acts on cases, hand-over notes, and the mornings on which a digest was mailed."""

import datetime
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0025_priority'),
    ]

    operations = [
        migrations.CreateModel(
            name='InboxDigest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gaming_day', models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name='ShiftNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('text', models.TextField()),
            ],
            options={
                'verbose_name': 'hand-over note',
                'verbose_name_plural': 'hand-over notes',
            },
        ),
        migrations.AddIndex(
            model_name='caseaction',
            index=models.Index(fields=['at'], name='actions_by_time'),
        ),
        migrations.AddField(
            model_name='inboxdigest',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='audit.casino'),
        ),
        migrations.AddField(
            model_name='inboxdigest',
            name='officer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='shiftnote',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.casino', verbose_name='casino'),
        ),
        migrations.AddField(
            model_name='shiftnote',
            name='officer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='officer'),
        ),
        migrations.AddConstraint(
            model_name='inboxdigest',
            constraint=models.UniqueConstraint(fields=('officer', 'casino', 'gaming_day'), name='one_digest_a_day'),
        ),
        migrations.AddConstraint(
            model_name='inboxdigest',
            constraint=models.CheckConstraint(condition=models.Q(('gaming_day__range', [datetime.date(1, 1, 3), datetime.date(9999, 12, 29)])), name='digest_of_the_calendar'),
        ),
        migrations.AddIndex(
            model_name='shiftnote',
            index=models.Index(fields=['casino', 'at'], name='shift_notes_by_time'),
        ),
        migrations.AddConstraint(
            model_name='shiftnote',
            constraint=models.CheckConstraint(condition=models.Q(('at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc)))), name='shift_note_of_the_calendar'),
        ),
        migrations.AddConstraint(
            model_name='shiftnote',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='shift_note_says_something'),
        ),
    ]
