"""Projections of the event store: cursors and snapshots, findings, retired wagers. A replay rebuilds all of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino, GamingTable
from audit.models.event_store import FIRST_SANDBOX_ID, LoggedStream
from audit.models.runs import AdjudicationRun, WhatIf
from settlement import Finding as FoundFinding
from settlement.finding import FindingRef, Owed


class Adjudication(models.Model):
    """One stream under one version of the engine: the cursor of its replay, and a snapshot of the state there.

    They belong to its current run. A correction begins another run, from the beginning of the stream.
    """

    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="adjudications"
    )
    engine_version = models.CharField(_("engine version"), max_length=32)
    what_if = models.ForeignKey(WhatIf, null=True, on_delete=models.CASCADE, related_name="adjudications")
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)
    readings_digest = models.CharField(_("digest of the readings"), max_length=64, blank=True)
    run = models.ForeignKey(AdjudicationRun, null=True, on_delete=models.CASCADE, related_name="+")
    known_ids = models.JSONField(default=dict)  # the largest number in retired wagers' ids, by prefix
    cursor = models.BigIntegerField(_("adjudicated up to"), default=0)
    next_seq = models.BigIntegerField(_("next event"), default=1)  # beyond the cursor where a loss was declared
    events = models.BigIntegerField(_("events"), default=0)
    state = models.BinaryField(default=b"", editable=False)
    memory = models.BinaryField(default=b"", db_default=b"", editable=False)  # of its notes; empty: it has none
    closed = models.BooleanField(_("closed"), default=False)
    updated_at = models.DateTimeField(_("adjudicated"), auto_now=True)

    class Meta:
        verbose_name = _("adjudication")
        verbose_name_plural = _("adjudications")
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "engine_version", "what_if"], nulls_distinct=False, name="one_cursor_a_stream"
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} @ {self.cursor}"


class Severity(models.TextChoices):
    """How severe a finding is, most severe first."""

    CRITICAL = "critical", _("critical")
    MAJOR = "major", _("major")
    MINOR = "minor", _("minor")
    INFO = "info", _("information")


class _Found(models.Model):
    """The fields of a finding, standing or of a what-if run."""

    stream = models.ForeignKey(
        LoggedStream,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="%(class)ss",
        verbose_name=_("stream"),
    )
    seq = models.BigIntegerField(_("event"))
    rule = models.CharField(_("rule"), max_length=80)
    wager = models.CharField(_("wager"), max_length=200, blank=True)
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)
    engine_version = models.CharField(_("engine version"), max_length=32)
    readings_digest = models.CharField(_("digest of the readings"), max_length=64, blank=True)

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="%(class)ss", verbose_name=_("casino"))
    table = models.ForeignKey(
        GamingTable, null=True, on_delete=models.PROTECT, related_name="%(class)ss", verbose_name=_("table")
    )
    gaming_day = models.DateField(_("gaming day"))
    occurred_at = models.DateTimeField(_("occurred"))
    severity = models.CharField(_("severity"), max_length=16, choices=Severity)
    evidence = ArrayField(models.BigIntegerField(), verbose_name=_("evidence"))
    expected = models.JSONField(_("expected"), null=True)
    recorded = models.JSONField(_("recorded"), null=True)
    provision = models.CharField(_("provision"), max_length=64, blank=True)
    facts = models.JSONField(_("facts"), default=dict)
    currency = models.CharField(_("currency"), max_length=3, blank=True)
    after_loss = models.BooleanField(_("after a loss"), default=False)
    player = models.CharField(_("player"), max_length=200, blank=True, default="", db_default="")
    croupier = models.CharField(_("croupier"), max_length=200, blank=True, default="", db_default="")
    provisions = models.JSONField(_("provisions"), default=list, db_default=Value([], models.JSONField()))
    causes = models.JSONField(_("causes"), default=list, db_default=Value([], models.JSONField()))  # see FindingRef
    difference = models.BigIntegerField(_("difference"), null=True)  # null: no money is concerned
    owed = models.JSONField(_("owed"), null=True)  # see settlement.finding.Owed
    put_right_by = models.BigIntegerField(_("put right by event"), null=True)
    opened_at = models.DateTimeField(_("found"), default=timezone.now)

    # Of which findings this one is a cause, if that was looked up: see ``audit.adjudication.incidents``.
    consequences: tuple[FindingRef, ...] = ()

    # The corrections that took this finding away, the type of each by its seq, if that was looked up: see
    # ``audit.corrections.superseding``.
    removed_by: Mapping[int, str] = MappingProxyType({})

    # What officers decided about the correction that this finding is about, in words, if that was looked up.
    decided: str = ""

    # The persons concerned as a page names them, by what they are in it ("player", "croupier"); ids where it is empty.
    named: Mapping[str, str] = MappingProxyType({})

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.rule} #{self.seq}"

    @property
    def ref(self) -> FindingRef:
        """What names this finding within its stream."""
        return FindingRef(self.rule, self.seq, self.wager or None)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as section 6 of the event contract has it."""
        return self.as_value().as_dict()

    def as_value(self) -> FoundFinding:
        """Return the finding as the engine's own value, which has its message."""
        return FoundFinding(
            rule=self.rule,
            severity=self.severity,
            seq=self.seq,
            evidence=tuple(self.evidence),
            wager=self.wager or None,
            expected=self.expected,
            recorded=self.recorded,
            provision=self.provision or None,
            after_loss=self.after_loss,
            facts=self.facts,
            currency=self.currency,
            ruleset=self.ruleset or None,
            player=self.player or None,
            croupier=self.croupier or None,
            provisions=tuple(self.provisions),
            causes=tuple(FindingRef(**cause) for cause in self.causes),
            difference=self.difference,
            owed=Owed(**self.owed) if self.owed else None,
            put_right_by=self.put_right_by,
            consequences=self.consequences,
        )


def not_before_found(now: datetime) -> Greatest:
    """Return ``now`` for ``superseded_at``, or when the finding was found if that is later: a clock was set back."""
    return Greatest(Value(now), F("opened_at"), output_field=models.DateTimeField())


class FindingStatus(models.TextChoices):
    """Whether a finding stands. ``audit.adjudication.transitions`` has what leads from one status to another."""

    PENDING = "pending", _("pending")
    STANDING = "standing", _("standing")
    SUPERSEDED = "superseded", _("superseded")


class FindingQuerySet(models.QuerySet["Finding"]):
    """Findings by what they are now."""

    def standing(self) -> FindingQuerySet:
        """Return those that stand: the only ones that count in a figure, a list or a report unless others are meant."""
        return self.filter(status=FindingStatus.STANDING)

    def stood_once(self) -> FindingQuerySet:
        """Return those that stand or have stood: the ones that have a case."""
        return self.filter(stood_at__isnull=False)

    def of_runs(self) -> FindingQuerySet:
        """Return those that replay made, without the integrity findings and those of the nights."""
        return self.filter(run__isnull=False)


class Finding(_Found):
    """One irregularity, as one or more runs found it. Never deleted, and what it says does not change.

    A run that finds the same again takes it over; one that finds it with other contents adds a finding of its own. The
    database opens a case when a finding comes to stand, unless it is for information, and guards the transitions.
    """

    status = models.CharField(_("status"), max_length=16, choices=FindingStatus, default=FindingStatus.STANDING)
    run = models.ForeignKey(  # the last that found it; None for an integrity finding and for one of a night
        AdjudicationRun, null=True, on_delete=models.PROTECT, db_index=False, related_name="+", verbose_name=_("run")
    )
    stood_at = models.DateTimeField(_("standing since"), null=True, default=timezone.now)  # None: it never stood
    # Its reference, given by the database when it first stands: counted for the casino and the year of the gaming day.
    # None for one that never stood, and for one from before migration 0043, whose reference is its id.
    year = models.SmallIntegerField(_("year of the reference"), null=True, editable=False)
    number = models.BigIntegerField(_("number in the year"), null=True, editable=False)
    # Its casino's, which no other has; "" for a number from before there were letters, and for what continues it.
    reference_code = models.CharField(max_length=3, default="", db_default="", editable=False)
    superseded_at = models.DateTimeField(_("superseded"), null=True, blank=True)
    superseded_by_run = models.ForeignKey(  # None for one of a night, and where an earlier version did not record it
        AdjudicationRun,
        null=True,
        on_delete=models.PROTECT,
        db_index=False,
        related_name="+",
        verbose_name=_("superseded by"),
    )
    content = models.GeneratedField(  # what it says, as a digest; None for an integrity finding and for one of a night
        expression=Func(
            *("run", "severity", "evidence", "expected", "recorded", "provision", "facts", "after_loss", "occurred_at"),
            *("player", "croupier", "provisions", "causes"),
            function="audit_finding_content",
        ),
        output_field=models.UUIDField(null=True),
        db_persist=True,
    )
    case = models.ForeignKey(  # given by the database when the finding comes to stand
        "audit.Case",
        null=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="findings",
        verbose_name=_("case"),
    )
    heads_case = models.BooleanField(default=False, db_default=False, editable=False)
    """Whether the case is of this finding, the cause of its incident: set by the database."""
    cleared = models.BigIntegerField(default=0, db_default=0, editable=False)
    """What officers had paid, waived or keep of what is owed here, in minor units: set by the database."""

    objects = FindingQuerySet.as_manager()

    class Meta:
        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        ordering = ["-occurred_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest", "content"),
                ],
                nulls_distinct=False,
                name="one_finding_an_identity",
            ),
            models.CheckConstraint(condition=Q(evidence__len__gt=0), name="finding_has_evidence"),
            models.CheckConstraint(
                condition=Q(superseded_at=None) | Q(superseded_at__gte=F("opened_at")), name="superseded_after_found"
            ),
            models.CheckConstraint(condition=Q(status__in=FindingStatus.values), name="finding_status_is_one"),
            models.CheckConstraint(
                condition=Q(status="superseded", superseded_at__isnull=False)
                | Q(~Q(status="superseded"), superseded_at=None, superseded_by_run=None),
                name="finding_superseded_at",
            ),
            models.CheckConstraint(
                condition=~Q(status="standing")
                | (
                    Q(stood_at__isnull=False)
                    & (Q(severity="info") | Q(case__isnull=False) | Q(stream__gte=FIRST_SANDBOX_ID))
                ),
                name="finding_stands_with_case",
            ),
            models.CheckConstraint(
                condition=Q(stood_at__isnull=False) | Q(case=None, run__isnull=False), name="finding_stood_or_has_none"
            ),
            models.CheckConstraint(
                condition=Q(year=None, number=None) | Q(year__isnull=False, number__gt=0), name="finding_is_numbered"
            ),
        ]
        indexes = [
            models.Index(fields=["casino", "-occurred_at", "-id"], name="finding_newest"),
            models.Index(fields=["casino", "gaming_day", "rule"], name="finding_by_day"),
            models.Index(  # one line for an incident: audit.desk.findings.queues
                fields=["case", "casino"],
                include=["id", "rule", "table", "gaming_day", "currency", "player", "croupier"],
                name="finding_heads_incident",
                condition=Q(heads_case=True, status="standing"),
            ),
            models.Index(  # of how many findings incidents consist, and who is concerned: audit.casework.priority
                fields=["case", "casino"],
                include=["player", "gaming_day"],
                name="finding_of_incident",
                condition=Q(status="standing"),
            ),
            models.Index(  # what comes back: audit.casework.recurrence
                fields=["table", "rule"],
                name="finding_at_table",
                condition=Q(status="standing", table__isnull=False),
            ),
            models.Index(  # what is owed, by an incident and by many, from the index alone: audit.casework.debts
                fields=["case"],
                include=[
                    *("casino", "occurred_at", "severity", "currency", "player", "croupier"),
                    *("difference", "owed", "put_right_by", "cleared"),
                ],
                name="finding_money",
                condition=Q(status="standing", difference__isnull=False),
            ),
            models.Index(fields=["casino", "rule"], name="finding_by_rule"),
            models.Index(  # what is repeated: audit.casework.priority
                fields=["casino", "rule", "croupier", "gaming_day"],
                name="finding_by_croupier",
                condition=Q(status="standing") & ~Q(croupier=""),
            ),
            models.Index(  # the errors of the last nights, by croupier and kind: audit.desk.overview.nights
                fields=["casino", "gaming_day", "croupier", "rule"],
                name="finding_of_nights",
                condition=Q(status="standing") & ~Q(croupier=""),
            ),
            models.Index(  # what a player's name stands beside: audit.desk.persons.tallies
                fields=["casino", "player", "gaming_day"],
                name="finding_by_player",
                condition=Q(status="standing") & ~Q(player=""),
            ),
            models.Index(fields=["number", "year"], name="finding_by_reference", condition=Q(number__isnull=False)),
        ]


class FindingCounter(models.Model):
    """The last number that a finding of a casino was given in a year of gaming days, counted by the database."""

    pk = models.CompositePrimaryKey("casino_id", "year")
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, db_index=False, related_name="+")
    year = models.SmallIntegerField(_("year"))
    last = models.BigIntegerField(_("last number"))

    class Meta:
        verbose_name = _("counter of findings")
        verbose_name_plural = _("counters of findings")

    def __str__(self) -> str:
        return f"{self.casino_id}, {self.year}: {self.last}"


class WhatIfFinding(_Found):
    """A finding of a what-if run. It has no case and no effect."""

    what_if = models.ForeignKey(WhatIf, on_delete=models.CASCADE, related_name="findings")

    class Meta:
        verbose_name = _("finding of a what-if run")
        verbose_name_plural = _("findings of what-if runs")
        ordering = ["stream_id", "seq", "rule", "wager"]
        constraints = [
            models.UniqueConstraint(fields=["what_if", "stream", "seq", "rule", "wager"], name="one_what_if_finding")
        ]


class RetiredWagers(models.Model):
    """Settled wagers that one or more steps took out of the snapshot. One that changed later is in a later row, too.

    ``notes`` are what these steps noted of the session, a line each: see ``audit.adjudication.noted``.
    """

    pk = models.CompositePrimaryKey("run_id", "through")
    run = models.ForeignKey(
        AdjudicationRun, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="retired"
    )
    through = models.BigIntegerField()  # the cursor after the last of these steps
    digests = models.BinaryField()  # CRC-32 of each id, four bytes each: where to look for a wager
    saved = models.BinaryField()
    notes = models.BinaryField(default=b"", db_default=b"")

    class Meta:
        verbose_name = _("settled wagers")
        verbose_name_plural = _("settled wagers")

    def __str__(self) -> str:
        return f"{self.run_id} @ {self.through}"
