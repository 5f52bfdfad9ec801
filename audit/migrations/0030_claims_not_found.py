"""Sums are kept for persons not found, references are unique over the installation, ``verify`` holds files of cases."""

from pathlib import Path

import datetime
import django.core.validators
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0029_heartbeats'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='paymentorder',
            name='order_is_of_its_kind',
        ),
        migrations.RemoveConstraint(
            model_name='paymentorder',
            name='order_ended_by_somebody',
        ),
        migrations.RemoveConstraint(
            model_name='paymentorder',
            name='order_paid_with_a_receipt',
        ),
        migrations.AddField(
            model_name='casino',
            name='reference_code',
            field=models.CharField(db_default='', default='', editable=False, max_length=3),
        ),
        migrations.AddField(
            model_name='casino',
            name='unclaimed_days',
            field=models.PositiveSmallIntegerField(db_default=365, default=365, help_text='After these days the sum goes to the cash desk. A change leaves alone what is kept already.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='days that the sum of a person not found is kept'),
        ),
        migrations.AddField(
            model_name='finding',
            name='reference_code',
            field=models.CharField(db_default='', default='', editable=False, max_length=3),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='kept_until',
            field=models.DateField(null=True, verbose_name='kept until'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='not_found_on',
            field=models.DateField(null=True, verbose_name='not found on'),
        ),
        migrations.AlterField(
            model_name='paymentorder',
            name='kind',
            field=models.CharField(choices=[('payment', 'payment order'), ('waiver', 'waiver'), ('not_found', 'person not found')], max_length=16, verbose_name='kind'),
        ),
        migrations.AlterField(
            model_name='paymentorder',
            name='state',
            field=models.CharField(choices=[('waiting', 'waits for a second officer'), ('ordered', 'ordered'), ('paid', 'paid'), ('waived', 'waived'), ('kept', 'kept'), ('handed_over', 'handed over to the cash desk'), ('cancelled', 'cancelled')], max_length=16, verbose_name='state'),
        ),
        migrations.RunSQL((AUDIT / "adjudication/sql/reference_codes.sql").read_text()),
        migrations.AlterField(
            model_name='casino',
            name='reference_code',
            field=models.CharField(db_default='', default='', editable=False, max_length=3, unique=True),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('debtor', 'house'), ('kind', 'payment'), ('state__in', ['waiting', 'ordered', 'paid', 'cancelled'])), models.Q(('debtor__in', ['house', 'player']), ('kind', 'waiver'), ('state__in', ['waiting', 'waived', 'cancelled']), models.Q(('reason', ''), _negated=True)), models.Q(('debtor', 'house'), ('kind', 'not_found'), ('state__in', ['waiting', 'kept', 'handed_over', 'cancelled']), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='order_is_of_its_kind'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('ended_by', None), ('state__in', ['waiting', 'ordered', 'waived', 'kept'])), models.Q(('ended_at__isnull', False), ('ended_by__isnull', False), ('state__in', ['paid', 'handed_over', 'cancelled'])), _connector='OR'), name='order_ended_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('paid_on__isnull', False), ('state__in', ['paid', 'handed_over']), models.Q(('receipt', ''), _negated=True), models.Q(('cage', ''), _negated=True)), models.Q(models.Q(('state__in', ['paid', 'handed_over']), _negated=True), ('cage', ''), ('paid_on', None), ('receipt', '')), _connector='OR'), name='order_paid_with_a_receipt'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kept_until__isnull', False), ('kind', 'not_found'), ('not_found_on__isnull', False), ('kept_until__range', (datetime.date(1, 1, 3), datetime.date(9999, 12, 29))), ('not_found_on__range', (datetime.date(1, 1, 3), datetime.date(9999, 12, 29))), ('kept_until__gt', models.F('not_found_on'))), models.Q(models.Q(('kind', 'not_found'), _negated=True), ('kept_until', None), ('not_found_on', None)), _connector='OR'), name='order_kept_for_a_term'),
        ),
        migrations.RunSQL((AUDIT / "access/sql/casino_terms.sql").read_text()),
        migrations.RunSQL((AUDIT / "casework/sql/not_found.sql").read_text()),
        migrations.RunSQL((AUDIT / "casework/sql/hashed_files.sql").read_text()),
    ]
