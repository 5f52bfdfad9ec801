"""Reconciled nights. What a report says is fixed when it is made; what is closed is never touched again."""

import datetime
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


GUARD = """
create function audit_keep_night() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'night: a report is never deleted' using errcode = 'ES001';
  end if;
  if old.state = 'closed' then
    raise exception 'night: a closed report is never changed' using errcode = 'ES001';
  end if;
  if (new.casino_id, new.gaming_day, new.currency, new.version, new.tree_size, new.tree_root, new.engine_version,
      new.content, new.digest, new.through, new.sheet, new.made_at, new.made_by)
     is distinct from
     (old.casino_id, old.gaming_day, old.currency, old.version, old.tree_size, old.tree_root, old.engine_version,
      old.content, old.digest, old.through, old.sheet, old.made_at, old.made_by) then
    raise exception 'night: what a report says is never changed' using errcode = 'ES001';
  end if;
  if old.reviewed_by_id is not null
     and (new.reviewed_by_id, new.reviewed_at) is distinct from (old.reviewed_by_id, old.reviewed_at) then
    raise exception 'night: a signature is never changed' using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger keep_night before update or delete on audit_nightreport
  for each row execute function audit_keep_night();
alter table audit_nightreport enable always trigger keep_night;

create function audit_keep_reservation() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    raise exception 'night: a reservation is never changed' using errcode = 'ES001';
  end if;
  if exists (select from audit_nightreport where id = new.report_id and state = 'closed') then
    raise exception 'night: a closed report takes no reservation' using errcode = 'ES001';
  end if;
  return new;
end $$;

create trigger keep_reservation before insert or update or delete on audit_reservation
  for each row execute function audit_keep_reservation();
alter table audit_reservation enable always trigger keep_reservation;
"""

UNGUARD = """
drop trigger keep_reservation on audit_reservation;
drop function audit_keep_reservation;
drop trigger keep_night on audit_nightreport;
drop function audit_keep_night;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0008_cases'),
    ]

    operations = [
        migrations.AddField(
            model_name='casino',
            name='cutoff',
            field=models.TimeField(default=datetime.time(6, 0), help_text='In the casino’s own time: a gaming day lasts from this hour to the same hour of the next day.', verbose_name='end of the gaming day'),
        ),
        migrations.CreateModel(
            name='NightReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gaming_day', models.DateField(verbose_name='gaming day')),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('version', models.IntegerField(verbose_name='version')),
                ('state', models.CharField(choices=[('open', 'open'), ('counting', 'counting'), ('provisional', 'provisional'), ('reviewed', 'reviewed'), ('closed', 'closed')], max_length=16, verbose_name='state')),
                ('tree_size', models.BigIntegerField(verbose_name='tree size')),
                ('tree_root', models.CharField(blank=True, max_length=64, verbose_name='root')),
                ('engine_version', models.CharField(max_length=32, verbose_name='engine version')),
                ('content', models.BinaryField()),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('through', models.JSONField(default=dict)),
                ('sheet', models.JSONField(default=list, verbose_name='restatement')),
                ('made_at', models.DateTimeField(auto_now_add=True, verbose_name='made')),
                ('made_by', models.CharField(max_length=200, verbose_name='made by')),
                ('reviewed_at', models.DateTimeField(null=True, verbose_name='reviewed')),
                ('closed_at', models.DateTimeField(null=True, verbose_name='closed')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='nights', to='audit.casino', verbose_name='casino')),
                ('closed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='closed_nights', to=settings.AUTH_USER_MODEL, verbose_name='second signature')),
                ('reviewed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviewed_nights', to=settings.AUTH_USER_MODEL, verbose_name='first signature')),
            ],
            options={
                'verbose_name': 'night',
                'verbose_name_plural': 'nights',
                'ordering': ['-gaming_day', 'casino', 'currency', '-version'],
            },
        ),
        migrations.CreateModel(
            name='NightRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gaming_day', models.DateField(verbose_name='gaming day')),
                ('started_at', models.DateTimeField(auto_now_add=True, verbose_name='started')),
                ('started_by', models.CharField(max_length=200, verbose_name='started by')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended')),
                ('through', models.JSONField(default=dict)),
                ('trouble', models.TextField(blank=True, verbose_name='trouble')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='night_runs', to='audit.casino', verbose_name='casino')),
            ],
            options={
                'verbose_name': 'night run',
                'verbose_name_plural': 'night runs',
                'ordering': ['-started_at'],
            },
        ),
        migrations.CreateModel(
            name='NightSubscriber',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(choices=[('en', 'English'), ('fr', 'French')], default='fr', max_length=2, verbose_name='language')),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscribers', to='audit.casino', verbose_name='casino')),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, verbose_name='officer')),
            ],
            options={
                'verbose_name': 'subscriber',
                'verbose_name_plural': 'subscribers',
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=40, verbose_name='what')),
                ('words', models.TextField(verbose_name='reason')),
                ('made_at', models.DateTimeField(auto_now_add=True, verbose_name='made')),
                ('officer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL, verbose_name='officer')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reservations', to='audit.nightreport')),
            ],
            options={
                'verbose_name': 'reservation',
                'verbose_name_plural': 'reservations',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='SessionFigures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('last_seq', models.BigIntegerField()),
                ('engine_version', models.CharField(max_length=32)),
                ('figures', models.BinaryField()),
                ('faults', models.IntegerField(default=0)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('stream', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='figures', to='audit.loggedstream')),
            ],
        ),
        migrations.AddConstraint(
            model_name='nightreport',
            constraint=models.UniqueConstraint(fields=('casino', 'gaming_day', 'currency', 'version'), name='one_night_a_version'),
        ),
        migrations.AddConstraint(
            model_name='nightreport',
            constraint=models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='night_versions_from_one'),
        ),
        migrations.AddConstraint(
            model_name='nightreport',
            constraint=models.CheckConstraint(condition=models.Q(('closed_by', None), models.Q(('reviewed_by__isnull', False), models.Q(('closed_by', models.F('reviewed_by')), _negated=True)), _connector='OR'), name='night_signed_by_two'),
        ),
        migrations.AddConstraint(
            model_name='nightreport',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_by__isnull', False), ('reviewed_by__isnull', False), ('state', 'closed')), models.Q(('closed_by', None), ('reviewed_by__isnull', False), ('state', 'reviewed')), models.Q(models.Q(('state__in', ['closed', 'reviewed']), _negated=True), ('closed_by', None), ('reviewed_by', None)), _connector='OR'), name='night_state_is_its_signatures'),
        ),
        migrations.AddConstraint(
            model_name='nightrun',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('casino', 'gaming_day'), name='one_run_a_night_at_once'),
        ),
        migrations.AddConstraint(
            model_name='nightsubscriber',
            constraint=models.UniqueConstraint(fields=('casino', 'officer'), name='one_subscription_an_officer'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.UniqueConstraint(fields=('report', 'code'), name='one_reservation_a_code'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.CheckConstraint(condition=models.Q(('words', ''), _negated=True), name='reservation_has_words'),
        ),
        migrations.AddConstraint(
            model_name='sessionfigures',
            constraint=models.UniqueConstraint(fields=('stream', 'last_seq', 'engine_version'), name='one_figures_a_session'),
        ),
        migrations.CreateModel(
            name='NightDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sent_at', models.DateTimeField(auto_now_add=True)),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.nightreport')),
                ('subscriber', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='delivered', to='audit.nightsubscriber')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('subscriber', 'report'), name='one_delivery_a_version')],
            },
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
