"""Choosing a player from the directory of a casino, by an id or by a part of a name."""

from __future__ import annotations

from dataclasses import dataclass, field

from audit.models import Person, PersonKind

OFFERED = 8
"""Players offered to choose from, at most."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a typed text stands for: ``code`` where it is one id, else the players whose names have it.

    ``is_known`` is whether the directory has that id, or has no players at all to compare with.
    """

    code: str
    is_known: bool
    offered: list[Person] = field(default_factory=list)


def choice_of(casino_id: int, typed: str, *, by_name: bool) -> Choice:
    """Return what an officer who typed an id or, where they may see names, a part of a name may have meant."""
    players = Person.objects.filter(casino=casino_id, kind=PersonKind.PLAYER)
    if players.filter(code=typed).exists():
        return Choice(typed, is_known=True)
    named = list(players.filter(name__icontains=typed).order_by("name", "code")[:OFFERED]) if by_name else []
    same = [each for each in named if each.name.casefold() == typed.casefold()]
    if len(same) == 1:
        return Choice(same[0].code, is_known=True)
    return Choice(typed, is_known=not named and not players.exists(), offered=named)
