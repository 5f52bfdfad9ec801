"""Runs of an adjudication, replays beside the standing one, and wagers in the form they retire in."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0004_tree'),
    ]

    operations = [
        migrations.DeleteModel(name='WagerOutcome'),
        migrations.AddField(
            model_name='finding',
            name='run',
            field=models.IntegerField(default=0),
        ),
        migrations.RunSQL(
            "delete from audit_adjudication;"  # made again from the log: wagers in another form, and runs
            "update audit_finding set run = 1 where rule not in ('sequence-conflict', 'log-tampered')",
        ),
        migrations.CreateModel(
            name='Beside',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('readings', models.JSONField(default=dict, verbose_name='readings')),
                ('selection', models.JSONField(default=dict, verbose_name='streams')),
                ('engine_version', models.CharField(max_length=32, verbose_name='engine version')),
                ('started_at', models.DateTimeField(auto_now_add=True, verbose_name='started')),
                ('started_by', models.CharField(max_length=200, verbose_name='started by')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended')),
                ('streams', models.BigIntegerField(default=0, verbose_name='streams')),
            ],
            options={
                'verbose_name': 'replay beside',
                'verbose_name_plural': 'replays beside',
                'ordering': ['-started_at'],
            },
        ),
        migrations.CreateModel(
            name='BesideFinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(verbose_name='event')),
                ('rule', models.CharField(max_length=80, verbose_name='rule')),
                ('wager', models.CharField(blank=True, max_length=200, verbose_name='wager')),
                ('ruleset', models.CharField(blank=True, max_length=64, verbose_name='ruleset')),
                ('engine_version', models.CharField(max_length=32, verbose_name='engine version')),
                ('readings_digest', models.CharField(blank=True, max_length=64, verbose_name='digest of the readings')),
                ('gaming_day', models.DateField(verbose_name='gaming day')),
                ('occurred_at', models.DateTimeField(verbose_name='occurred')),
                ('severity', models.CharField(choices=[('critical', 'critical'), ('major', 'major'), ('minor', 'minor'), ('info', 'information')], max_length=16, verbose_name='severity')),
                ('evidence', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None, verbose_name='evidence')),
                ('expected', models.JSONField(null=True, verbose_name='expected')),
                ('recorded', models.JSONField(null=True, verbose_name='recorded')),
                ('provision', models.CharField(blank=True, max_length=64, verbose_name='provision')),
                ('facts', models.JSONField(default=dict, verbose_name='facts')),
                ('currency', models.CharField(blank=True, max_length=3, verbose_name='currency')),
                ('after_loss', models.BooleanField(default=False, verbose_name='after a loss')),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='found')),
                ('run', models.IntegerField(default=0)),
            ],
            options={
                'verbose_name': 'finding beside',
                'verbose_name_plural': 'findings beside',
                'ordering': ['stream_id', 'seq', 'rule', 'wager'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='adjudication',
            name='one_cursor_a_stream',
        ),
        migrations.AddField(
            model_name='adjudication',
            name='completed_run',
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name='adjudication',
            name='corrected_through',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='adjudication',
            name='replaces',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='adjudication',
            name='run',
            field=models.IntegerField(default=1, verbose_name='run'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='audit.casino', verbose_name='casino'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='opened_at',
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name='found'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='stream',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='%(class)ss', to='audit.loggedstream', verbose_name='stream'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='table',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='audit.gamingtable', verbose_name='table'),
        ),
        migrations.AddField(
            model_name='adjudication',
            name='beside',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='adjudications', to='audit.beside'),
        ),
        migrations.AddConstraint(
            model_name='adjudication',
            constraint=models.UniqueConstraint(fields=('stream', 'engine_version', 'beside'), name='one_cursor_a_stream', nulls_distinct=False),
        ),
        migrations.AddField(
            model_name='besidefinding',
            name='beside',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='audit.beside'),
        ),
        migrations.AddField(
            model_name='besidefinding',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='audit.casino', verbose_name='casino'),
        ),
        migrations.AddField(
            model_name='besidefinding',
            name='stream',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='%(class)ss', to='audit.loggedstream', verbose_name='stream'),
        ),
        migrations.AddField(
            model_name='besidefinding',
            name='table',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='audit.gamingtable', verbose_name='table'),
        ),
        migrations.AddConstraint(
            model_name='besidefinding',
            constraint=models.UniqueConstraint(fields=('beside', 'stream', 'seq', 'rule', 'wager'), name='one_finding_beside'),
        ),
        migrations.AddField(
            model_name='adjudication',
            name='known_ids',
            field=models.JSONField(default=dict),
        ),
        migrations.CreateModel(
            name='RetiredWagers',
            fields=[
                ('pk', models.CompositePrimaryKey('adjudication_id', 'run', 'through', blank=True, editable=False, primary_key=True, serialize=False)),
                ('adjudication', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='retired', to='audit.adjudication')),
                ('run', models.IntegerField()),
                ('through', models.BigIntegerField()),
                ('digests', models.BinaryField()),
                ('saved', models.BinaryField()),
            ],
            options={'verbose_name': 'retired wagers', 'verbose_name_plural': 'retired wagers'},
        ),
        # To compress what is written once and read seldom would cost more time than the rest of the step.
        migrations.RunSQL(
            "alter table audit_retiredwagers alter column saved set storage external,"
            " alter column digests set storage external",
        ),
    ]
