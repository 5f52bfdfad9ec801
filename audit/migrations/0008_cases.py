"""Cases of findings, guarded by the database, and a role at each house in the place of a mere membership."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_quarantine_retention'),
    ]

    operations = [
        migrations.CreateModel(
            name='Deadline',
            fields=[
                ('severity', models.CharField(choices=[('critical', 'critical'), ('major', 'major'), ('minor', 'minor'), ('info', 'information')], max_length=16, primary_key=True, serialize=False, verbose_name='severity')),
                ('hours', models.PositiveIntegerField(verbose_name='hours')),
            ],
            options={
                'verbose_name': 'deadline',
                'verbose_name_plural': 'deadlines',
            },
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream_id', models.BigIntegerField()),
                ('seq', models.BigIntegerField()),
                ('rule', models.CharField(max_length=80)),
                ('wager', models.CharField(blank=True, max_length=200)),
                ('weight', models.SmallIntegerField()),
                ('state', models.CharField(choices=[('new', 'new'), ('investigating', 'investigating'), ('second', 'second officer'), ('closed', 'closed')], default='new', max_length=16, verbose_name='state')),
                ('opened_at', models.DateTimeField(verbose_name='opened')),
                ('deadline', models.DateTimeField(verbose_name='deadline')),
                ('outcome', models.CharField(blank=True, choices=[('confirmed', 'breach confirmed'), ('explained', 'explained'), ('mistaken', 'mistaken')], max_length=16, verbose_name='outcome')),
                ('reason', models.TextField(blank=True, verbose_name='reason')),
                ('closed_at', models.DateTimeField(blank=True, null=True, verbose_name='closed')),
                ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='approved', to=settings.AUTH_USER_MODEL, verbose_name='approved by')),
                ('assigned_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to=settings.AUTH_USER_MODEL, verbose_name='officer')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='audit.casino', verbose_name='casino')),
                ('proposed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='proposed', to=settings.AUTH_USER_MODEL, verbose_name='proposed by')),
            ],
            options={
                'verbose_name': 'case',
                'verbose_name_plural': 'cases',
            },
        ),
        migrations.AddField(
            model_name='finding',
            name='case',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='audit.case', verbose_name='case'),
        ),
        migrations.CreateModel(
            name='CaseAct',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('type', models.CharField(max_length=40)),
                ('reason', models.TextField(blank=True)),
                ('about', models.CharField(blank=True, max_length=200)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='acts', to='audit.case')),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'act',
                'verbose_name_plural': 'acts',
                'ordering': ['at', 'pk'],
            },
        ),
        # The table is the one that Django made for the houses of an officer: it gets a column.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField('officer', 'casinos'),
                migrations.CreateModel(
                    name='Membership',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('casino', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='audit.casino', verbose_name='casino')),
                        ('officer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'verbose_name': 'role at a casino',
                        'verbose_name_plural': 'roles at casinos',
                        'db_table': 'audit_officer_casinos',
                    },
                ),
                migrations.AddField(
                    'officer',
                    'casinos',
                    models.ManyToManyField(blank=True, related_name='officers', through='audit.Membership', to='audit.casino', verbose_name='casinos'),
                ),
            ]
        ),
        migrations.AddField(
            'membership',
            'role',
            models.CharField(choices=[('officer', 'officer'), ('second', 'second officer'), ('auditor', 'auditor'), ('administrator', 'administrator')], default='officer', max_length=16, verbose_name='role'),
        ),
        migrations.RunSQL("""
            do $$
            declare
              old_one name;
            begin
              for old_one in select conname from pg_constraint
                where conrelid = 'audit_officer_casinos'::regclass and contype = 'u' loop
                execute format('alter table audit_officer_casinos drop constraint %I', old_one);
              end loop;
            end $$
        """),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(fields=['casino', 'state', 'weight', 'deadline'], name='case_queue'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(fields=('stream_id', 'seq', 'rule', 'wager'), name='one_case_an_identity'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['new', 'investigating', 'second', 'closed'])), name='case_state_is_one'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'second'), _negated=True), models.Q(('outcome__in', ['confirmed', 'explained', 'mistaken']), ('proposed_by__isnull', False), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='case_proposed_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'closed'), _negated=True), models.Q(('approved_by__isnull', False), ('closed_at__isnull', False), ('proposed_by__isnull', False), ('outcome__in', ['confirmed', 'explained', 'mistaken']), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='case_closed_by_two'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('approved_by', None), models.Q(('approved_by', models.F('proposed_by')), _negated=True), _connector='OR'), name='case_four_eyes'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('officer', 'casino'), name='one_role_at_a_casino'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['officer', 'second', 'auditor', 'administrator'])), name='role_is_one'),
        ),
        migrations.RunSQL((Path(__file__).resolve().parent / "sql" / "0008_case_guard.sql").read_text()),
    ]
