"""The directory of persons: the names behind the ids that events use."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import audit.models.persons

KINDS = [
    ("player", "player"),
    ("chef_de_partie", "chef de partie"),
    ("chef_de_table", "chef de table"),
    ("croupier", "croupier"),
    ("stickman", "stickman"),
    ("employe", "employé"),
    ("count_room", "count room"),
]

PERSON_ID = django.core.validators.RegexValidator(r"^[A-Za-z0-9._:-]{1,40}\Z", "1 to 40 of A-Z a-z 0-9 . _ : -")
IS_PLAYER = models.Q(kind="player")


class Migration(migrations.Migration):
    dependencies = [("audit", "0018_walls")]

    operations = [
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "code",
                    models.CharField(
                        help_text="as the events have it", max_length=40, validators=[PERSON_ID], verbose_name="id"
                    ),
                ),
                ("kind", models.CharField(choices=KINDS, max_length=16, verbose_name="kind")),
                (
                    "name",
                    models.CharField(
                        max_length=120, validators=[audit.models.persons.is_printable], verbose_name="name"
                    ),
                ),
                (
                    "card_or_licence",
                    models.CharField(
                        blank=True,
                        max_length=60,
                        validators=[audit.models.persons.is_printable],
                        verbose_name="card or licence",
                    ),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True,
                        max_length=500,
                        validators=[audit.models.persons.is_printable],
                        verbose_name="note",
                    ),
                ),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="persons",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
            ],
            options={
                "verbose_name": "person",
                "verbose_name_plural": "persons",
                "ordering": ["casino", "code", "kind"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["casino", "code"], condition=IS_PLAYER, name="one_player_an_id"
                    ),
                    models.UniqueConstraint(
                        fields=["casino", "code"], condition=~IS_PLAYER, name="one_employee_an_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(kind__in=[kind for kind, _ in KINDS]), name="person_kind_is_one"
                    ),
                ],
            },
        ),
    ]
