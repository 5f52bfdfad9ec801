"""Files that officers attach to cases. A file is kept in this database until it is erased; its hash stays."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.cases import Case
from audit.models.casinos import is_none_or_dated
from audit.models.officers import Officer


class FileKind(models.TextChoices):
    """What a file may be: its content says so, and not its name."""

    PDF = "pdf", "PDF"
    PNG = "png", "PNG"
    JPEG = "jpeg", "JPEG"


class Attachment(models.Model):
    """A file of a case. ``content`` and ``name`` are gone once it is erased; ``sha256``, in hex, and ``size`` stay."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="attachments", verbose_name=_("case"))
    officer = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("officer"))
    at = models.DateTimeField(auto_now_add=True)
    name = models.CharField(_("name"), max_length=100, blank=True)
    kind = models.CharField(_("kind"), max_length=8, choices=FileKind)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField(null=True)
    erased_at = models.DateTimeField(null=True)
    erased_by = models.ForeignKey(Officer, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(at__range=CALENDAR) & is_none_or_dated("erased_at"),
                name="attachment_of_the_calendar",
            ),
            models.CheckConstraint(condition=Q(kind__in=FileKind.values), name="attachment_is_of_a_kind"),
            models.CheckConstraint(
                condition=Q(content__isnull=False, erased_at=None, erased_by=None)
                | Q(content=None, name="", erased_at__isnull=False, erased_by__isnull=False),
                name="attachment_erased_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case} {self.sha256[:12]}"
