"""Browsers that officers let notify them, and the key of the installation at push services."""

from pathlib import Path

import datetime
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0034_information_without_case'),
    ]

    operations = [
        migrations.CreateModel(
            name='PushKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public', models.CharField(max_length=87)),
                ('private', models.CharField(max_length=43)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='one_push_key'), models.CheckConstraint(condition=models.Q(('created_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc)))), name='push_key_of_the_calendar')],
            },
        ),
        migrations.CreateModel(
            name='PushSubscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('endpoint', models.CharField(max_length=500, unique=True)),
                ('public_key', models.CharField(max_length=87)),
                ('auth', models.CharField(max_length=22)),
                ('language', models.CharField(max_length=2)),
                ('browser', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['created_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='PushMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sent_at', models.DateTimeField(null=True)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('next_try_at', models.DateTimeField(null=True)),
                ('given_up_at', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, default='', max_length=300)),
                ('kind', models.CharField(choices=[('critical', 'Critical'), ('mention', 'Mention'), ('reopened', 'Reopened'), ('excluded', 'Excluded')], max_length=16)),
                ('about', models.BigIntegerField()),
                ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='audit.pushsubscription')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddConstraint(
            model_name='pushsubscription',
            constraint=models.CheckConstraint(condition=models.Q(('created_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc)))), name='push_subscription_of_the_calendar'),
        ),
        migrations.AddIndex(
            model_name='pushmessage',
            index=models.Index(condition=models.Q(('given_up_at', None), ('sent_at', None)), fields=['subscription'], name='push_messages_to_send'),
        ),
        migrations.AddConstraint(
            model_name='pushmessage',
            constraint=models.UniqueConstraint(fields=('subscription', 'kind', 'about'), name='one_push_of_a_thing'),
        ),
        migrations.AddConstraint(
            model_name='pushmessage',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['critical', 'mention', 'reopened', 'excluded'])), name='push_kind_is_one'),
        ),
        migrations.AddConstraint(
            model_name='pushmessage',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('sent_at', None), ('sent_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('failing_since', None), ('failing_since__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('next_try_at', None), ('next_try_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR'), models.Q(('given_up_at', None), ('given_up_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR')), name='push_of_the_calendar'),
        ),
        migrations.RunSQL((AUDIT / "notifications/sql/push.sql").read_text()),
    ]
