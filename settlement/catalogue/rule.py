"""What a rule is: one thing that can be wrong at a table, and its message.

A rule's name is stored in case files, so it is never renamed and never reused.

A message is a template (``templates``). ``{stake}`` is a fact, formatted by its kind (an amount, a role, a bet …);
square brackets are left out if one of their facts is missing. A message may use the facts that its rule
declares, ``STANDARD_FACTS``, and what is derived from them (``sentences.DERIVED``).

French has ordinary spaces in the source; ``Wording`` puts the no-break ones that French typography needs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from settlement import registries

Severity: TypeAlias = Literal["critical", "major", "minor", "info"]
Language: TypeAlias = Literal["en", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

Kind: TypeAlias = Literal[
    "money",  # an amount in minor units
    "number",  # a count, a total, a point, seconds, a seq
    "numbers",  # a list of them
    "faces",  # of two dice
    "text",  # an id, a seat, a pocket, a colour: as the table system sent it
    "texts",  # a list of them
    "wagers",  # a list of wager ids
    "odds",  # "7:6"
    "bet",
    "role",
    "direction",
    "choice",  # half or prison
    "status",  # of a wager, with "unknown" for one never placed
    "medium",  # what was staked instead of chips
    "bound",  # minimum or maximum
    "flags",  # why a throw is irregular
    "loss",  # why events are lost
    "cause",  # why dice were replaced or touched
    "act",  # the type of an event, as what was done
    "event",  # the type of an event, as what it is called
    "fault",  # why an odds stake or a correction does not hold
    "switch",  # working or not
    "waiting",  # that an act waits for its approval
    "changed",  # fields of an event: of each its name, and its value before and after
    "outcomes",  # wagers whose outcome is another: of each ``sentences.FIELDS_OF_AN_OUTCOME``
    "gravity",  # what makes the undoing of a result critical, a list
    "favoured",  # players or house
    "recourse",  # what to do about a change that has no effect
    "readings",  # a list of readings, by name
    "colour",  # of a player's chips
    "game",
    "day",  # ISO 8601
    "instant",  # RFC 3339
    "exchange",  # chips bought or chips cashed
    "means",  # in what they were paid for
    "pattern",  # how exchanges stay below a threshold
    "multiple",  # how many times a stake has become, its thousands apart by narrow spaces
    "part",  # of which part of a wager's money the amounts are: winnings, stake or all
    "ending",  # what ended a coup: a result or the close
    "reason",  # why something was changed or voided, a code of the event contract or words of the table system
    "families",  # a list of families of events
    "ruleset",
]

Equipment: TypeAlias = Literal["dice", "wheel"]
"""What draws a result, where we test whether it is fair."""

Effect: TypeAlias = Literal["decides_nothing", "refuses_stake"]
"""What follows from a finding: the result that it names decides nothing, or the stake that it names is void."""

_ruleset_names: dict[str, None] = registries.table({})
RULESET_NAMES: Collection[str] = _ruleset_names.keys()
"""The name of every ruleset, in the order in which they were registered."""


def name_ruleset(name: str) -> None:
    """Take the name of a ruleset."""
    registries.add(_ruleset_names, name, None, "a ruleset")


WAGER = "wager"
"""In place of a label: the provision of the bet concerned."""

WITHDRAWAL = "withdrawal"
"""In place of a label: the clause that lets the bet concerned be taken back."""

STANDARD_FACTS: Mapping[str, Kind] = MappingProxyType(
    {
        "seq": "number",
        "wager": "text",
        "bet": "bet",
        "stake": "money",  # what is left of it
        "player": "text",
        "number": "number",  # craps: the number it is on
        "numbers": "texts",  # roulette: its pockets
        "which": "numbers",  # roulette: its dozens or columns
        "reading": "readings",  # one by which a payment would be right
        "analogy": "game",  # whose text it is, where it is another game's
    }
)
"""Facts that any finding may have, whatever its rule declares: those of the event and of the wager."""


_NARROW = "\N{NARROW NO-BREAK SPACE}"
_NO_BREAK = "\N{NO-BREAK SPACE}"


def typeset_french(text: str) -> str:
    """Return ``text`` with the no-break spaces of French typography."""
    text = text.replace("« ", f"«{_NO_BREAK}").replace(" »", f"{_NO_BREAK}»").replace(" :", f"{_NO_BREAK}:")
    text = re.sub(r" ([;?!%])", rf"{_NARROW}\1", text)
    return re.sub(r"(\d) (s|min|°)\b", rf"\1{_NO_BREAK}\2", text)


@dataclass(frozen=True, slots=True)
class Wording:
    """The same text in both languages of the desk."""

    en: str
    fr: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "fr", typeset_french(self.fr))

    def in_language(self, language: Language) -> str:
        return self.fr if language == "fr" else self.en


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the catalogue.

    ``provisions`` maps each ruleset that the rule applies to onto the labels of the clauses it rests on; a finding
    names the first. If there is none, ``reason`` says why. ``everywhere`` has those labels for every ruleset that gives
    none of its own (``Ruleset.clauses``); None: the rule applies where ``provisions`` says. ``remedy`` is what to do
    about it, None where ``remedies`` says it. ``equipment`` is what it is about: only a ruleset that plays with it has
    the rule. ``effect`` is what follows from it, None if nothing does. ``judges`` are the families of events that it
    looks at, where it is not about the money of a bet. ``exceptional_severity`` holds instead in the case that the
    explanation names. ``needs`` is the family of events without which the rule cannot be checked; None: it always can.
    ``facts`` are what its message needs in addition to the standard facts; ``expected_is`` and ``recorded_is`` are the
    kinds of those two fields of a finding, None if they are empty; ``compares`` is the kind of both. ``raised_by`` is
    "both" if both the record and ``adjudicate`` raise it.
    """

    name: str
    severity: Severity
    exceptional_severity: Severity | None = None
    needs: str | None = None
    provisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    everywhere: tuple[str, ...] | None = None
    reason: Wording | None = None
    facts: Mapping[str, Kind] = field(default_factory=dict)
    expected_is: Kind | None = None
    recorded_is: Kind | None = None
    title: Wording
    message: Wording
    explanation: Wording
    remedy: Wording | None = None
    equipment: Equipment | None = None
    effect: Effect | None = None
    judges: tuple[str, ...] = ()
    raised_by: Literal["engine", "record", "both"] = "engine"
    compares: InitVar[Kind | None] = None

    def __post_init__(self, compares: Kind | None) -> None:
        if compares is not None:
            object.__setattr__(self, "expected_is", compares)
            object.__setattr__(self, "recorded_is", compares)

    @property
    def rulesets(self) -> frozenset[str]:
        return frozenset(self.provisions)

    def provision_in(self, ruleset: str | None) -> str | None:
        """Return the label that a finding names under ``ruleset``: a provision, ``WAGER``, ``WITHDRAWAL``, or None."""
        labels = self.provisions.get(ruleset or "", ())
        return labels[0] if labels else None


def under(provisions: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return the provisions of a rule, by ruleset."""
    return MappingProxyType(dict(provisions))


RESTS_ON_THE_RECORD = Wording(
    "This rule is about the record itself, not about play: it rests on the event contract, not on a text of law.",
    "Cette règle porte sur l’enregistrement lui-même et non sur le jeu : elle repose sur le contrat d’événements, "
    "non sur un texte.",
)
