"""The replay queue, and the heartbeats of the processes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0020_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='CasinoTurn',
            fields=[
                ('casino_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('last_turn_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='LeafCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('next_leaf', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='WaitingStream',
            fields=[
                ('stream_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('casino_id', models.BigIntegerField()),
                ('since', models.DateTimeField()),
                ('hints', models.BigIntegerField(default=1)),
                ('holder_pid', models.IntegerField(null=True)),
                ('holder_began', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['casino_id', 'since'], name='waiting_by_casino')],
            },
        ),
    ]
