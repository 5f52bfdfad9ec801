from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0035_complaints"),
    ]

    operations = [
        migrations.AddField(
            model_name="gamingtable",
            name="name",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="What the casino calls it, such as “Roulette by the window”. Table systems send the code.",
                max_length=100,
                verbose_name="name",
            ),
        ),
    ]
