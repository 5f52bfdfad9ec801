"""Information opens no case, whatever its money. A night that one officer signed is called signed."""

from pathlib import Path

from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0033_sighting_dismissals")]

    operations = [
        migrations.RunSQL((AUDIT / "casework/sql/information.sql").read_text()),
        migrations.AlterField(
            model_name='nightreport',
            name='reviewed_at',
            field=models.DateTimeField(null=True, verbose_name='signed'),
        ),
        migrations.AlterField(
            model_name='nightreport',
            name='state',
            field=models.CharField(choices=[('open', 'open'), ('counting', 'counting'), ('provisional', 'provisional'), ('reviewed', 'signed'), ('closed', 'closed')], max_length=16, verbose_name='state'),
        ),
    ]
