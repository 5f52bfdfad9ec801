"""The directory: the names behind the opaque ids that events use, casino by casino.

Names stand here and nowhere else: no event, finding, report or proof holds one. A row is deleted by the act that erases
it (``audit.persons.erasure``); the id stays where it is.
"""

from __future__ import annotations

import re
import unicodedata

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.casinos import Casino

PERSON_ID_FORM = r"^[A-Za-z0-9._:-]{1,40}\Z"
PERSON_ID = RegexValidator(PERSON_ID_FORM, _("1 to 40 of A-Z a-z 0-9 . _ : -"))


def is_person_id(text: str) -> bool:
    """Return whether a text is an id as events use it, and so no name."""
    return re.match(PERSON_ID_FORM, text) is not None


JOINERS = "\u200c\u200d"
"""The format characters that are letters' own in some scripts. Others could turn the text around them."""


def is_printable(text: str) -> None:  # migration 0001 names it
    """Raise ``ValidationError`` if ``text`` has control characters, or such as change the direction of text."""
    if any(unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp") and each not in JOINERS for each in text):
        raise ValidationError(_("Control characters are not allowed."))


class PersonKind(models.TextChoices):
    """What somebody is at the casino. Every kind but ``PLAYER`` belongs to its staff."""

    PLAYER = "player", _("player")
    CHEF_DE_PARTIE = "chef_de_partie", _("chef de partie")
    CHEF_DE_TABLE = "chef_de_table", _("chef de table")
    CROUPIER = "croupier", _("croupier")
    STICKMAN = "stickman", _("stickman")
    EMPLOYE = "employe", _("employé")
    COUNT_ROOM = "count_room", _("count room")


class Person(models.Model):
    """Somebody whom events of a casino name by id.

    The ids of players and of staff are given by different systems, so each are unique on their own: an event's field
    says which of the two it names. ``card_or_licence`` is a player's card or a licence to work at the tables.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="persons", verbose_name=_("casino"))
    code = models.CharField(_("id"), max_length=40, validators=[PERSON_ID], help_text=_("as it appears in the events"))
    kind = models.CharField(_("kind"), max_length=16, choices=PersonKind)
    name = models.CharField(_("name"), max_length=120, validators=[is_printable])
    card_or_licence = models.CharField(_("card or licence"), max_length=60, blank=True, validators=[is_printable])
    note = models.CharField(_("note"), max_length=500, blank=True, validators=[is_printable])

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("persons")
        ordering = ["casino", "code", "kind"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "code"], condition=Q(kind="player"), name="one_player_an_id"),
            models.UniqueConstraint(fields=["casino", "code"], condition=~Q(kind="player"), name="one_employee_an_id"),
            models.CheckConstraint(condition=Q(kind__in=PersonKind.values), name="person_kind_is_one"),
        ]

    def __str__(self) -> str:
        """Return the id, never the name: the audit trail and Django's history keep this text."""
        return self.code


class ErasedPerson(models.Model):
    """An entry of the directory that was erased: the id, by whom and why, and never the name."""

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    code = models.CharField(_("id"), max_length=40)
    kind = models.CharField(_("kind"), max_length=16)
    reason = models.TextField(_("reason"))
    erased_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("erased by")
    )
    erased_at = models.DateTimeField(_("erased"))

    class Meta:
        verbose_name = _("erased person")
        verbose_name_plural = _("erased persons")
        indexes = [models.Index(fields=["casino", "code"], name="erased_of_a_casino")]

    def __str__(self) -> str:
        return self.code
