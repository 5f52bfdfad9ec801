"""Alerts of tables that should report: their hours, who is mailed, and what lasts."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('audit', '0046_heads_of_cases'),
    ]

    operations = [
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('table-silent', 'silent'), ('feed-behind', 'behind')], max_length=16, verbose_name='kind')),
                ('since', models.DateTimeField(verbose_name='since')),
                ('opened_at', models.DateTimeField(verbose_name='opened')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended')),
                ('ended_by', models.CharField(blank=True, choices=[('events', 'events come in time again'), ('closed', 'the session was closed'), ('not-expected', 'the table is not expected to report any more')], default='', max_length=16)),
            ],
            options={
                'verbose_name': 'alert',
                'verbose_name_plural': 'alerts',
                'ordering': ['-opened_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='AlertNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sent_at', models.DateTimeField(null=True)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('next_try_at', models.DateTimeField(null=True)),
                ('given_up_at', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, default='', max_length=300)),
                ('is_of_end', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddField(
            model_name='casino',
            name='reports_from',
            field=models.TimeField(blank=True, help_text='In the casino’s own time. Without both hours its tables report around the clock.', null=True, verbose_name='tables report from'),
        ),
        migrations.AddField(
            model_name='casino',
            name='reports_until',
            field=models.TimeField(blank=True, help_text='An hour that is not after the first is one of the next day.', null=True, verbose_name='tables report until'),
        ),
        migrations.AddField(
            model_name='casino',
            name='silent_after_min',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Of a table with an open session, within those hours; and how late its events may come. Empty: no alert.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='minutes without an event until an alert'),
        ),
        migrations.AddField(
            model_name='gamingtable',
            name='does_not_report',
            field=models.BooleanField(db_default=False, default=False, help_text='Nothing is expected of this table: it never counts as silent, and has no alert.', verbose_name='does not report'),
        ),
        migrations.AddField(
            model_name='nightsubscriber',
            name='receives_alerts',
            field=models.BooleanField(db_default=False, default=False, help_text='When a table that should report is silent, or its events come late; and when that ends.', verbose_name='receives alerts'),
        ),
        migrations.AddField(
            model_name='nightsubscriber',
            name='receives_reports',
            field=models.BooleanField(db_default=True, default=True, verbose_name='receives the nights'),
        ),
        migrations.AddConstraint(
            model_name='casino',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reports_from', None), ('reports_until', None)), models.Q(('reports_from__isnull', False), ('reports_until__isnull', False)), _connector='OR'), name='casino_reports_between_two_hours', violation_error_message='Enter both hours between which tables report, or neither.'),
        ),
        migrations.AddConstraint(
            model_name='casino',
            constraint=models.CheckConstraint(condition=models.Q(('silent_after_min', None), ('silent_after_min__range', (1, 1440)), _connector='OR'), name='casino_silent_after_minutes'),
        ),
        migrations.AddField(
            model_name='alert',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.casino', verbose_name='casino'),
        ),
        migrations.AddField(
            model_name='alert',
            name='table',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='alerts', to='audit.gamingtable', verbose_name='table'),
        ),
        migrations.AddField(
            model_name='alertnotice',
            name='alert',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='audit.alert'),
        ),
        migrations.AddField(
            model_name='alertnotice',
            name='officer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['casino', 'ended_at'], name='alerts_of_a_casino'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('table', 'kind'), name='one_open_alert_a_kind'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['table-silent', 'feed-behind'])), name='alert_kind_is_one'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('ended_by', '')), models.Q(('ended_at__isnull', False), ('ended_by__in', ['events', 'closed', 'not-expected'])), _connector='OR'), name='alert_ended_by_something'),
        ),
        migrations.AddIndex(
            model_name='alertnotice',
            index=models.Index(condition=models.Q(('given_up_at', None), ('sent_at', None)), fields=['officer'], name='alert_notices_to_send'),
        ),
        migrations.AddConstraint(
            model_name='alertnotice',
            constraint=models.UniqueConstraint(fields=('alert', 'officer', 'is_of_end'), name='one_alert_notice_an_officer'),
        ),
    ]
