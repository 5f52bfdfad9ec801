"""Django's tables, as ``makemigrations`` writes them from the models, in an order in which each finds what it refers to.

``0002_sql.py`` has what the models do not say, the schema ``log`` included.
"""

import datetime
from decimal import Decimal
from pathlib import Path

import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.functions.datetime
import django.db.models.functions.math
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import audit.models.casinos
import audit.models.persons
import audit.models.webhooks

# Of a generated column, so it is there before its table.
FINDING_CONTENT = Path(__file__).resolve().parent.parent / "adjudication/sql/finding_content.sql"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    def apply(self, project_state, schema_editor, collect_sql=False):
        """Create the tables with models that are rendered once: Django would render them again for each table."""
        project_state.__dict__.pop("apps", None)
        state = self.mutate_state(project_state, preserve=False)
        for operation in self.operations:
            operation.database_forwards(self.app_label, schema_editor, state, state)
        return state

    operations = [
        migrations.RunSQL(FINDING_CONTENT.read_text()),
        # Casinos and their tables.
        migrations.CreateModel(
            name="Casino",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=100, unique=True, validators=[django.core.validators.RegexValidator("^[A-Za-z0-9._:-]{1,100}\\Z", "1 to 100 of A-Z a-z 0-9 . _ : -")], verbose_name="code")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("time_zone", models.CharField(default="Europe/Paris", max_length=64, validators=[audit.models.casinos._is_zone], verbose_name="time zone")),
                ("cutoff", models.TimeField(default=datetime.time(6, 0), help_text="In the casino’s local time: a gaming day lasts from this hour to the same hour the next day.", verbose_name="end of the gaming day")),
                ("priority_threshold", models.PositiveIntegerField(db_default=100, default=100, help_text="In whole units of the currency. An incident involving this amount or more is looked at sooner.", validators=[django.core.validators.MinValueValidator(1)], verbose_name="amount that raises the priority")),
                (
                    "false_questions",
                    models.DecimalField(
                        db_default=1,
                        decimal_places=2,
                        default=1,
                        help_text="How many statistical questions a year may be due to chance alone, on average. A change takes effect from the following year.",
                        max_digits=4,
                        validators=[django.core.validators.MinValueValidator(Decimal("0.01")), django.core.validators.MaxValueValidator(12)],
                        verbose_name="false questions a year",
                    ),
                ),
                ("reports_from", models.TimeField(blank=True, help_text="In the casino’s own time. Without both hours its tables report around the clock.", null=True, verbose_name="tables report from")),
                ("reports_until", models.TimeField(blank=True, help_text="If it is not later than the first hour, it is on the next day.", null=True, verbose_name="tables report until")),
                (
                    "silent_after_min",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="For a table with an open session, within those hours; also how late its events may arrive. Empty: no alert.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)],
                        verbose_name="minutes without an event before an alert",
                    ),
                ),
                ("is_sandbox", models.BooleanField(db_default=False, default=False, help_text="For trying out a table system: no night, no proof, no case, and it can be emptied. This choice is final.", verbose_name="sandbox")),
            ],
            options={
                "verbose_name": "casino",
                "verbose_name_plural": "casinos",
                "ordering": ["code"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("reports_from", None), ("reports_until", None)), models.Q(("reports_from__isnull", False), ("reports_until__isnull", False)), _connector="OR"),
                        name="casino_reports_between_two_hours",
                        violation_error_message="Enter both hours between which tables report, or neither.",
                    ),
                    models.CheckConstraint(condition=models.Q(("silent_after_min", None), ("silent_after_min__range", (1, 1440)), _connector="OR"), name="casino_silent_after_minutes"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GamingTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="tables", to="audit.casino", verbose_name="casino")),
                ("code", models.CharField(max_length=100, validators=[django.core.validators.RegexValidator("^[A-Za-z0-9._:-]{1,100}\\Z", "1 to 100 of A-Z a-z 0-9 . _ : -")], verbose_name="code")),
                ("name", models.CharField(blank=True, db_default="", default="", help_text="What the casino calls it, such as “Roulette by the window”. Table systems send the code.", max_length=100, verbose_name="name")),
                ("does_not_report", models.BooleanField(db_default=False, default=False, help_text="Nothing is expected of this table: it never counts as silent, and has no alert.", verbose_name="does not report")),
            ],
            options={
                "verbose_name": "table",
                "verbose_name_plural": "tables",
                "ordering": ["casino", "code"],
                "constraints": [models.UniqueConstraint(fields=("casino", "code"), name="one_table_a_code")],
            },
        ),
        # The log, whose tables are made by SQL.
        migrations.CreateModel(
            name="LoggedStream",
            fields=[
                ("stream_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("casino", models.ForeignKey(on_delete=models.DO_NOTHING, related_name="+", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(null=True, on_delete=models.DO_NOTHING, related_name="+", to="audit.gamingtable", verbose_name="table")),
                ("name", models.CharField(max_length=100, verbose_name="stream")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("game", models.TextField(null=True, verbose_name="game")),
                ("ruleset", models.TextField(null=True, verbose_name="ruleset")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("opened_at", models.DateTimeField(verbose_name="opened")),
                ("is_of_desk", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name": "stream",
                "verbose_name_plural": "streams",
                "db_table": '"log"."stream"',
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="LoggedBatch",
            fields=[
                ("pk", models.CompositePrimaryKey("stream_id", "first_seq", blank=True, editable=False, primary_key=True, serialize=False)),
                ("stream_id", models.BigIntegerField()),
                ("first_seq", models.BigIntegerField()),
                ("last_seq", models.BigIntegerField()),
                ("next_seq", models.BigIntegerField()),
                ("count", models.IntegerField()),
                ("root", models.BinaryField()),
                ("chain", models.BinaryField()),
                ("key_id", models.BigIntegerField()),
                ("received_at", models.DateTimeField()),
            ],
            options={
                "db_table": '"log"."batch"',
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="LoggedEvent",
            fields=[
                ("pk", models.CompositePrimaryKey("stream_id", "seq", blank=True, editable=False, primary_key=True, serialize=False)),
                ("stream_id", models.BigIntegerField()),
                ("seq", models.BigIntegerField()),
                ("occurred_at", models.DateTimeField(verbose_name="occurred")),
            ],
            options={
                "verbose_name": "event",
                "verbose_name_plural": "events",
                "db_table": '"log"."event"',
                "managed": False,
            },
        ),
        # Officers.
        migrations.CreateModel(
            name="Officer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("is_superuser", models.BooleanField(default=False, help_text="Designates that this user has all permissions without explicitly assigning them.", verbose_name="superuser status")),
                (
                    "username",
                    models.CharField(error_messages={"unique": "A user with that username already exists."}, help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.", max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name="username"),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                ("is_staff", models.BooleanField(default=False, help_text="Designates whether the user can log into this admin site.", verbose_name="staff status")),
                ("is_active", models.BooleanField(default=True, help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.", verbose_name="active")),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("created_by", models.ForeignKey(blank=True, editable=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("groups", models.ManyToManyField(blank=True, help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.", related_name="user_set", related_query_name="user", to="auth.group", verbose_name="groups")),
                ("user_permissions", models.ManyToManyField(blank=True, help_text="Specific permissions for this user.", related_name="user_set", related_query_name="user", to="auth.permission", verbose_name="user permissions")),
            ],
            options={
                "verbose_name": "officer",
                "verbose_name_plural": "officers",
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("officer", models.ForeignKey(on_delete=models.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL)),
                ("casino", models.ForeignKey(on_delete=models.CASCADE, related_name="memberships", to="audit.casino", verbose_name="casino")),
                ("role", models.CharField(choices=[("officer", "officer"), ("second", "second officer"), ("director", "director"), ("auditor", "auditor"), ("administrator", "administrator")], default="officer", max_length=16, verbose_name="role")),
            ],
            options={
                "verbose_name": "role at a casino",
                "verbose_name_plural": "roles at casinos",
                "db_table": "audit_officer_casinos",
                "constraints": [models.UniqueConstraint(fields=("officer", "casino"), name="one_role_at_a_casino"), models.CheckConstraint(condition=models.Q(("role__in", ["officer", "second", "director", "auditor", "administrator"])), name="role_is_one")],
            },
        ),
        migrations.AddField(
            model_name="officer",
            name="casinos",
            field=models.ManyToManyField(blank=True, related_name="officers", through="audit.Membership", to="audit.casino", verbose_name="casinos"),
        ),
        # Accounts.
        migrations.CreateModel(
            name="AccessLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="access_links", to=settings.AUTH_USER_MODEL)),
                ("is_invitation", models.BooleanField()),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("issued_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("issued_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("is_shown", models.BooleanField()),
                ("used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("officer", models.F("issued_by")), _negated=True), name="access_link_for_another"),
                    models.CheckConstraint(condition=models.Q(("used_at", None), ("revoked_at", None), _connector="OR"), name="access_link_used_or_revoked"),
                    models.UniqueConstraint(condition=models.Q(("revoked_at", None), ("used_at", None)), fields=("officer",), name="one_access_link_an_officer"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AccountRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("role", "role"), ("second_factor", "reset of the second factor"), ("email", "new e-mail address"), ("reactivation", "reactivation")], max_length=16, verbose_name="request")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="account_requests", to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("casino", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="account_requests", to="audit.casino", verbose_name="casino")),
                ("role", models.CharField(blank=True, choices=[("officer", "officer"), ("second", "second officer"), ("director", "director"), ("auditor", "auditor"), ("administrator", "administrator")], max_length=16, verbose_name="role")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail address")),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("approved", "approved"), ("declined", "declined"), ("withdrawn", "withdrawn")], default="waiting", max_length=16, verbose_name="state")),
                ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="proposed by")),
                ("proposed_at", models.DateTimeField(verbose_name="proposed")),
                ("decided_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="decided by")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("is_first", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["role", "second_factor", "email", "reactivation"])), name="account_request_kind_is_one"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("casino__isnull", False), ("email", ""), ("kind", "role"), ("role__in", ["officer", "second", "director", "auditor", "administrator"])),
                            models.Q(("casino", None), ("kind", "email"), ("role", ""), models.Q(("email", ""), _negated=True)),
                            models.Q(("casino", None), ("email", ""), ("kind__in", ["second_factor", "reactivation"]), ("role", "")),
                            _connector="OR",
                        ),
                        name="account_request_is_of_its_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("decided_at", None), ("decided_by", None), ("state", "waiting")), models.Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("state__in", ["approved", "declined", "withdrawn"])), _connector="OR"), name="account_request_decided_by_somebody"
                    ),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "approved"), _negated=True), models.Q(("decided_by", models.F("proposed_by")), _negated=True), models.Q(("is_first", True), ("kind", "role"), ("role", "administrator")), _connector="OR"), name="account_request_four_eyes"),
                    models.CheckConstraint(condition=models.Q(models.Q(("officer", models.F("proposed_by")), _negated=True), models.Q(("decided_by", None), models.Q(("officer", models.F("decided_by")), _negated=True), _connector="OR")), name="account_request_not_for_oneself"),
                    models.UniqueConstraint(condition=models.Q(("state", "waiting")), fields=("officer", "kind", "casino"), name="one_waiting_account_request", nulls_distinct=False),
                ],
            },
        ),
        migrations.CreateModel(
            name="SignInRefusal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("starts_at", models.DateTimeField()),
                ("network", models.CharField(max_length=50)),
                ("refusals", models.PositiveIntegerField(default=1)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("starts_at", "network"), name="one_refusal_a_window_and_network")],
            },
        ),
        # Sign-on.
        migrations.CreateModel(
            name="ProviderAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("officer", models.OneToOneField(on_delete=models.PROTECT, related_name="provider_account", to=settings.AUTH_USER_MODEL)),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("linked_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "account at the provider",
                "verbose_name_plural": "accounts at the provider",
                "constraints": [models.UniqueConstraint(fields=("issuer", "subject"), name="one_officer_an_account_at_the_provider")],
            },
        ),
        migrations.CreateModel(
            name="GroupRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("role", models.CharField(choices=[("officer", "officer"), ("second", "second officer"), ("director", "director"), ("auditor", "auditor"), ("administrator", "administrator")], max_length=16, verbose_name="role")),
                ("group", models.CharField(max_length=255, verbose_name="group")),
            ],
            options={
                "verbose_name": "role of a group",
                "verbose_name_plural": "roles of groups",
                "constraints": [models.UniqueConstraint(fields=("casino", "role", "group"), name="one_role_of_a_group"), models.CheckConstraint(condition=models.Q(("role__in", ["officer", "second", "director", "auditor", "administrator"])), name="group_role_is_one")],
            },
        ),
        # API keys.
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="keys", to="audit.casino", verbose_name="casino")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("prefix", models.CharField(editable=False, max_length=16, unique=True, verbose_name="prefix")),
                ("digest", models.BinaryField(max_length=32)),
                ("public_key", models.BinaryField(max_length=32, null=True, verbose_name="public key")),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(choices=[("events:write", "record events"), ("events:backfill", "record events of any past gaming day"), ("streams:read", "read streams"), ("findings:read", "read findings"), ("reports:read", "read reports")], max_length=32), size=None, verbose_name="scopes"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("expires_at", models.DateTimeField(blank=True, null=True, verbose_name="expires")),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="last used")),
                ("tables", models.ManyToManyField(blank=True, help_text="The tables this system reports on; if none is chosen, every table at the casino.", related_name="keys", to="audit.gamingtable", verbose_name="tables")),
            ],
            options={
                "verbose_name": "API key",
                "verbose_name_plural": "API keys",
                "ordering": ["casino", "name", "-created_at"],
            },
        ),
        # Persons.
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="persons", to="audit.casino", verbose_name="casino")),
                ("code", models.CharField(help_text="as it appears in the events", max_length=40, validators=[django.core.validators.RegexValidator("^[A-Za-z0-9._:-]{1,40}\\Z", "1 to 40 of A-Z a-z 0-9 . _ : -")], verbose_name="id")),
                ("kind", models.CharField(choices=[("player", "player"), ("chef_de_partie", "chef de partie"), ("chef_de_table", "chef de table"), ("croupier", "croupier"), ("stickman", "stickman"), ("employe", "employé"), ("count_room", "count room")], max_length=16, verbose_name="kind")),
                ("name", models.CharField(max_length=120, validators=[audit.models.persons.is_printable], verbose_name="name")),
                ("card_or_licence", models.CharField(blank=True, max_length=60, validators=[audit.models.persons.is_printable], verbose_name="card or licence")),
                ("note", models.CharField(blank=True, max_length=500, validators=[audit.models.persons.is_printable], verbose_name="note")),
            ],
            options={
                "verbose_name": "person",
                "verbose_name_plural": "persons",
                "ordering": ["casino", "code", "kind"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("kind", "player")), fields=("casino", "code"), name="one_player_an_id"),
                    models.UniqueConstraint(condition=models.Q(("kind", "player"), _negated=True), fields=("casino", "code"), name="one_employee_an_id"),
                    models.CheckConstraint(condition=models.Q(("kind__in", ["player", "chef_de_partie", "chef_de_table", "croupier", "stickman", "employe", "count_room"])), name="person_kind_is_one"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ErasedPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("code", models.CharField(max_length=40, verbose_name="id")),
                ("kind", models.CharField(max_length=16, verbose_name="kind")),
                ("reason", models.TextField(verbose_name="reason")),
                ("erased_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="erased by")),
                ("erased_at", models.DateTimeField(verbose_name="erased")),
            ],
            options={
                "verbose_name": "erased person",
                "verbose_name_plural": "erased persons",
                "indexes": [models.Index(fields=["casino", "code"], name="erased_of_a_casino")],
            },
        ),
        # The house register.
        migrations.CreateModel(
            name="RegisterEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="register", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="register", to="audit.gamingtable", verbose_name="table")),
                ("ruleset", models.CharField(blank=True, max_length=64, verbose_name="ruleset")),
                ("reading", models.CharField(max_length=64, verbose_name="reading")),
                ("value", models.JSONField(null=True, verbose_name="value")),
                ("first_day", models.DateField(verbose_name="in force from")),
                ("last_day", models.DateField(null=True, verbose_name="last day in force")),
                ("reason", models.TextField(verbose_name="reason")),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("approved", "approved"), ("declined", "declined"), ("withdrawn", "withdrawn")], default="waiting", max_length=16, verbose_name="state")),
                ("version", models.BigIntegerField(null=True, verbose_name="version")),
                ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="proposed by")),
                ("proposed_at", models.DateTimeField(verbose_name="proposed")),
                ("decided_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="decided by")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decision_reason", models.TextField(blank=True, verbose_name="reason for the decision")),
            ],
            options={
                "verbose_name": "entry in the register",
                "verbose_name_plural": "house register",
                "ordering": ["casino", "-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("decided_at", None), ("decided_by", None), ("state", "waiting")), models.Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("state__in", ["approved", "declined", "withdrawn"])), _connector="OR"), name="register_entry_decided_by_somebody"
                    ),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "approved"), ("version__isnull", False)), models.Q(models.Q(("state", "approved"), _negated=True), ("version", None)), _connector="OR"), name="register_entry_approved_is_numbered"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "approved"), _negated=True), models.Q(("decided_by", models.F("proposed_by")), _negated=True), _connector="OR"), name="register_entry_four_eyes"),
                    models.CheckConstraint(condition=models.Q(("last_day", None), ("last_day__gte", models.F("first_day")), _connector="OR"), name="register_entry_has_days"),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="register_entry_has_a_reason"),
                    models.UniqueConstraint(fields=("casino", "version"), name="one_register_entry_a_version"),
                    models.UniqueConstraint(condition=models.Q(("state", "waiting")), fields=("casino", "table", "ruleset", "reading"), name="one_waiting_register_entry", nulls_distinct=False),
                ],
            },
        ),
        # Runs of adjudication.
        migrations.CreateModel(
            name="WhatIf",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("casino", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="what_ifs", to="audit.casino", verbose_name="casino")),
                ("readings", models.JSONField(default=dict, verbose_name="readings")),
                ("selection", models.JSONField(default=dict, verbose_name="streams")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("started_at", models.DateTimeField(auto_now_add=True, verbose_name="started")),
                ("started_by", models.CharField(max_length=200, verbose_name="started by")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("streams", models.BigIntegerField(default=0, verbose_name="streams")),
                ("promoted_at", models.DateTimeField(blank=True, null=True, verbose_name="promoted")),
                ("promoted_by", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="promoted by")),
            ],
            options={
                "verbose_name": "what-if run",
                "verbose_name_plural": "what-if runs",
                "ordering": ["-started_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("casino", "name"), name="one_what_if_a_name", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(models.Q(("casino", None), models.Q(("selection__has_key", "casino"), _negated=True)), models.Q(("casino__isnull", False), ("selection__has_key", "casino")), _connector="OR"), name="what_if_of_its_casino"),
                    models.CheckConstraint(condition=models.Q(models.Q(("promoted_at", None), ("promoted_by", "")), models.Q(("promoted_at__isnull", False), models.Q(("promoted_by", ""), _negated=True)), _connector="OR"), name="what_if_promoted_by_somebody"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AdjudicationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="runs", to="audit.loggedstream", verbose_name="stream")),
                ("casino", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("what_if", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="runs", to="audit.whatif")),
                ("number", models.IntegerField(default=1, verbose_name="run")),
                ("cause", models.CharField(choices=[("first", "first run"), ("correction", "correction"), ("engine", "another engine version"), ("register", "change to the register"), ("approval", "approval of a correction"), ("manual", "by hand")], default="first", max_length=16, verbose_name="cause")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("register_version", models.BigIntegerField(blank=True, null=True, verbose_name="register version")),
                ("corrections_through", models.BigIntegerField(default=0)),
                ("approved", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, null=True, size=None)),
                ("state", models.CharField(choices=[("running", "running"), ("complete", "complete"), ("failed", "failed"), ("superseded", "superseded")], default="running", max_length=16, verbose_name="state")),
                ("replaces", models.ForeignKey(db_index=False, null=True, on_delete=models.DO_NOTHING, related_name="+", to="audit.adjudicationrun")),
                ("superseded_by", models.ForeignKey(db_index=False, null=True, on_delete=models.DO_NOTHING, related_name="+", to="audit.adjudicationrun", verbose_name="superseded by")),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="began")),
                ("completed_at", models.DateTimeField(null=True, verbose_name="complete since")),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("tries", models.IntegerField(default=0, verbose_name="attempts")),
                ("failed_at", models.DateTimeField(null=True, verbose_name="failed since")),
                ("next_try_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("error_type", models.CharField(blank=True, max_length=100, verbose_name="error")),
                ("error", models.TextField(blank=True, verbose_name="reason")),
            ],
            options={
                "verbose_name": "run",
                "verbose_name_plural": "runs",
                "ordering": ["-pk"],
                "indexes": [models.Index(condition=models.Q(("state", "failed")), fields=["casino", "next_try_at"], name="run_failed")],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state__in", ["running", "failed"])), fields=("stream", "what_if"), name="one_run_under_way", nulls_distinct=False),
                    models.UniqueConstraint(condition=models.Q(("state", "complete")), fields=("stream", "what_if"), name="one_complete_run", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(("state__in", ["running", "complete", "failed", "superseded"])), name="run_state_is_one"),
                    models.CheckConstraint(condition=models.Q(("cause__in", ["first", "correction", "engine", "register", "approval", "manual"])), name="run_cause_is_one"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "complete"), _negated=True), ("completed_at__isnull", False), _connector="OR"), name="run_complete_since"),
                    models.CheckConstraint(condition=models.Q(("state", "superseded"), models.Q(("ended_at", None), ("superseded_by", None)), _connector="OR"), name="run_superseded_by_a_run"),
                    models.CheckConstraint(condition=models.Q(models.Q(("failed_at__isnull", False), ("next_try_at__isnull", False), ("state", "failed")), models.Q(models.Q(("state", "failed"), _negated=True), ("next_try_at", None)), _connector="OR"), name="run_failed_is_tried_again"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FailedRun",
            fields=[],
            options={
                "verbose_name": "failed run",
                "verbose_name_plural": "failed runs",
                "ordering": ["failed_at"],
                "proxy": True,
            },
            bases=("audit.adjudicationrun",),
        ),
        # Cases.
        migrations.CreateModel(
            name="Deadline",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="deadlines", to="audit.casino", verbose_name="casino")),
                ("severity", models.CharField(choices=[("critical", "critical"), ("major", "major"), ("minor", "minor"), ("info", "information")], max_length=16, verbose_name="severity")),
                ("hours", models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(8760)], verbose_name="hours")),
            ],
            options={
                "verbose_name": "deadline",
                "verbose_name_plural": "deadlines",
                "constraints": [models.UniqueConstraint(fields=("casino", "severity"), name="one_deadline_a_severity", nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream_id", models.BigIntegerField()),
                ("seq", models.BigIntegerField()),
                ("rule", models.CharField(max_length=80)),
                ("wager", models.CharField(blank=True, max_length=200)),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="cases", to="audit.casino", verbose_name="casino")),
                ("weight", models.SmallIntegerField()),
                ("state", models.CharField(choices=[("new", "new"), ("investigating", "investigating"), ("second", "second officer"), ("closed", "closed")], default="new", max_length=16, verbose_name="state")),
                ("opened_at", models.DateTimeField(verbose_name="opened")),
                ("deadline", models.DateTimeField(verbose_name="deadline")),
                ("assigned_to", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="cases", to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("outcome", models.CharField(blank=True, choices=[("confirmed", "breach confirmed"), ("explained", "explained"), ("mistaken", "mistaken")], max_length=16, verbose_name="outcome")),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
                ("proposed_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="proposed", to=settings.AUTH_USER_MODEL, verbose_name="proposed by")),
                ("approved_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="approved", to=settings.AUTH_USER_MODEL, verbose_name="approved by")),
                ("closed_at", models.DateTimeField(blank=True, null=True, verbose_name="closed")),
            ],
            options={
                "verbose_name": "case",
                "verbose_name_plural": "cases",
                "indexes": [
                    models.Index(fields=["casino", "state", "weight", "deadline"], name="case_queue"),
                    models.Index(fields=["weight", "deadline"], name="case_urgency"),
                    models.Index(condition=models.Q(("state", "closed"), _negated=True), fields=["weight", "deadline"], name="case_open_urgency"),
                    models.Index(condition=models.Q(("state", "closed")), fields=["casino", "closed_at"], name="case_closed"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("stream_id", "seq", "rule", "wager"), name="one_case_an_identity"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["new", "investigating", "second", "closed"])), name="case_state_is_one"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "second"), _negated=True), models.Q(("outcome__in", ["confirmed", "explained", "mistaken"]), ("proposed_by__isnull", False), models.Q(("reason", ""), _negated=True)), _connector="OR"), name="case_proposed_by_somebody"),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("state", "closed"), _negated=True), models.Q(("approved_by__isnull", False), ("closed_at__isnull", False), ("proposed_by__isnull", False), ("outcome__in", ["confirmed", "explained", "mistaken"]), models.Q(("reason", ""), _negated=True)), _connector="OR"),
                        name="case_closed_by_two",
                    ),
                    models.CheckConstraint(condition=models.Q(("approved_by", None), models.Q(("approved_by", models.F("proposed_by")), _negated=True), _connector="OR"), name="case_four_eyes"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CaseAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="actions", to="audit.case")),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("type", models.CharField(max_length=40)),
                ("reason", models.TextField(blank=True)),
                ("about", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "verbose_name": "action",
                "verbose_name_plural": "actions",
                "ordering": ["at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("officer", models.ForeignKey(on_delete=models.CASCADE, related_name="views", to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("query", models.CharField(blank=True, max_length=500)),
                ("is_shared", models.BooleanField(default=False, verbose_name="shared")),
            ],
            options={
                "verbose_name": "view",
                "verbose_name_plural": "views",
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("officer", "name"), name="one_view_a_name")],
            },
        ),
        # Findings.
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="adjudications", to="audit.loggedstream")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("what_if", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="adjudications", to="audit.whatif")),
                ("ruleset", models.CharField(blank=True, max_length=64, verbose_name="ruleset")),
                ("readings_digest", models.CharField(blank=True, max_length=64, verbose_name="digest of the readings")),
                ("run", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to="audit.adjudicationrun")),
                ("known_ids", models.JSONField(default=dict)),
                ("cursor", models.BigIntegerField(default=0, verbose_name="adjudicated up to")),
                ("next_seq", models.BigIntegerField(default=1, verbose_name="next event")),
                ("events", models.BigIntegerField(default=0, verbose_name="events")),
                ("state", models.BinaryField(default=b"")),
                ("closed", models.BooleanField(default=False, verbose_name="closed")),
                ("updated_at", models.DateTimeField(auto_now=True, verbose_name="adjudicated")),
            ],
            options={
                "verbose_name": "adjudication",
                "verbose_name_plural": "adjudications",
                "constraints": [models.UniqueConstraint(fields=("stream", "engine_version", "what_if"), name="one_cursor_a_stream", nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="%(class)ss", to="audit.loggedstream", verbose_name="stream")),
                ("seq", models.BigIntegerField(verbose_name="event")),
                ("rule", models.CharField(max_length=80, verbose_name="rule")),
                ("wager", models.CharField(blank=True, max_length=200, verbose_name="wager")),
                ("ruleset", models.CharField(blank=True, max_length=64, verbose_name="ruleset")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("readings_digest", models.CharField(blank=True, max_length=64, verbose_name="digest of the readings")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="%(class)ss", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="%(class)ss", to="audit.gamingtable", verbose_name="table")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("occurred_at", models.DateTimeField(verbose_name="occurred")),
                ("severity", models.CharField(choices=[("critical", "critical"), ("major", "major"), ("minor", "minor"), ("info", "information")], max_length=16, verbose_name="severity")),
                ("evidence", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None, verbose_name="evidence")),
                ("expected", models.JSONField(null=True, verbose_name="expected")),
                ("recorded", models.JSONField(null=True, verbose_name="recorded")),
                ("provision", models.CharField(blank=True, max_length=64, verbose_name="provision")),
                ("facts", models.JSONField(default=dict, verbose_name="facts")),
                ("currency", models.CharField(blank=True, max_length=3, verbose_name="currency")),
                ("after_loss", models.BooleanField(default=False, verbose_name="after a loss")),
                ("player", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="player")),
                ("croupier", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="croupier")),
                ("provisions", models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name="provisions")),
                ("causes", models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name="causes")),
                ("difference", models.BigIntegerField(null=True, verbose_name="difference")),
                ("owed", models.JSONField(null=True, verbose_name="owed")),
                ("put_right_by", models.BigIntegerField(null=True, verbose_name="put right by event")),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="found")),
                ("status", models.CharField(choices=[("pending", "pending"), ("standing", "standing"), ("superseded", "superseded")], default="standing", max_length=16, verbose_name="status")),
                ("run", models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="audit.adjudicationrun", verbose_name="run")),
                ("stood_at", models.DateTimeField(default=django.utils.timezone.now, null=True, verbose_name="standing since")),
                ("year", models.SmallIntegerField(editable=False, null=True, verbose_name="year of the reference")),
                ("number", models.BigIntegerField(editable=False, null=True, verbose_name="number in the year")),
                ("superseded_at", models.DateTimeField(blank=True, null=True, verbose_name="superseded")),
                ("superseded_by_run", models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="audit.adjudicationrun", verbose_name="superseded by")),
                ("content", models.GeneratedField(db_persist=True, expression=models.Func("run", "severity", "evidence", "expected", "recorded", "provision", "facts", "after_loss", "occurred_at", "player", "croupier", "provisions", "causes", function="audit_finding_content"), output_field=models.UUIDField(null=True))),
                ("case", models.ForeignKey(editable=False, null=True, on_delete=models.PROTECT, related_name="findings", to="audit.case", verbose_name="case")),
                ("heads_case", models.BooleanField(db_default=False, default=False, editable=False)),
            ],
            options={
                "verbose_name": "finding",
                "verbose_name_plural": "findings",
                "ordering": ["-occurred_at", "-id"],
                "indexes": [
                    models.Index(fields=["casino", "-occurred_at", "-id"], name="finding_newest"),
                    models.Index(fields=["casino", "gaming_day", "rule"], name="finding_by_day"),
                    models.Index(condition=models.Q(("heads_case", True), ("status", "standing")), fields=["case", "casino"], name="finding_heads_incident"),
                    models.Index(condition=models.Q(("status", "standing")), fields=["case", "casino"], name="finding_of_incident"),
                    models.Index(condition=models.Q(("status", "standing"), ("table__isnull", False)), fields=["table", "rule"], name="finding_at_table"),
                    models.Index(models.F("case"), models.OrderBy(django.db.models.functions.math.Abs("difference"), descending=True), condition=models.Q(("difference__isnull", False), ("status", "standing")), name="finding_by_size"),
                    models.Index(fields=["casino", "rule"], name="finding_by_rule"),
                    models.Index(condition=models.Q(("status", "standing"), models.Q(("croupier", ""), _negated=True)), fields=["casino", "rule", "croupier", "gaming_day"], name="finding_by_croupier"),
                    models.Index(condition=models.Q(("status", "standing"), models.Q(("croupier", ""), _negated=True)), fields=["casino", "gaming_day", "croupier", "rule"], name="finding_of_nights"),
                    models.Index(condition=models.Q(("status", "standing"), models.Q(("player", ""), _negated=True)), fields=["casino", "player", "gaming_day"], name="finding_by_player"),
                    models.Index(condition=models.Q(("number__isnull", False)), fields=["number", "year"], name="finding_by_reference"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest", "content"), name="one_finding_an_identity", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(("evidence__len__gt", 0)), name="finding_has_evidence"),
                    models.CheckConstraint(condition=models.Q(("superseded_at", None), ("superseded_at__gte", models.F("opened_at")), _connector="OR"), name="superseded_after_found"),
                    models.CheckConstraint(condition=models.Q(("status__in", ["pending", "standing", "superseded"])), name="finding_status_is_one"),
                    models.CheckConstraint(condition=models.Q(models.Q(("status", "superseded"), ("superseded_at__isnull", False)), models.Q(models.Q(("status", "superseded"), _negated=True), ("superseded_at", None), ("superseded_by_run", None)), _connector="OR"), name="finding_superseded_at"),
                    models.CheckConstraint(condition=models.Q(models.Q(("status", "standing"), _negated=True), models.Q(("stood_at__isnull", False), models.Q(("severity", "info"), ("case__isnull", False), ("stream__gte", 2251799813685248), _connector="OR")), _connector="OR"), name="finding_stands_with_case"),
                    models.CheckConstraint(condition=models.Q(("stood_at__isnull", False), models.Q(("case", None), ("run__isnull", False)), _connector="OR"), name="finding_stood_or_has_none"),
                    models.CheckConstraint(condition=models.Q(models.Q(("number", None), ("year", None)), models.Q(("number__gt", 0), ("year__isnull", False)), _connector="OR"), name="finding_is_numbered"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FindingCounter",
            fields=[
                ("pk", models.CompositePrimaryKey("casino_id", "year", blank=True, editable=False, primary_key=True, serialize=False)),
                ("casino", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="audit.casino")),
                ("year", models.SmallIntegerField(verbose_name="year")),
                ("last", models.BigIntegerField(verbose_name="last number")),
            ],
            options={
                "verbose_name": "counter of findings",
                "verbose_name_plural": "counters of findings",
            },
        ),
        migrations.CreateModel(
            name="WhatIfFinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="%(class)ss", to="audit.loggedstream", verbose_name="stream")),
                ("seq", models.BigIntegerField(verbose_name="event")),
                ("rule", models.CharField(max_length=80, verbose_name="rule")),
                ("wager", models.CharField(blank=True, max_length=200, verbose_name="wager")),
                ("ruleset", models.CharField(blank=True, max_length=64, verbose_name="ruleset")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("readings_digest", models.CharField(blank=True, max_length=64, verbose_name="digest of the readings")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="%(class)ss", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="%(class)ss", to="audit.gamingtable", verbose_name="table")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("occurred_at", models.DateTimeField(verbose_name="occurred")),
                ("severity", models.CharField(choices=[("critical", "critical"), ("major", "major"), ("minor", "minor"), ("info", "information")], max_length=16, verbose_name="severity")),
                ("evidence", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None, verbose_name="evidence")),
                ("expected", models.JSONField(null=True, verbose_name="expected")),
                ("recorded", models.JSONField(null=True, verbose_name="recorded")),
                ("provision", models.CharField(blank=True, max_length=64, verbose_name="provision")),
                ("facts", models.JSONField(default=dict, verbose_name="facts")),
                ("currency", models.CharField(blank=True, max_length=3, verbose_name="currency")),
                ("after_loss", models.BooleanField(default=False, verbose_name="after a loss")),
                ("player", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="player")),
                ("croupier", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="croupier")),
                ("provisions", models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name="provisions")),
                ("causes", models.JSONField(db_default=models.Value([], models.JSONField()), default=list, verbose_name="causes")),
                ("difference", models.BigIntegerField(null=True, verbose_name="difference")),
                ("owed", models.JSONField(null=True, verbose_name="owed")),
                ("put_right_by", models.BigIntegerField(null=True, verbose_name="put right by event")),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="found")),
                ("what_if", models.ForeignKey(on_delete=models.CASCADE, related_name="findings", to="audit.whatif")),
            ],
            options={
                "verbose_name": "finding of a what-if run",
                "verbose_name_plural": "findings of what-if runs",
                "ordering": ["stream_id", "seq", "rule", "wager"],
                "constraints": [models.UniqueConstraint(fields=("what_if", "stream", "seq", "rule", "wager"), name="one_what_if_finding")],
            },
        ),
        migrations.CreateModel(
            name="RetiredWagers",
            fields=[
                ("pk", models.CompositePrimaryKey("run_id", "through", blank=True, editable=False, primary_key=True, serialize=False)),
                ("run", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="retired", to="audit.adjudicationrun")),
                ("through", models.BigIntegerField()),
                ("digests", models.BinaryField()),
                ("saved", models.BinaryField()),
            ],
            options={
                "verbose_name": "settled wagers",
                "verbose_name_plural": "settled wagers",
            },
        ),
        # Decisions on corrections.
        migrations.CreateModel(
            name="CorrectionDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="+", to="audit.loggedstream", verbose_name="stream")),
                ("seq", models.BigIntegerField(verbose_name="correction")),
                ("number", models.SmallIntegerField()),
                ("verdict", models.CharField(choices=[("countersigned", "countersigned"), ("refused", "refused")], max_length=16, verbose_name="decision")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("reason", models.TextField(verbose_name="reason")),
                ("decided_at", models.DateTimeField(verbose_name="decided")),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
            ],
            options={
                "verbose_name": "decision on a correction",
                "verbose_name_plural": "decisions on corrections",
                "ordering": ["stream", "seq", "number"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("number__in", [1, 2])), name="correction_decided_by_two_at_most"),
                    models.CheckConstraint(condition=models.Q(("verdict__in", ["countersigned", "refused"])), name="correction_verdict_is_one"),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="correction_decision_has_a_reason"),
                    models.UniqueConstraint(fields=("stream", "seq", "number"), name="one_correction_decision_a_number"),
                    models.UniqueConstraint(fields=("stream", "seq", "officer"), name="one_correction_decision_an_officer"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[],
            options={
                "verbose_name": "correction",
                "verbose_name_plural": "corrections",
                "ordering": ["-pk"],
                "proxy": True,
            },
            bases=("audit.finding",),
        ),
        # Complaints.
        migrations.CreateModel(
            name="Complaint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.gamingtable", verbose_name="table")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="+", to="audit.loggedstream")),
                ("seq", models.BigIntegerField()),
                ("clock", models.TimeField(verbose_name="clock time")),
                ("wager", models.CharField(blank=True, max_length=200, verbose_name="wager")),
                ("player", models.CharField(blank=True, max_length=200, verbose_name="player")),
                ("came", models.CharField(choices=[("table", "at the table"), ("cage", "at the cage"), ("letter", "by letter"), ("mail", "by e-mail")], max_length=16, verbose_name="how it came in")),
                ("words", models.TextField(verbose_name="what the player says")),
                ("entered_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="entered by")),
                ("entered_at", models.DateTimeField(verbose_name="entered")),
                ("deadline", models.DateTimeField(verbose_name="deadline")),
            ],
            options={
                "verbose_name": "complaint",
                "verbose_name_plural": "complaints",
                "indexes": [models.Index(fields=["stream", "seq"], name="complaints_of_a_stream"), models.Index(fields=["casino", "deadline"], name="complaints_by_deadline")],
                "constraints": [models.CheckConstraint(condition=models.Q(("came__in", ["table", "cage", "letter", "mail"])), name="complaint_came_somehow")],
            },
        ),
        migrations.CreateModel(
            name="ComplaintAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("complaint", models.OneToOneField(on_delete=models.PROTECT, related_name="answer", to="audit.complaint")),
                ("outcome", models.CharField(choices=[("founded", "upheld"), ("unfounded", "not upheld"), ("withdrawn", "withdrawn")], max_length=16, verbose_name="outcome")),
                ("amount", models.BigIntegerField(null=True, verbose_name="amount")),
                ("paid_seq", models.BigIntegerField(null=True)),
                ("words", models.TextField(verbose_name="answer")),
                ("answered_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="answered by")),
                ("answered_at", models.DateTimeField(verbose_name="answered")),
            ],
            options={
                "verbose_name": "answer to a complaint",
                "verbose_name_plural": "answers to complaints",
                "constraints": [models.CheckConstraint(condition=models.Q(models.Q(("amount__gte", 0), ("outcome", "founded")), models.Q(("amount", None), ("outcome__in", ["unfounded", "withdrawn"]), ("paid_seq", None)), _connector="OR"), name="complaint_answer_of_a_kind")],
            },
        ),
        # Messages about cases.
        migrations.CreateModel(
            name="CaseContacts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.OneToOneField(on_delete=models.PROTECT, related_name="case_contacts", to="audit.casino", verbose_name="casino")),
                ("video_room", models.EmailField(blank=True, help_text="Receives what officers ask for: a table, a start and an end time, with ids and never a name.", max_length=254, verbose_name="address of the video room")),
                ("deputy", models.ForeignKey(blank=True, help_text="Is told of each case still open after its deadline. If nobody is named: the administrators of the casino.", null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="deputy for late cases")),
            ],
            options={
                "verbose_name": "case contacts",
                "verbose_name_plural": "case contacts",
                "ordering": ["casino__code"],
            },
        ),
        migrations.CreateModel(
            name="VideoRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sent_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="video_requests", to="audit.case")),
                ("finding", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.finding")),
                ("requested_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("requested_at", models.DateTimeField(auto_now_add=True)),
                ("address", models.EmailField(max_length=254)),
                ("language", models.CharField(max_length=2)),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("kept_until", models.DateTimeField()),
            ],
            options={
                "ordering": ["requested_at", "pk"],
                "constraints": [models.CheckConstraint(condition=models.Q(("ends_at__gt", models.F("begins_at"))), name="video_has_a_length")],
            },
        ),
        migrations.CreateModel(
            name="Escalation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="escalations", to="audit.case")),
                ("deadline", models.DateTimeField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("deputy", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["deadline", "pk"],
                "constraints": [models.UniqueConstraint(fields=("case", "deadline"), name="one_escalation_a_deadline")],
            },
        ),
        migrations.CreateModel(
            name="EscalationNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sent_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("escalation", models.ForeignKey(on_delete=models.PROTECT, related_name="notices", to="audit.escalation")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("escalation", "officer"), name="one_notice_an_officer")],
            },
        ),
        # Nights.
        migrations.CreateModel(
            name="SessionFigures",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="figures", to="audit.loggedstream")),
                ("last_seq", models.BigIntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("readings", models.CharField(blank=True, default="", max_length=64)),
                ("corrections", models.CharField(blank=True, default="", max_length=64)),
                ("waiting", models.JSONField(blank=True, default=dict)),
                ("figures", models.BinaryField()),
                ("win_line", models.JSONField(null=True)),
                ("faults", models.IntegerField(default=0)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("stream", "last_seq", "engine_version", "readings", "corrections"), name="one_figures_a_session_and_decisions")],
            },
        ),
        migrations.CreateModel(
            name="NightRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="night_runs", to="audit.casino", verbose_name="casino")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("started_at", models.DateTimeField(auto_now_add=True, verbose_name="started")),
                ("started_by", models.CharField(max_length=200, verbose_name="started by")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("through", models.JSONField(default=dict)),
                ("error", models.TextField(blank=True, verbose_name="error")),
            ],
            options={
                "verbose_name": "night run",
                "verbose_name_plural": "night runs",
                "ordering": ["-started_at"],
                "constraints": [models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("casino", "gaming_day"), name="one_run_a_night_at_once")],
            },
        ),
        migrations.CreateModel(
            name="NightReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="nights", to="audit.casino", verbose_name="casino")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("version", models.IntegerField(verbose_name="version")),
                ("state", models.CharField(choices=[("open", "open"), ("counting", "counting"), ("provisional", "provisional"), ("reviewed", "reviewed"), ("closed", "closed")], max_length=16, verbose_name="state")),
                ("tree_size", models.BigIntegerField(verbose_name="tree size")),
                ("tree_root", models.CharField(blank=True, max_length=64, verbose_name="root")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("content", models.BinaryField()),
                ("digest", models.CharField(max_length=64, verbose_name="digest")),
                ("through", models.JSONField(default=dict)),
                ("sheet", models.JSONField(default=list, verbose_name="restatement")),
                ("made_at", models.DateTimeField(auto_now_add=True, verbose_name="issued")),
                ("made_by", models.CharField(max_length=200, verbose_name="issued by")),
                ("reviewed_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="reviewed_nights", to=settings.AUTH_USER_MODEL, verbose_name="first signature")),
                ("reviewed_at", models.DateTimeField(null=True, verbose_name="reviewed")),
                ("closed_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="closed_nights", to=settings.AUTH_USER_MODEL, verbose_name="second signature")),
                ("closed_at", models.DateTimeField(null=True, verbose_name="closed")),
            ],
            options={
                "verbose_name": "night",
                "verbose_name_plural": "nights",
                "ordering": ["-gaming_day", "casino", "currency", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("casino", "gaming_day", "currency", "version"), name="one_night_a_version"),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="night_versions_from_one"),
                    models.CheckConstraint(condition=models.Q(("closed_by", None), models.Q(("reviewed_by__isnull", False), models.Q(("closed_by", models.F("reviewed_by")), _negated=True)), _connector="OR"), name="night_signed_by_two"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closed_by__isnull", False), ("reviewed_by__isnull", False), ("state", "closed")),
                            models.Q(("closed_by", None), ("reviewed_by__isnull", False), ("state", "reviewed")),
                            models.Q(models.Q(("state__in", ["closed", "reviewed"]), _negated=True), ("closed_by", None), ("reviewed_by", None)),
                            _connector="OR",
                        ),
                        name="night_state_is_its_signatures",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SignoffException",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("report", models.ForeignKey(on_delete=models.PROTECT, related_name="signoff_exceptions", to="audit.nightreport")),
                ("code", models.CharField(max_length=40, verbose_name="what")),
                ("reason", models.TextField(verbose_name="reason")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("made_at", models.DateTimeField(auto_now_add=True, verbose_name="signed")),
            ],
            options={
                "verbose_name": "sign-off exception",
                "verbose_name_plural": "sign-off exceptions",
                "ordering": ["code"],
                "constraints": [models.UniqueConstraint(fields=("report", "code"), name="one_signoff_exception_a_code"), models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="signoff_exception_has_reason")],
            },
        ),
        migrations.CreateModel(
            name="NightSubscriber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.CASCADE, related_name="subscribers", to="audit.casino", verbose_name="casino")),
                ("officer", models.ForeignKey(on_delete=models.CASCADE, to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("language", models.CharField(choices=[("en", "English"), ("fr", "French")], default="fr", max_length=2, verbose_name="language")),
                ("receives_reports", models.BooleanField(db_default=True, default=True, verbose_name="receives the nights")),
                ("receives_alerts", models.BooleanField(db_default=False, default=False, help_text="When a table that should report is silent, or its events come late; and when that ends.", verbose_name="receives alerts")),
            ],
            options={
                "verbose_name": "subscriber",
                "verbose_name_plural": "subscribers",
                "constraints": [models.UniqueConstraint(fields=("casino", "officer"), name="one_subscription_an_officer")],
            },
        ),
        migrations.CreateModel(
            name="NightDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="delivered", to="audit.nightsubscriber")),
                ("report", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.nightreport")),
                ("sent_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("subscriber", "report"), name="one_delivery_a_version")],
            },
        ),
        # Slips.
        migrations.CreateModel(
            name="SlipUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino")),
                ("currency", models.CharField(max_length=3)),
                ("gaming_day", models.DateField()),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="slips", to="audit.loggedstream")),
                ("seq", models.BigIntegerField()),
                ("slip", models.TextField()),
                ("series", models.TextField()),
                ("number", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["casino", "currency", "slip"], name="slip_uses_by_slip"), models.Index(fields=["casino", "currency", "series", "number"], name="slip_uses_by_series")],
                "constraints": [models.UniqueConstraint(fields=("stream", "seq"), name="one_slip_use_an_event")],
            },
        ),
        # Money of streams.
        migrations.CreateModel(
            name="StreamMoney",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="money", to="audit.loggedstream")),
                ("last_seq", models.BigIntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("readings", models.CharField(blank=True, default="", max_length=64)),
                ("corrections", models.CharField(blank=True, default="", max_length=64)),
                ("money", models.BinaryField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("stream", "last_seq", "engine_version", "readings", "corrections"), name="one_money_a_stream_and_readings")],
            },
        ),
        # The evidence ledger.
        migrations.CreateModel(
            name="StreamEvidence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name="evidence", to="audit.loggedstream")),
                ("last_seq", models.BigIntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("readings", models.CharField(blank=True, default="", max_length=64)),
                ("corrections", models.CharField(blank=True, default="", max_length=64)),
                ("observations", models.BinaryField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("stream", "last_seq", "engine_version", "readings", "corrections"), name="one_evidence_a_stream_and_readings")],
            },
        ),
        migrations.CreateModel(
            name="LedgerCursor",
            fields=[
                ("casino", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="ledger", serialize=False, to="audit.casino")),
                ("next_leaf", models.BigIntegerField(default=0)),
                ("number", models.BigIntegerField(default=0)),
                ("year", models.IntegerField(default=0)),
                ("budget", models.CharField(default="1", max_length=32)),
                ("ranks", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="LedgerBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="ledger_batches", to="audit.casino")),
                ("number", models.BigIntegerField()),
                ("kind", models.CharField(choices=[("draws", "draws of a session"), ("payouts", "payouts of a night"), ("count", "count of a session")], max_length=16)),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("stream", models.ForeignKey(db_constraint=False, null=True, on_delete=models.DO_NOTHING, related_name="ledger_batches", to="audit.loggedstream")),
                ("last_seq", models.BigIntegerField(default=0)),
                ("log_index", models.BigIntegerField(null=True)),
                ("year", models.IntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("content", models.BinaryField()),
                ("error", models.CharField(blank=True, default="", max_length=500)),
                ("fed_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "batch of the ledger",
                "verbose_name_plural": "batches of the ledger",
                "constraints": [
                    models.UniqueConstraint(fields=("casino", "number"), name="one_batch_a_number"),
                    models.UniqueConstraint(condition=models.Q(("stream__isnull", False)), fields=("kind", "stream"), name="fed_once"),
                    models.UniqueConstraint(condition=models.Q(("stream__isnull", True)), fields=("casino", "kind", "gaming_day", "currency"), name="night_fed_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerProcess",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="ledger_processes", to="audit.casino", verbose_name="casino")),
                ("name", models.CharField(max_length=300)),
                ("kind", models.CharField(max_length=40, verbose_name="kind")),
                ("subject", models.CharField(max_length=240, verbose_name="subject")),
                ("variant", models.IntegerField(default=0)),
                ("generation", models.IntegerField(default=1)),
                ("null", models.CharField(max_length=200, verbose_name="null hypothesis")),
                ("state", models.BinaryField()),
                ("wealth", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("highest", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("opening", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("year", models.IntegerField(verbose_name="year")),
                ("alpha", models.CharField(max_length=64, verbose_name="level")),
                ("sessions", models.IntegerField(default=0, verbose_name="sessions")),
                ("draws", models.BigIntegerField(default=0, verbose_name="draws")),
                ("first_day", models.DateField(verbose_name="since")),
                ("begun_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("ended_by", models.CharField(blank=True, default="", max_length=200)),
                ("ended_reason", models.TextField(blank=True, default="")),
            ],
            options={
                "verbose_name": "process",
                "verbose_name_plural": "evidence ledger",
                "ordering": ["casino", "kind", "subject"],
                "constraints": [models.UniqueConstraint(fields=("casino", "name", "generation"), name="one_process_a_generation"), models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("casino", "name"), name="one_process_a_subject_at_once")],
            },
        ),
        migrations.CreateModel(
            name="LedgerYear",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="ledger_years", to="audit.casino")),
                ("year", models.IntegerField()),
                ("budget", models.CharField(max_length=32)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("casino", "year"), name="one_budget_a_year")],
            },
        ),
        migrations.CreateModel(
            name="LedgerLevel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("process", models.ForeignKey(on_delete=models.PROTECT, related_name="levels", to="audit.ledgerprocess")),
                ("year", models.IntegerField()),
                ("alpha", models.CharField(max_length=64)),
                ("opening", models.DecimalField(decimal_places=0, max_digits=1000)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("process", "year"), name="one_level_a_year")],
            },
        ),
        migrations.CreateModel(
            name="LedgerPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("process", models.ForeignKey(on_delete=models.PROTECT, related_name="points", to="audit.ledgerprocess")),
                ("batch", models.ForeignKey(on_delete=models.PROTECT, related_name="points", to="audit.ledgerbatch")),
                ("draws", models.IntegerField()),
                ("wealth", models.DecimalField(decimal_places=0, max_digits=1000)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("process", "batch"), name="one_point_a_batch")],
            },
        ),
        migrations.CreateModel(
            name="LedgerQuestion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("process", models.ForeignKey(on_delete=models.PROTECT, related_name="questions", to="audit.ledgerprocess")),
                ("batch", models.ForeignKey(on_delete=models.PROTECT, related_name="questions", to="audit.ledgerbatch")),
                ("year", models.IntegerField()),
                ("alpha", models.CharField(max_length=64)),
                ("draws", models.BigIntegerField()),
                ("evidence", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("finding_id", models.BigIntegerField()),
                ("raised_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("process", "year"), name="one_question_a_year")],
            },
        ),
        # The feed of findings.
        migrations.CreateModel(
            name="FindingChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino")),
                ("table", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="audit.gamingtable")),
                ("finding", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.finding")),
                ("kind", models.CharField(choices=[("opened", "opened"), ("amended", "amended"), ("superseded", "superseded"), ("reinstated", "reinstated"), ("closed", "closed"), ("reopened", "reopened")], max_length=16)),
                ("at", models.DateTimeField()),
                ("position", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("position", None)), fields=["casino", "id"], name="changes_without_position")],
                "constraints": [models.UniqueConstraint(fields=("casino", "position"), name="one_change_a_position"), models.CheckConstraint(condition=models.Q(("kind__in", ["opened", "amended", "superseded", "reinstated", "closed", "reopened"])), name="finding_change_kind_is_one")],
            },
        ),
        migrations.CreateModel(
            name="PublishedFeed",
            fields=[
                ("casino", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="+", serialize=False, to="audit.casino")),
                ("position", models.BigIntegerField(default=0)),
            ],
        ),
        # Webhooks.
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="webhooks", to="audit.casino", verbose_name="casino")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("url", models.CharField(max_length=500, verbose_name="address")),
                ("severities", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[("critical", "critical"), ("major", "major"), ("minor", "minor"), ("info", "information")], max_length=16), default=audit.models.webhooks.every_severity, size=None, verbose_name="severities")),
                ("receives_alerts", models.BooleanField(db_default=False, default=False, verbose_name="alerts")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("position", models.BigIntegerField(default=0)),
                ("failures", models.IntegerField(default=0, verbose_name="failed attempts")),
                ("failing_since", models.DateTimeField(null=True, verbose_name="failing since")),
                ("next_try_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("error", models.CharField(blank=True, default="", max_length=300, verbose_name="error")),
                ("delivered_at", models.DateTimeField(null=True, verbose_name="last delivered")),
                ("leased_until", models.DateTimeField(null=True)),
                ("test_requested_at", models.DateTimeField(null=True)),
                ("tested_at", models.DateTimeField(null=True, verbose_name="tested")),
                ("test_result", models.CharField(blank=True, default="", max_length=300, verbose_name="result of the test")),
            ],
            options={
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "ordering": ["casino", "name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="WebhookSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("webhook", models.ForeignKey(on_delete=models.PROTECT, related_name="secrets", to="audit.webhook")),
                ("secret", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("webhook", models.ForeignKey(on_delete=models.PROTECT, related_name="dead_letters", to="audit.webhook", verbose_name="webhook")),
                ("change", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.findingchange")),
                ("error", models.CharField(blank=True, default="", max_length=300, verbose_name="error")),
                ("given_up_at", models.DateTimeField(verbose_name="given up")),
                ("again_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True, verbose_name="sent")),
            ],
            options={
                "verbose_name": "dead letter",
                "verbose_name_plural": "dead letters",
                "ordering": ["-given_up_at", "-pk"],
                "constraints": [models.UniqueConstraint(fields=("webhook", "change"), name="one_dead_letter_a_change")],
            },
        ),
        # Alerts.
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("table", models.ForeignKey(on_delete=models.PROTECT, related_name="alerts", to="audit.gamingtable", verbose_name="table")),
                ("kind", models.CharField(choices=[("table-silent", "silent"), ("feed-behind", "behind")], max_length=16, verbose_name="kind")),
                ("since", models.DateTimeField(verbose_name="since")),
                ("opened_at", models.DateTimeField(verbose_name="opened")),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("ended_by", models.CharField(blank=True, choices=[("events", "events arrive on time again"), ("closed", "the session was closed"), ("not-expected", "the table is no longer expected to report")], default="", max_length=16)),
            ],
            options={
                "verbose_name": "alert",
                "verbose_name_plural": "alerts",
                "ordering": ["-opened_at", "-pk"],
                "indexes": [models.Index(fields=["casino", "ended_at"], name="alerts_of_a_casino")],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("table", "kind"), name="one_open_alert_a_kind"),
                    models.CheckConstraint(condition=models.Q(("kind__in", ["table-silent", "feed-behind"])), name="alert_kind_is_one"),
                    models.CheckConstraint(condition=models.Q(models.Q(("ended_at", None), ("ended_by", "")), models.Q(("ended_at__isnull", False), ("ended_by__in", ["events", "closed", "not-expected"])), _connector="OR"), name="alert_ended_by_something"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sent_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("alert", models.ForeignKey(on_delete=models.PROTECT, related_name="notices", to="audit.alert")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("is_of_end", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(condition=models.Q(("given_up_at", None), ("sent_at", None)), fields=["officer"], name="alert_notices_to_send")],
                "constraints": [models.UniqueConstraint(fields=("alert", "officer", "is_of_end"), name="one_alert_notice_an_officer")],
            },
        ),
        migrations.CreateModel(
            name="AlertMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sent_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("alert", models.ForeignKey(on_delete=models.PROTECT, related_name="messages", to="audit.alert")),
                ("webhook", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="audit.webhook")),
                ("is_of_end", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(condition=models.Q(("given_up_at", None), ("sent_at", None)), fields=["webhook"], name="alert_messages_to_send")],
                "constraints": [models.UniqueConstraint(fields=("alert", "webhook", "is_of_end"), name="one_alert_message_a_receiver", nulls_distinct=False)],
            },
        ),
        # Refused requests.
        migrations.CreateModel(
            name="Quarantined",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("casino", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("key", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="audit.apikey", verbose_name="API key")),
                ("stream", models.CharField(max_length=100, verbose_name="stream")),
                ("seq", models.BigIntegerField(null=True, verbose_name="number")),
                ("code", models.CharField(max_length=32, verbose_name="reason")),
                ("detail", models.TextField(verbose_name="detail")),
                ("body", models.BinaryField()),
                ("digest", models.BinaryField(max_length=32, verbose_name="SHA-256 of the bytes")),
                ("size", models.IntegerField(default=0, verbose_name="bytes")),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="received")),
                ("purged_at", models.DateTimeField(blank=True, null=True, verbose_name="bytes deleted")),
            ],
            options={
                "verbose_name": "quarantined request",
                "verbose_name_plural": "quarantine",
                "ordering": ["-received_at", "-id"],
                "indexes": [models.Index(fields=["casino", "-received_at"], name="quarantine_newest")],
                "constraints": [models.UniqueConstraint(fields=("casino", "stream", "code", "digest"), name="one_copy_of_what_was_refused")],
            },
        ),
        # The queue of replays.
        migrations.CreateModel(
            name="WaitingStream",
            fields=[
                ("stream_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("casino_id", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("hints", models.BigIntegerField(default=1)),
                ("holder_pid", models.IntegerField(null=True)),
                ("holder_began", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["casino_id", "since"], name="waiting_by_casino")],
            },
        ),
        migrations.CreateModel(
            name="CasinoTurn",
            fields=[
                ("casino_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("last_turn_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="LeafCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("next_leaf", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("beat_at", models.DateTimeField()),
            ],
        ),
        # Jobs.
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("verify", "verification"), ("what_if", "what-if run"), ("export", "export"), ("subject", "what is held on a person")], max_length=16, verbose_name="job")),
                ("params", models.JSONField(default=dict)),
                ("casino", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="jobs", to="audit.casino", verbose_name="casino")),
                ("officer", models.ForeignKey(on_delete=models.PROTECT, related_name="jobs", to=settings.AUTH_USER_MODEL, verbose_name="officer")),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("running", "running"), ("done", "done"), ("failed", "failed"), ("stopped", "stopped")], default="waiting", max_length=16, verbose_name="state")),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(default=0)),
                ("requested_at", models.DateTimeField(auto_now_add=True, verbose_name="requested")),
                ("started_at", models.DateTimeField(null=True, verbose_name="started")),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("runner", models.UUIDField(null=True)),
                ("stopped_by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="stopped by")),
                ("result", models.JSONField(default=dict)),
                ("error", models.TextField(blank=True)),
                ("file", models.BinaryField(null=True)),
                ("file_name", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "verbose_name": "background job",
                "verbose_name_plural": "background jobs",
                "ordering": ["-requested_at"],
                "constraints": [models.CheckConstraint(condition=models.Q(("kind__in", ["verify", "what_if", "export", "subject"])), name="job_kind_is_one"), models.CheckConstraint(condition=models.Q(("state__in", ["waiting", "running", "done", "failed", "stopped"])), name="job_state_is_one")],
            },
        ),
        # Archived months.
        migrations.CreateModel(
            name="ArchivedMonth",
            fields=[
                ("month", models.DateField(primary_key=True, serialize=False, verbose_name="month")),
                ("low", models.BigIntegerField()),
                ("high", models.BigIntegerField()),
                ("state", models.CharField(choices=[("archived", "archived"), ("attached", "attached"), ("destroyed", "destroyed")], max_length=16, verbose_name="state")),
                ("file", models.TextField(verbose_name="file")),
                ("digest", models.CharField(max_length=64)),
                ("batches", models.BigIntegerField()),
                ("events", models.BigIntegerField()),
                ("note", models.TextField()),
                ("archived_at", models.DateTimeField(verbose_name="archived")),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
                ("destruction_note", models.TextField(blank=True)),
                ("destroyed_at", models.DateTimeField(null=True, verbose_name="destroyed")),
            ],
            options={
                "verbose_name": "archived month",
                "verbose_name_plural": "archived months",
                "ordering": ["month"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("state__in", ["archived", "attached", "destroyed"])), name="archived_month_state_is_one"),
                    models.CheckConstraint(condition=models.Q(("low__lt", models.F("high"))), name="archived_month_has_streams"),
                    models.CheckConstraint(condition=models.Q(models.Q(("destroyed_at__isnull", False), ("state", "destroyed")), models.Q(models.Q(("state", "destroyed"), _negated=True), ("destroyed_at", None), ("destruction_note", "")), _connector="OR"), name="archived_month_destroyed_by_an_act"),
                ],
            },
        ),
        # Epochs of the log.
        migrations.CreateModel(
            name="LogEpoch",
            fields=[
                ("number", models.IntegerField(primary_key=True, serialize=False)),
                ("origin", models.TextField(unique=True)),
                ("kept", models.BigIntegerField()),
                ("forked_at", models.BigIntegerField()),
                ("signed_size", models.BigIntegerField()),
                ("note", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
            ],
            options={
                "ordering": ["number"],
                "constraints": [models.CheckConstraint(condition=models.Q(("number__gte", 2)), name="epochs_from_the_second"), models.CheckConstraint(condition=models.Q(("forked_at__gte", 0), ("kept__gte", models.F("forked_at"))), name="epoch_keeps_its_beginning")],
            },
        ),
        migrations.CreateModel(
            name="LogFork",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("leaves", models.BigIntegerField()),
                ("signed_size", models.BigIntegerField()),
                ("found_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="LeftBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream_id", models.BigIntegerField()),
                ("first_seq", models.BigIntegerField()),
                ("last_seq", models.BigIntegerField(null=True)),
                ("stream", models.TextField()),
                (
                    "cause",
                    models.CharField(
                        choices=[("altered", "the stored events are not those that were accepted"), ("no-envelope", "a body is not the envelope of its event"), ("back-dated", "its date of receipt is before what is already sealed"), ("unreadable", "the database cannot read it"), ("missing", "there is no such batch")],
                        max_length=20,
                    ),
                ),
                ("found_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["found_at", "stream_id", "first_seq"],
                "constraints": [models.UniqueConstraint(fields=("stream_id", "first_seq"), name="batch_is_left_once")],
            },
        ),
        # Witnesses.
        migrations.CreateModel(
            name="Cosignature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField()),
                ("witness", models.TextField()),
                ("vkey", models.TextField()),
                ("line", models.TextField()),
                ("cosigned_at", models.DateTimeField()),
                ("received_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("size", "vkey"), name="one_cosignature_a_witness"), models.CheckConstraint(condition=models.Q(("size__gt", 0)), name="cosigned_trees_have_leaves")],
            },
        ),
        migrations.CreateModel(
            name="WitnessState",
            fields=[
                ("vkey", models.TextField(primary_key=True, serialize=False)),
                ("size", models.BigIntegerField(default=0)),
                ("cosigned_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField()),
                ("error", models.TextField(blank=True)),
                ("refused_at", models.DateTimeField(null=True)),
            ],
        ),
        # Changes that the desk counts.
        migrations.CreateModel(
            name="Change",
            fields=[
                ("pk", models.CompositePrimaryKey("xid", "relation", blank=True, editable=False, primary_key=True, serialize=False)),
                ("xid", models.BigIntegerField()),
                ("relation", models.CharField(max_length=63)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "audit_change",
            },
        ),
    ]
