"""What a session says of its table, in words: the limits of stakes, and the wheel or the dice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from audit.adjudication.equipment import opener_of
from audit.presentation import language, money_in_prose
from settlement.catalogue import Language, bet_word
from settlement.events.session import SessionOpenedData
from settlement.ruleset import RULESETS, WHEEL


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
    """Return the wheel and the set of dice that an opener names, in words: “wheel R1”; neither: none is reported."""
    name = wheel_name(opener.ruleset, language())
    wheel = [f"{name} {equipment_id(opener.wheel)}"] if isinstance(opener.wheel, str) else []
    dice = [_("dice %(id)s") % {"id": equipment_id(opener.dice_set)}] if isinstance(opener.dice_set, str) else []
    return [*wheel, *dice]


def wheel_name(ruleset: str | None, language: Language) -> str:
    """Return what the wheel of a ruleset is called; of one that is not known, a wheel."""
    known = RULESETS.get(ruleset or "")
    return (known.wheel_name if known is not None else WHEEL).in_language(language)


def equipment_of_session(stream_id: int) -> list[str]:
    """Return ``equipment_words`` of a session, by its stream."""
    opener = opener_of(stream_id)
    return equipment_words(opener.data) if opener is not None else []


_WORD_OF_EQUIPMENT = re.compile(r"(wheel|cylindre|dice|dés)[-_ .:#]+(?=\w)", re.IGNORECASE)


def equipment_id(code: str) -> str:
    """Return the id of a wheel or of dice after its word: “R1” for “wheel-R1”, whose words are “wheel R1”."""
    return _WORD_OF_EQUIPMENT.sub("", code, count=1) if _WORD_OF_EQUIPMENT.match(code) else code
