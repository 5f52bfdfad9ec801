"""Players on a watch list or an exclusion list, and the nights on which one was at a table."""

from pathlib import Path

import datetime
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0030_claims_not_found'),
    ]

    operations = [
        migrations.CreateModel(
            name='Listing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('kind', models.CharField(choices=[('watch', 'watch list'), ('exclusion', 'exclusion list')], max_length=16, verbose_name='list')),
                ('code', models.CharField(max_length=40, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._:-]{1,40}\\Z', '1 to 40 of A-Z a-z 0-9 . _ : -')], verbose_name='player')),
                ('last_day', models.DateField(null=True, verbose_name='last day')),
                ('reason', models.TextField(verbose_name='reason')),
                ('state', models.CharField(choices=[('waiting', 'waits for a second officer'), ('listed', 'on the list'), ('leaving', 'on the list; its removal waits for a second officer'), ('removed', 'removed'), ('declined', 'declined')], max_length=16, verbose_name='state')),
                ('proposed_at', models.DateTimeField(verbose_name='proposed')),
                ('approved_at', models.DateTimeField(null=True, verbose_name='approved')),
                ('removal_reason', models.TextField(blank=True, verbose_name='reason for the removal')),
                ('removal_at', models.DateTimeField(null=True, verbose_name='removal proposed')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended')),
                ('end_reason', models.TextField(blank=True, verbose_name='reason for declining')),
                ('approved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='approved by')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.casino', verbose_name='casino')),
                ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='ended by')),
                ('proposed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='proposed by')),
                ('removal_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='removal proposed by')),
            ],
            options={
                'verbose_name': 'listed player',
                'verbose_name_plural': 'listed players',
                'ordering': ['-proposed_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Sighting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sent_at', models.DateTimeField(null=True)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('next_try_at', models.DateTimeField(null=True)),
                ('given_up_at', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, default='', max_length=300)),
                ('gaming_day', models.DateField()),
                ('seen_at', models.DateTimeField()),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sightings', to='audit.listing')),
                ('stream', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='audit.loggedstream')),
            ],
            options={
                'ordering': ['-seen_at', '-pk'],
            },
        ),
        migrations.AddIndex(
            model_name='listing',
            index=models.Index(fields=['casino', 'code'], name='listings_of_a_player'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.UniqueConstraint(fields=('casino', 'number'), name='listing_has_its_own_number'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['watch', 'exclusion'])), name='listing_is_on_a_list'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='listing_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('approved_at', None), ('approved_by', None), ('state__in', ['waiting', 'declined'])), models.Q(('approved_at__isnull', False), ('approved_by__isnull', False), ('state__in', ['listed', 'leaving', 'removed'])), _connector='OR'), name='listing_approved_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('removal_at', None), ('removal_by', None), ('removal_reason', ''), ('state__in', ['waiting', 'listed', 'declined'])), models.Q(('removal_at__isnull', False), ('removal_by__isnull', False), ('state__in', ['leaving', 'removed']), models.Q(('removal_reason', ''), _negated=True)), _connector='OR'), name='listing_removed_for_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('end_reason', ''), ('ended_at', None), ('ended_by', None), ('state__in', ['waiting', 'listed', 'leaving'])), models.Q(('end_reason', ''), ('ended_at__isnull', False), ('ended_by__isnull', False), ('state', 'removed')), models.Q(('ended_at__isnull', False), ('ended_by__isnull', False), ('state', 'declined'), models.Q(('end_reason', ''), _negated=True)), _connector='OR'), name='listing_ended_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('proposed_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), models.Q(('last_day', None), ('last_day__range', (datetime.date(1, 1, 3), datetime.date(9999, 12, 29))), _connector='OR'), models.Q(('approved_at', None), ('approved_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('removal_at', None), ('removal_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('ended_at', None), ('ended_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR')), name='listing_of_the_calendar'),
        ),
        migrations.AddIndex(
            model_name='sighting',
            index=models.Index(fields=['seen_at'], name='sightings_by_time'),
        ),
        migrations.AddConstraint(
            model_name='sighting',
            constraint=models.UniqueConstraint(fields=('listing', 'gaming_day'), name='one_sighting_a_day'),
        ),
        migrations.AddConstraint(
            model_name='sighting',
            constraint=models.CheckConstraint(condition=models.Q(('gaming_day__range', (datetime.date(1, 1, 3), datetime.date(9999, 12, 29))), ('seen_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), models.Q(('sent_at', None), ('sent_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('failing_since', None), ('failing_since__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('next_try_at', None), ('next_try_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('given_up_at', None), ('given_up_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR')), name='sighting_of_the_calendar'),
        ),
        migrations.RunSQL((AUDIT / "persons/sql/listings.sql").read_text()),
    ]
