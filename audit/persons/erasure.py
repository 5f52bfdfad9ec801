"""Erasing a person from a casino's directory: one act, which the audit trail keeps, and the name it does not.

    person.erased (id, by whom, when, why) ─► audit_act_person_erased ─► the row of the directory
                                                                    ├──► files of exports that may show the name
                                                                    ├──► refused requests that quote it
                                                                    └──► Django's history
    saved views whose filter or title has a part of the name ─► deleted here

The database does it, so there is no such deletion without its entry: no role may delete from the directory. Events,
findings, nights and signatures have the id, and stay as they are. The trail keeps what officers wrote in their own
words; nobody can know whether a name is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import normalize
from urllib.parse import parse_qsl

import msgspec
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Officer, Person, SavedView

ERASED = "person.erased"

MIN_PART = 3
"""Letters that a part of a name needs for a saved view to be deleted for it."""

_REFUSALS = {
    "no-such-person": _("This person is no longer in the directory."),
    "no-reason": _("Give a reason."),
    "names-the-person": _(
        "The reason contains the name, the card or the note: write the id. The trail keeps it for good."
    ),
    "not-keeper-here": _("Your role at this casino does not allow this."),
    "not-an-officer": _("Your role at this casino does not allow this."),
}


class ErasureRefused(Exception):
    """The person is not erased, and nothing has changed. ``reason`` is for the officer."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Erased:
    """What went with a name: files of exports, refused requests, saved views."""

    code: str
    files: int
    refused: int
    views: int


def erase(officer: Officer, person: Person, *, reason: str) -> Erased:
    """Erase a person from the directory in the name of ``officer``. Raise ``ErasureRefused``."""
    reason = audit_trail.cleaned(reason)
    if not Scope.of(officer, Capability.KEEP_EQUIPMENT).includes(person.casino_id):
        raise ErasureRefused(_REFUSALS["not-keeper-here"])
    if not reason:
        raise ErasureRefused(_REFUSALS["no-reason"])
    parts = parts_of(person.name)
    if parts & parts_of(reason):
        raise ErasureRefused(_REFUSALS["names-the-person"])
    with transaction.atomic():
        try:
            gone = audit_trail.perform(
                officer.get_username(),
                ERASED,
                casino_id=person.casino_id,
                data={"id": person.pk, "named": person.code, "kind": str(person.kind)},
                reason=reason,
                secret=_written(person),
            )
        except EntryRefused as refused:
            raise ErasureRefused(_REFUSALS.get(refused.code, _REFUSALS["no-such-person"])) from refused
        views = [view.pk for view in SavedView.objects.all() if _has_part_of(view, person)]
        SavedView.objects.filter(pk__in=views).delete()
    return Erased(person.code, gone["files"], gone["refused"], len(views))


def _written(person: Person) -> str:
    """Return as JSON how else the texts of a person may be written in a refused request; no entry has it."""
    texts = [text for text in (person.name, person.card_or_licence, person.note) if text]
    forms = {normalize(form, text) for form in ("NFC", "NFD") for text in texts}
    cases = {each for text in forms for each in (text, text.upper(), text.lower(), text.title())}
    words = {each for part in parts_of(person.name) for each in (part, part.upper(), part.title())}
    return msgspec.json.encode({"written": sorted(cases), "parts": sorted(words)}).decode()


def parts_of(text: str) -> frozenset[str]:
    """Return the words of a text that are long enough to say whose name it is, in small letters."""
    return frozenset(word for word in re.findall(r"[^\W\d_]+", text.casefold()) if len(word) >= MIN_PART)


def _has_part_of(view: SavedView, person: Person) -> bool:
    """Return whether the filter or the title of a saved view has a word of the name, or is a part of it."""
    name = person.name.casefold()
    sought = [value.casefold() for key, value in parse_qsl(view.query) if key == "q"]
    is_part = any(len(term) >= MIN_PART and (term in name or name in term) for term in sought)
    return is_part or bool(parts_of(person.name) & parts_of(" ".join([view.name, *sought])))
