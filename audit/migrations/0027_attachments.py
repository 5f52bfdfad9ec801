"""Files of cases are stored, with their hash, until they are erased."""

from pathlib import Path

import datetime

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0026_inbox'),
    ]

    operations = [
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('name', models.CharField(blank=True, max_length=100, verbose_name='name')),
                ('kind', models.CharField(choices=[('pdf', 'PDF'), ('png', 'PNG'), ('jpeg', 'JPEG')], max_length=8, verbose_name='kind')),
                ('size', models.PositiveIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('content', models.BinaryField(null=True)),
                ('erased_at', models.DateTimeField(null=True)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attachments', to='audit.case', verbose_name='case')),
                ('erased_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='officer')),
            ],
            options={
                'verbose_name': 'attachment',
                'verbose_name_plural': 'attachments',
                'ordering': ['at', 'pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), models.Q(('erased_at', None), ('erased_at__range', (datetime.datetime(1, 1, 3, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(9999, 12, 29, 0, 0, tzinfo=datetime.timezone.utc))), _connector='OR')), name='attachment_of_the_calendar'), models.CheckConstraint(condition=models.Q(('kind__in', ['pdf', 'png', 'jpeg'])), name='attachment_is_of_a_kind'), models.CheckConstraint(condition=models.Q(models.Q(('content__isnull', False), ('erased_at', None), ('erased_by', None)), models.Q(('content', None), ('erased_at__isnull', False), ('erased_by__isnull', False), ('name', '')), _connector='OR'), name='attachment_erased_by_somebody')],
            },
        ),
        migrations.RunSQL((AUDIT / "casework/sql/attachments.sql").read_text()),
    ]
