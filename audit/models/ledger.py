"""The evidence ledger in the record: what each session gives it, what was fed in which order, and every process.

A process is never rewound and never deleted. Each batch is kept as it was then, so that its state can be computed
again from the rows of ``LedgerBatch`` in their order.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino
from audit.models.event_store import LoggedStream
from settlement import ENGINE_VERSION
from settlement.eprocess.ledger import EDITION
from settlement.eprocess.process import UNIT

LARGEST_KEPT = 10**999
"""The largest wealth that a column holds, in 2⁻¹²⁸; the state has it exactly."""


if TYPE_CHECKING:
    _Integer = models.IntegerField[int, int]
else:
    _Integer = models.IntegerField


class EditionField(_Integer):
    """The edition of the ledger that a row belongs to. A new edition needs no migration: they name the first."""

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.IntegerField", args, {**kwargs, "default": FIRST_MIGRATED}


FIRST_MIGRATED = 5
"""The edition that the migrations name."""


class StreamEvidence(models.Model):
    """What a session gives the ledger through an event: ``settlement.eprocess.observations``, from the same reading
    that gives its figures. It can be computed again from the event store.
    """

    stream = models.ForeignKey(LoggedStream, on_delete=models.DO_NOTHING, db_constraint=False, related_name="evidence")
    last_seq = models.BigIntegerField()
    engine_version = models.CharField(max_length=32)
    readings = models.CharField(max_length=64, default="", blank=True)  # digest of what the register says of the stream
    corrections = models.CharField(max_length=64, default="", blank=True)  # what officers decided about them
    observations = models.BinaryField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "last_seq", "engine_version", "readings", "corrections"],
                name="one_evidence_a_stream_and_readings",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id} @ {self.last_seq}"


class LedgerCursor(models.Model):
    """How far the ledger of a casino is fed. A worker that feeds it holds this row.

    ``next_leaf`` is the first leaf of the tree that may hold a close which was not looked at, ``number`` that of the
    last batch. ``budget`` is of false questions in ``year``, "n/d"; ``ranks`` how many subjects of each kind have
    appeared in it, of ``edition``, and ``expected`` how many were expected to when it began.
    """

    casino = models.OneToOneField(Casino, primary_key=True, on_delete=models.PROTECT, related_name="ledger")
    next_leaf = models.BigIntegerField(default=0)
    number = models.BigIntegerField(default=0)
    year = models.IntegerField(default=0)
    budget = models.CharField(max_length=32, default="1")
    ranks = models.JSONField(default=dict)
    expected = models.JSONField(default=dict)
    edition = EditionField(default=EDITION)

    def __str__(self) -> str:
        return f"{self.casino_id}: {self.number}"


class BatchKind(models.TextChoices):
    """Where a batch comes from.

    The draws of a session, for its wheel, dice and table; those of a gaming day, for its persons; those of sessions
    that closed after it was fed; the payouts of a night; the count of a session.
    """

    DRAWS = "draws", _("draws of a session")
    EVENING = "evening", _("draws of an evening, by person")
    LATE = "late", _("draws by person, of sessions that closed late")
    PAYOUTS = "payouts", _("payouts of a night")
    COUNT = "count", _("count of a session")


BY_PERSON = (BatchKind.EVENING, BatchKind.LATE)
"""Kinds of batches of the draws of several sessions."""


class LedgerBatch(models.Model):
    """One batch that the ledger was fed. Before 0.3.0 one that could not be read is here too: ``error`` says why.

    ``number`` is its place in the order. ``last_seq`` is the event that closed the session, ``log_index`` the leaf of
    the tree that it came with; a batch of a whole night has neither, and no stream. ``content`` is what was seen, as it
    was read then: observations, payouts, or an accounting variance in minor units; of an evening, the numbers of the
    batches whose draws it has. ``edition`` is that of the processes which it fed.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="ledger_batches")
    number = models.BigIntegerField()
    kind = models.CharField(max_length=16, choices=BatchKind)
    gaming_day = models.DateField(_("gaming day"))
    currency = models.CharField(_("currency"), max_length=3)
    stream = models.ForeignKey(
        LoggedStream, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="ledger_batches"
    )
    last_seq = models.BigIntegerField(default=0)
    log_index = models.BigIntegerField(null=True)
    year = models.IntegerField()
    engine_version = models.CharField(max_length=32)
    edition = EditionField(default=EDITION)
    content = models.BinaryField()
    error = models.CharField(max_length=500, blank=True, default="")
    fed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("batch of the ledger")
        verbose_name_plural = _("batches of the ledger")
        constraints = [
            models.UniqueConstraint(fields=["casino", "number"], name="one_batch_a_number"),
            models.UniqueConstraint(fields=["kind", "stream"], condition=Q(stream__isnull=False), name="fed_once"),
            models.UniqueConstraint(
                fields=["casino", "kind", "gaming_day", "currency"],
                condition=Q(stream__isnull=True),
                name="night_fed_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.casino_id} {self.number}: {self.kind}"


class LedgerSetAside(models.Model):
    """A batch that could not be read or fed: ``error`` says why, and ``next_try_at`` when it is tried again.

    ``content`` is what was seen, as ``LedgerBatch`` has it; empty where that could not be read.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="ledger_set_aside")
    kind = models.CharField(max_length=16, choices=BatchKind)
    gaming_day = models.DateField()
    currency = models.CharField(max_length=3)
    stream = models.ForeignKey(
        LoggedStream, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="ledger_set_aside"
    )
    last_seq = models.BigIntegerField(default=0)
    log_index = models.BigIntegerField(null=True)
    content = models.BinaryField(default=b"")
    error = models.CharField(max_length=500)
    tries = models.IntegerField(default=0)
    began_at = models.DateTimeField(auto_now_add=True)
    next_try_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "stream"], condition=Q(stream__isnull=False), name="set_aside_once"
            ),
            models.UniqueConstraint(
                fields=["casino", "kind", "gaming_day", "currency"],
                condition=Q(stream__isnull=True),
                name="night_set_aside_once",
            ),
        ]

    def __str__(self) -> str:
        return self.about

    @property
    def about(self) -> str:
        """The name of its session, or the gaming day and currency of its night."""
        return self.stream.name if self.stream is not None else f"{self.gaming_day.isoformat()} {self.currency}"

    def as_batch(self) -> LedgerBatch:
        """Return it as it would be fed, by this version of the engine."""
        return LedgerBatch(
            casino=self.casino,
            kind=self.kind,
            gaming_day=self.gaming_day,
            currency=self.currency,
            stream=self.stream,
            last_seq=self.last_seq,
            log_index=self.log_index,
            engine_version=ENGINE_VERSION,
            content=bytes(self.content),
        )


class LedgerProcesses(models.QuerySet["LedgerProcess"]):
    """Processes of the ledger."""

    def going_on(self) -> LedgerProcesses:
        """Return those that are still fed: of this edition, and not ended by an officer's note."""
        return self.filter(ended_at=None, edition=EDITION)


class LedgerProcess(models.Model):
    """One process: the wealth of a mixture of gamblers against one null about one subject (``settlement.eprocess``).

    ``name`` is its kind, variant and subject in one. ``state`` is the canonical JSON of the pure process. ``wealth``,
    ``highest`` and ``opening``, what it had when ``year`` began, are in 2⁻¹²⁸, ``LARGEST_KEPT`` at most. ``alpha`` is
    its share of the year's budget, "n/d", given before a draw of the year was looked at. ``sessions`` counts batches,
    and ``first_day`` is the earliest gaming day of one, in whatever order they were fed.
    One that has ``ended_at``, because an officer noted that its wheel or dice were taken apart, is fed no more; its
    successor has the next ``generation``. So is one of an earlier ``edition``.
    """

    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, related_name="ledger_processes", verbose_name=_("casino")
    )
    name = models.CharField(max_length=300)
    kind = models.CharField(_("kind"), max_length=40)
    subject = models.CharField(_("subject"), max_length=240)
    variant = models.IntegerField(default=0)
    generation = models.IntegerField(default=1)
    null = models.CharField(_("null hypothesis"), max_length=200)
    state = models.BinaryField()
    wealth = models.DecimalField(max_digits=1_000, decimal_places=0)
    highest = models.DecimalField(max_digits=1_000, decimal_places=0)
    opening = models.DecimalField(max_digits=1_000, decimal_places=0)
    year = models.IntegerField(_("year"))
    alpha = models.CharField(_("threshold"), max_length=64)
    sessions = models.IntegerField(_("sessions"), default=0)
    draws = models.BigIntegerField(_("draws"), default=0)
    first_day = models.DateField(_("since"))
    begun_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    ended_by = models.CharField(max_length=200, blank=True, default="")
    ended_reason = models.TextField(blank=True, default="")
    edition = EditionField(default=EDITION)

    objects = LedgerProcesses.as_manager()

    class Meta:
        verbose_name = _("test")
        verbose_name_plural = _("evidence ledger")
        ordering = ["casino", "kind", "subject"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "name", "generation"], name="one_process_a_generation"),
            models.UniqueConstraint(
                fields=["casino", "name", "edition"], condition=Q(ended_at=None), name="one_process_a_subject_at_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_going_on(self) -> bool:
        """Whether it is still fed."""
        return self.ended_at is None and self.edition == EDITION

    @property
    def is_of_earlier_edition(self) -> bool:
        """Whether it ended because the ledger began another edition."""
        return self.edition < EDITION

    @property
    def e_value(self) -> Fraction:
        """The wealth now over that when the year began."""
        return Fraction(int(self.wealth), int(self.opening))

    @property
    def wealth_over_start(self) -> Fraction:
        """The wealth now over that with which every process begins."""
        return Fraction(int(self.wealth), UNIT)

    @property
    def highest_over_start(self) -> Fraction:
        """The most that its wealth ever was after a batch, over that with which every process begins."""
        return Fraction(int(self.highest), UNIT)

    @property
    def threshold(self) -> Fraction:
        """The e-value at which it asks its question of the year."""
        return 1 / Fraction(self.alpha)


class LedgerYear(models.Model):
    """The budget of a casino in one year, of false questions, "n/d": read when the year began, and kept after it.

    ``expected`` is how many subjects of each kind were expected then: the levels are of that. A year in which an
    ``edition`` began has a row of the one before, too.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="ledger_years")
    year = models.IntegerField()
    budget = models.CharField(max_length=32)
    expected = models.JSONField(default=dict)
    edition = EditionField(default=EDITION)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["casino", "year", "edition"], name="one_budget_a_year")]

    def __str__(self) -> str:
        return f"{self.casino_id} {self.year}: {self.budget}"


class LedgerLevel(models.Model):
    """The level that a process had in one year, and the wealth with which it began the year, in 2⁻¹²⁸.

    ``LedgerProcess`` has those of its last year alone; these rows have every year's, and no row changes.
    """

    process = models.ForeignKey(LedgerProcess, on_delete=models.PROTECT, related_name="levels")
    year = models.IntegerField()
    alpha = models.CharField(max_length=64)
    opening = models.DecimalField(max_digits=1_000, decimal_places=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["process", "year"], name="one_level_a_year")]

    def __str__(self) -> str:
        return f"{self.process_id} {self.year}: {self.alpha}"


def kept(wealth: int) -> Decimal:
    """Return a wealth in 2⁻¹²⁸ as a column holds it."""
    return Decimal(min(wealth, LARGEST_KEPT))


class LedgerPoint(models.Model):
    """What one batch did to one process: its wealth after it, in 2⁻¹²⁸, and how many draws the batch had.

    ``counts`` are what it counted, cell by cell (``settlement.eprocess.explanations: COUNTED``); none of other kinds.
    """

    process = models.ForeignKey(LedgerProcess, on_delete=models.PROTECT, related_name="points")
    batch = models.ForeignKey(LedgerBatch, on_delete=models.PROTECT, related_name="points")
    draws = models.IntegerField()
    wealth = models.DecimalField(max_digits=1_000, decimal_places=0)
    counts = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["process", "batch"], name="one_point_a_batch")]

    def __str__(self) -> str:
        return f"{self.process_id} @ {self.batch_id}"

    @property
    def wealth_over_start(self) -> Fraction:
        """The wealth over that with which every process begins."""
        return Fraction(int(self.wealth), UNIT)


class LedgerQuestion(models.Model):
    """That a process reached its level, once for each process and year; it stays asked.

    ``evidence`` is the wealth since the year began, rounded down, ``LARGEST_KEPT`` at most; ``draws`` all those it had
    seen. ``finding`` is the id of the finding that asks.
    """

    process = models.ForeignKey(LedgerProcess, on_delete=models.PROTECT, related_name="questions")
    batch = models.ForeignKey(LedgerBatch, on_delete=models.PROTECT, related_name="questions")
    year = models.IntegerField()
    alpha = models.CharField(max_length=64)
    draws = models.BigIntegerField()
    evidence = models.DecimalField(max_digits=1_000, decimal_places=0)
    finding_id = models.BigIntegerField()
    raised_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["process", "year"], name="one_question_a_year")]

    def __str__(self) -> str:
        return f"{self.process_id}: {self.year}"
