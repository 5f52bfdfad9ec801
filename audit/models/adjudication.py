"""Projections of the event store: cursors and snapshots, findings, retired wagers. A replay rebuilds all of them."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino, GamingTable
from audit.models.event_store import LoggedStream
from settlement import Finding as Value


class WhatIf(models.Model):
    """A what-if run: a replay of some streams under other readings or another version of the engine."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    readings = models.JSONField(_("readings"), default=dict)
    selection = models.JSONField(_("streams"), default=dict)  # audit.adjudication.what_if.Selection
    engine_version = models.CharField(_("engine version"), max_length=32)
    started_at = models.DateTimeField(_("started"), auto_now_add=True)
    started_by = models.CharField(_("started by"), max_length=200)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    streams = models.BigIntegerField(_("streams"), default=0)

    class Meta:
        verbose_name = _("what-if run")
        verbose_name_plural = _("what-if runs")
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return self.name


class Adjudication(models.Model):
    """One stream under one version of the engine: the cursor of its replay, and a snapshot of the state there.

    A *run* reads the stream from its beginning. A correction begins another run; when that is complete, it supersedes
    the findings of the run before that it has not found.
    """

    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="adjudications"
    )
    engine_version = models.CharField(_("engine version"), max_length=32)
    what_if = models.ForeignKey(WhatIf, null=True, on_delete=models.CASCADE, related_name="adjudications")
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)
    readings_digest = models.CharField(_("digest of the readings"), max_length=64, blank=True)
    run = models.IntegerField(_("run"), default=1)
    completed_run = models.IntegerField(default=0)  # the last that reached the end of the stream
    replaces = models.BooleanField(default=False)  # until this run is complete, earlier findings stand
    known_ids = models.JSONField(default=dict)  # the largest number in retired wagers' ids, by prefix
    corrected_through = models.BigIntegerField(default=0)  # the last correction that this run knows
    cursor = models.BigIntegerField(_("adjudicated through"), default=0)
    next_seq = models.BigIntegerField(_("next event"), default=1)  # beyond the cursor where a loss was declared
    events = models.BigIntegerField(_("events"), default=0)
    state = models.BinaryField(default=b"", editable=False)
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
    opened_at = models.DateTimeField(_("found"), default=timezone.now)
    run = models.IntegerField(default=0)  # the last that found it; 0 for a rule of the record

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.rule} #{self.seq}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as section 6 of the event contract has it."""
        return self.as_value().as_dict()

    def as_value(self) -> Value:
        """Return the finding as the engine's own value, which has its message."""
        return Value(
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
        )


class Finding(_Found):
    """One irregularity. Never deleted: one that a later run no longer finds is superseded."""

    superseded_at = models.DateTimeField(_("superseded"), null=True, blank=True)
    case = models.ForeignKey(  # given by the database when the finding is stored
        "audit.Case",
        null=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="findings",
        verbose_name=_("case"),
    )

    class Meta:
        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        ordering = ["-occurred_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest"],
                name="one_finding_an_identity",
            ),
            models.CheckConstraint(condition=Q(evidence__len__gt=0), name="finding_has_evidence"),
            models.CheckConstraint(
                condition=Q(superseded_at=None) | Q(superseded_at__gte=F("opened_at")), name="superseded_after_found"
            ),
        ]
        indexes = [
            models.Index(fields=["casino", "-occurred_at", "-id"], name="finding_newest"),
            models.Index(fields=["casino", "gaming_day", "rule"], name="finding_by_day"),
        ]


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
    """Settled wagers that one or more steps took out of the snapshot. One that changed later is in a later row, too."""

    pk = models.CompositePrimaryKey("adjudication_id", "run", "through")
    adjudication = models.ForeignKey(
        Adjudication, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="retired"
    )
    run = models.IntegerField()
    through = models.BigIntegerField()  # the cursor after the last of these steps
    digests = models.BinaryField()  # CRC-32 of each id, four bytes each: where to look for a wager
    saved = models.BinaryField()

    class Meta:
        verbose_name = _("retired wagers")
        verbose_name_plural = _("retired wagers")

    def __str__(self) -> str:
        return f"{self.adjudication_id} @ {self.through}"
