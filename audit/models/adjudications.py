"""What came of replaying the log: cursors, findings, wagers. All of it can be made again from the log."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.models.houses import Casino, GamingTable
from audit.models.log import LoggedStream


class Adjudication(models.Model):
    """One stream under one version of the engine: how far it is folded, and the state to go on from."""

    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="adjudications"
    )
    engine_version = models.CharField(_("engine version"), max_length=32)
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)
    readings_digest = models.CharField(_("digest of the readings"), max_length=64, blank=True)
    cursor = models.BigIntegerField(_("adjudicated through"), default=0)
    next_seq = models.BigIntegerField(_("next event"), default=1)  # beyond the cursor where a loss was declared
    events = models.BigIntegerField(_("events"), default=0)
    state = models.BinaryField(default=b"", editable=False)
    closed = models.BooleanField(_("closed"), default=False)
    updated_at = models.DateTimeField(_("adjudicated"), auto_now=True)

    class Meta:
        verbose_name = _("adjudication")
        verbose_name_plural = _("adjudications")
        constraints = [models.UniqueConstraint(fields=["stream", "engine_version"], name="one_cursor_a_stream")]

    def __str__(self) -> str:
        return f"{self.stream_id} @ {self.cursor}"


class Severity(models.TextChoices):
    """How much a finding weighs, heaviest first."""

    CRITICAL = "critical", _("critical")
    MAJOR = "major", _("major")
    MINOR = "minor", _("minor")
    INFO = "info", _("information")


class Finding(models.Model):
    """One irregularity. Never deleted: one that a later replay no longer finds is superseded."""

    stream = models.ForeignKey(
        LoggedStream,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="findings",
        verbose_name=_("stream"),
    )
    seq = models.BigIntegerField(_("event"))
    rule = models.CharField(_("rule"), max_length=80)
    wager = models.CharField(_("wager"), max_length=200, blank=True)
    ruleset = models.CharField(_("ruleset"), max_length=64, blank=True)
    engine_version = models.CharField(_("engine version"), max_length=32)
    readings_digest = models.CharField(_("digest of the readings"), max_length=64, blank=True)

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="findings", verbose_name=_("casino"))
    table = models.ForeignKey(
        GamingTable, null=True, on_delete=models.PROTECT, related_name="findings", verbose_name=_("table")
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
    opened_at = models.DateTimeField(_("found"), auto_now_add=True)
    superseded_at = models.DateTimeField(_("superseded"), null=True, blank=True)

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

    def __str__(self) -> str:
        return f"{self.rule} #{self.seq}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as section 6 of the event contract writes it."""
        return self.as_value().as_dict()

    def as_value(self) -> Any:
        """Return the finding as the engine's own value, which knows its sentences."""
        from settlement import Finding as Found

        return Found(
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


class WagerOutcome(models.Model):
    """One wager as the rules decide it and as it was paid, in minor units."""

    stream = models.ForeignKey(
        LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="wagers", verbose_name=_("stream")
    )
    engine_version = models.CharField(_("engine version"), max_length=32)
    wager = models.CharField(_("wager"), max_length=200)
    bet = models.CharField(_("bet"), max_length=200)
    player = models.CharField(_("player"), max_length=200, blank=True)
    stake = models.BigIntegerField(_("stake"))
    status = models.CharField(_("status"), max_length=32)
    winnings_due = models.BigIntegerField(_("winnings due"))
    stake_due = models.BigIntegerField(_("stake due"))
    winnings_paid = models.BigIntegerField(_("winnings paid"))
    stake_paid = models.BigIntegerField(_("stake paid"))
    placed_by = models.BigIntegerField(_("placed by event"))
    decided_by = models.BigIntegerField(_("decided by event"), null=True)
    provision = models.CharField(_("provision"), max_length=64)

    class Meta:
        verbose_name = _("wager")
        verbose_name_plural = _("wagers")
        constraints = [
            models.UniqueConstraint(fields=["stream", "engine_version", "wager"], name="one_outcome_a_wager")
        ]

    def __str__(self) -> str:
        return self.wager
