"""What a session says of its table, in words: the limits of stakes, and the wheel or the dice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from audit.presentation import money_in_prose
from settlement.catalogue import bet_word
from settlement.events.session import SessionOpenedData


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of stakes: ``words`` for all of them, and ``bets``, each with its highest stake where they differ."""

    words: str
    bets: list[tuple[str, str]]


def limits_of(minimum: int, maximum: Mapping[str, int], currency: str, ruleset: str) -> Limits | None:
    """Return the limits of a session, in minor units, by bet; None where it reports neither (``minimum`` 0)."""
    lowest = money_in_prose(minimum, currency) if minimum else ""
    highest = (
        [money_in_prose(each, currency) for each in (min(maximum.values()), max(maximum.values()))] if maximum else []
    )
    bets = [(bet_word(ruleset, bet), money_in_prose(each, currency)) for bet, each in sorted(maximum.items())]
    if not highest:
        return Limits(_("from %(lowest)s") % {"lowest": lowest}, []) if lowest else None
    if highest[0] == highest[1]:
        bets = []
    words = _("%(lowest)s to %(highest)s") if lowest else _("up to %(highest)s")
    return Limits(words % {"lowest": lowest, "highest": highest[1]}, bets)


def equipment_words(opener: SessionOpenedData) -> list[str]:
    """Return the wheel and the set of dice that an opener names; neither: none is reported."""
    wheel = [equipment_name("wheel", opener.wheel)] if isinstance(opener.wheel, str) else []
    dice = [equipment_name("dice", opener.dice_set)] if isinstance(opener.dice_set, str) else []
    return [*wheel, *dice]


_WORD_OF_EQUIPMENT = re.compile(r"(wheel|cylindre|dice|dés)[-_ .:#]+(?=\w)", re.IGNORECASE)


def equipment_id(code: str) -> str:
    """Return the id of a wheel or of dice after its word: “R1” for “wheel-R1”, whose words are “wheel R1”."""
    return _WORD_OF_EQUIPMENT.sub("", code, count=1) if _WORD_OF_EQUIPMENT.match(code) else code


def equipment_name(kind: Literal["wheel", "dice"], code: str) -> str:
    """Return a wheel or a set of dice in words: “wheel R1”."""
    return (_("wheel %(id)s") if kind == "wheel" else _("dice %(id)s")) % {"id": equipment_id(code)}
