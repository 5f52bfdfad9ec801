"""Payment orders and waivers are stored, and what was paid or waived is not owed any more."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [
        ('audit', '0022_session_notes'),
    ]

    operations = [
        migrations.CreateModel(
            name='PaymentOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('payment', 'payment order'), ('waiver', 'waiver')], max_length=16, verbose_name='kind')),
                ('reference', models.CharField(max_length=32, verbose_name='number')),
                ('debtor', models.CharField(max_length=8)),
                ('player', models.CharField(blank=True, max_length=200, verbose_name='player')),
                ('amount', models.BigIntegerField(verbose_name='amount')),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('reason', models.TextField(blank=True, verbose_name='reason')),
                ('state', models.CharField(choices=[('waiting', 'waits for a second officer'), ('ordered', 'ordered'), ('paid', 'paid'), ('waived', 'waived'), ('cancelled', 'cancelled')], max_length=16, verbose_name='state')),
                ('ordered_at', models.DateTimeField(verbose_name='ordered')),
                ('approved_at', models.DateTimeField(null=True, verbose_name='approved')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended')),
                ('end_reason', models.TextField(blank=True, verbose_name='reason for cancelling')),
                ('receipt', models.CharField(blank=True, max_length=100, verbose_name='receipt')),
                ('cage', models.CharField(blank=True, max_length=100, verbose_name='cage')),
                ('paid_on', models.DateField(null=True, verbose_name='paid on')),
            ],
            options={
                'verbose_name': 'payment order',
                'verbose_name_plural': 'payment orders',
                'ordering': ['-ordered_at', '-pk'],
            },
        ),
        migrations.RemoveIndex(
            model_name='finding',
            name='finding_claim',
        ),
        migrations.AddField(
            model_name='finding',
            name='cleared',
            field=models.BigIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(condition=models.Q(('difference__isnull', False), ('owed__isnull', False), ('status', 'standing'), models.Q(('severity', 'info'), _negated=True)), fields=['case'], include=('owed', 'cleared'), name='finding_claim'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='approved_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='approved by'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='ordered_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='ordered by'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='case',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='audit.case', verbose_name='case'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.casino', verbose_name='casino'),
        ),
        migrations.AddField(
            model_name='paymentorder',
            name='ended_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='ended by'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['waiting', 'ordered'])), fields=('case', 'debtor', 'player'), name='one_open_order_a_claim'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.UniqueConstraint(fields=('casino', 'reference'), name='order_has_its_own_number'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='order_is_of_an_amount'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('debtor', 'house'), ('kind', 'payment'), ('state__in', ['waiting', 'ordered', 'paid', 'cancelled'])), models.Q(('debtor__in', ['house', 'player']), ('kind', 'waiver'), ('state__in', ['waiting', 'waived', 'cancelled']), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='order_is_of_its_kind'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('approved_at', None), ('approved_by', None)), models.Q(('approved_at__isnull', False), ('approved_by__isnull', False)), _connector='OR'), name='order_approved_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('ended_by', None), ('state__in', ['waiting', 'ordered', 'waived'])), models.Q(('ended_at__isnull', False), ('ended_by__isnull', False), ('state__in', ['paid', 'cancelled'])), _connector='OR'), name='order_ended_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('paid_on__isnull', False), ('state', 'paid'), models.Q(('receipt', ''), _negated=True), models.Q(('cage', ''), _negated=True)), models.Q(models.Q(('state', 'paid'), _negated=True), ('cage', ''), ('paid_on', None), ('receipt', '')), _connector='OR'), name='order_paid_with_a_receipt'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), models.Q(('end_reason', ''), _negated=True), _connector='OR'), name='order_cancelled_why'),
        ),
        migrations.AddConstraint(
            model_name='paymentorder',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'waived'), _negated=True), ('approved_by__isnull', False), _connector='OR'), name='waiver_of_two_officers'),
        ),
        migrations.RunSQL((AUDIT / "casework/sql/payment_orders.sql").read_text()),
        migrations.RunSQL((AUDIT / "notifications/sql/feed_of_cleared.sql").read_text()),
    ]
