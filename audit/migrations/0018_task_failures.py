"""How often each task has failed, and how often a background job was begun."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0017_session_closing'),
    ]

    operations = [
        migrations.CreateModel(
            name='TaskFailure',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('failures', models.BigIntegerField(default=1)),
                ('failed_at', models.DateTimeField()),
                ('error', models.CharField(max_length=100)),
            ],
        ),
        migrations.AddField(
            model_name='job',
            name='tries',
            field=models.IntegerField(db_default=0, default=0),
        ),
    ]
