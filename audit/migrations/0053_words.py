"""What the desk calls fields and choices, in the words of today. Nothing in the database changes."""

import datetime
from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0052_win_lines'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='casecontacts',
            options={'ordering': ['casino__code'], 'verbose_name': 'case contacts', 'verbose_name_plural': 'case contacts'},
        ),
        migrations.AlterModelOptions(
            name='registerentry',
            options={'ordering': ['casino', '-pk'], 'verbose_name': 'entry in the register', 'verbose_name_plural': 'house register'},
        ),
        migrations.AlterModelOptions(
            name='retiredwagers',
            options={'verbose_name': 'settled wagers', 'verbose_name_plural': 'settled wagers'},
        ),
        migrations.AlterField(
            model_name='accountrequest',
            name='email',
            field=models.EmailField(blank=True, max_length=254, verbose_name='e-mail address'),
        ),
        migrations.AlterField(
            model_name='accountrequest',
            name='kind',
            field=models.CharField(choices=[('role', 'role'), ('second_factor', 'reset of the second factor'), ('email', 'new e-mail address'), ('reactivation', 'reactivation')], max_length=16, verbose_name='request'),
        ),
        migrations.AlterField(
            model_name='adjudication',
            name='cursor',
            field=models.BigIntegerField(default=0, verbose_name='adjudicated up to'),
        ),
        migrations.AlterField(
            model_name='adjudicationrun',
            name='cause',
            field=models.CharField(choices=[('first', 'first run'), ('correction', 'correction'), ('engine', 'another engine version'), ('register', 'change to the register'), ('approval', 'approval of a correction'), ('manual', 'by hand')], default='first', max_length=16, verbose_name='cause'),
        ),
        migrations.AlterField(
            model_name='adjudicationrun',
            name='next_try_at',
            field=models.DateTimeField(null=True, verbose_name='next attempt'),
        ),
        migrations.AlterField(
            model_name='adjudicationrun',
            name='tries',
            field=models.IntegerField(default=0, verbose_name='attempts'),
        ),
        migrations.AlterField(
            model_name='alert',
            name='ended_by',
            field=models.CharField(blank=True, choices=[('events', 'events arrive on time again'), ('closed', 'the session was closed'), ('not-expected', 'the table is no longer expected to report')], default='', max_length=16),
        ),
        migrations.AlterField(
            model_name='apikey',
            name='tables',
            field=models.ManyToManyField(blank=True, help_text='The tables this system reports on; if none is chosen, every table at the casino.', related_name='keys', to='audit.gamingtable', verbose_name='tables'),
        ),
        migrations.AlterField(
            model_name='casecontacts',
            name='deputy',
            field=models.ForeignKey(blank=True, help_text='Is told of each case still open after its deadline. If nobody is named: the administrators of the casino.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='deputy for late cases'),
        ),
        migrations.AlterField(
            model_name='casecontacts',
            name='video_room',
            field=models.EmailField(blank=True, help_text='Receives what officers ask for: a table, a start and an end time, with ids and never a name.', max_length=254, verbose_name='address of the video room'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='cutoff',
            field=models.TimeField(default=datetime.time(6, 0), help_text='In the casino’s local time: a gaming day lasts from this hour to the same hour the next day.', verbose_name='end of the gaming day'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='false_questions',
            field=models.DecimalField(db_default=1, decimal_places=2, default=1, help_text='How many statistical questions a year may be due to chance alone, on average. A change takes effect from the following year.', max_digits=4, validators=[django.core.validators.MinValueValidator(Decimal('0.01')), django.core.validators.MaxValueValidator(12)], verbose_name='false questions a year'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='is_sandbox',
            field=models.BooleanField(db_default=False, default=False, help_text='For trying out a table system: no night, no proof, no case, and it can be emptied. This choice is final.', verbose_name='sandbox'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='priority_threshold',
            field=models.PositiveIntegerField(db_default=100, default=100, help_text='In whole units of the currency. An incident involving this amount or more is looked at sooner.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='amount that raises the priority'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='reports_until',
            field=models.TimeField(blank=True, help_text='If it is not later than the first hour, it is on the next day.', null=True, verbose_name='tables report until'),
        ),
        migrations.AlterField(
            model_name='casino',
            name='silent_after_min',
            field=models.PositiveSmallIntegerField(blank=True, help_text='For a table with an open session, within those hours; also how late its events may arrive. Empty: no alert.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='minutes without an event before an alert'),
        ),
        migrations.AlterField(
            model_name='complaint',
            name='came',
            field=models.CharField(choices=[('table', 'at the table'), ('cage', 'at the cage'), ('letter', 'by letter'), ('mail', 'by e-mail')], max_length=16, verbose_name='how it came in'),
        ),
        migrations.AlterField(
            model_name='complaint',
            name='words',
            field=models.TextField(verbose_name='what the player says'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='provisions',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name='provisions'),
        ),
        migrations.AlterField(
            model_name='job',
            name='kind',
            field=models.CharField(choices=[('verify', 'verification'), ('what_if', 'what-if run'), ('export', 'export'), ('subject', 'what is held on a person')], max_length=16, verbose_name='job'),
        ),
        migrations.AlterField(
            model_name='leftbatch',
            name='cause',
            field=models.CharField(choices=[('altered', 'the stored events are not those that were accepted'), ('no-envelope', 'a body is not the envelope of its event'), ('back-dated', 'its date of receipt is before what is already sealed'), ('unreadable', 'the database cannot read it'), ('missing', 'there is no such batch')], max_length=20),
        ),
        migrations.AlterField(
            model_name='person',
            name='code',
            field=models.CharField(help_text='as it appears in the events', max_length=40, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._:-]{1,40}\\Z', '1 to 40 of A-Z a-z 0-9 . _ : -')], verbose_name='id'),
        ),
        migrations.AlterField(
            model_name='quarantined',
            name='seq',
            field=models.BigIntegerField(null=True, verbose_name='number'),
        ),
        migrations.AlterField(
            model_name='registerentry',
            name='decision_reason',
            field=models.TextField(blank=True, verbose_name='reason for the decision'),
        ),
        migrations.AlterField(
            model_name='registerentry',
            name='last_day',
            field=models.DateField(null=True, verbose_name='last day in force'),
        ),
        migrations.AlterField(
            model_name='whatiffinding',
            name='provisions',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name='provisions'),
        ),
    ]
