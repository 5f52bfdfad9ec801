"""What witnesses of other owners have cosigned, and how each of them was last reached."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Cosignature(models.Model):
    """A witness's cosignature on a checkpoint (C2SP cosignature/v1). Inserted by the sequencer, never changed.

    ``size`` and ``root`` are those of the checkpoint as it was sent: they stay if somebody replaces the tree.
    """

    size = models.BigIntegerField()
    root = models.BinaryField()
    witness = models.TextField()  # its name
    vkey = models.TextField()
    line = models.TextField()  # the signature line, without its line break
    cosigned_at = models.DateTimeField()  # by the witness's clock, in the signature
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["size", "vkey"], name="one_cosignature_a_witness"),
            models.CheckConstraint(condition=Q(size__gt=0), name="cosigned_trees_have_leaves"),
        ]

    def __str__(self) -> str:
        return f"{self.witness}: {self.size}"


class WitnessState(models.Model):
    """How a witness answered last. ``size`` counts the leaves of the newest checkpoint that it has cosigned, 0 before
    the first.

    ``refused_at`` is when it said that the log does not extend what it cosigned, None if it does not say so now;
    ``error`` says why the last attempt gave no cosignature.
    """

    vkey = models.TextField(primary_key=True)
    size = models.BigIntegerField(default=0)
    cosigned_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField()
    error = models.TextField(blank=True)
    refused_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.vkey
