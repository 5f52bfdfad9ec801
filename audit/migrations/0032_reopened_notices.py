"""A version of a night is mailed to the officers who had signed an earlier one."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0031_listings'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReopenedNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.nightreport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('report', 'officer'), name='one_notice_a_version')],
            },
        ),
    ]
