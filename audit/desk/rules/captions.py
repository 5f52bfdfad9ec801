"""What is said of an example beside the one that fires: as a colleague would name the difference.

    saved      one event more        “It was paid in time”
    without    one event less        “Nobody had called the end of betting”
    instead    another value         “The ball the other way round”
    before     two events swapped    “First the throw, then the wager”

The examples are made by a tool, and the engine judges them; the words are here, by what made the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.presentation import FAMILY_NAMES, day, duration, event_name, labelled, language
from audit.register.readings import KINDS, written
from settlement.catalogue.words import word
from settlement.events import TYPES
from settlement.persons.opaque_ids import PERSON_FIELDS

ZERO, MILLISECOND, SECOND = timedelta(), timedelta(milliseconds=1), timedelta(seconds=1)

SAVED: Mapping[str, Promise] = {
    "ball.launched": gettext_lazy("The ball was launched"),
    "ball.settled": gettext_lazy("With a result in between"),
    "chip.fell_in_wheel": gettext_lazy("A chip had fallen into the wheel"),
    "colour.assigned": gettext_lazy("The colour had been assigned"),
    "dice.offered": gettext_lazy("The dice had been offered"),
    "dice.selected": gettext_lazy("The dice had been chosen"),
    "dice.set_introduced": gettext_lazy("Six dice had been put into service"),
    "dice.thrown": gettext_lazy("With a throw in between"),
    "no_more_bets": gettext_lazy("“Rien ne va plus” was called"),
    "payment.announced": gettext_lazy("The payment was announced"),
    "payout.made": gettext_lazy("It was paid in time"),
    "player.left": gettext_lazy("A player had left"),
    "point.marked": gettext_lazy("The point was marked"),
    "result.announced": gettext_lazy("The result was announced"),
    "shooter.removed": gettext_lazy("The dice had been taken from the shooter"),
    "spin.voided": gettext_lazy("The spin was voided"),
    "staff.assigned": gettext_lazy("Somebody had been assigned"),
    "staff.relieved": gettext_lazy("Somebody had been relieved"),
    "stakes.collected": gettext_lazy("The losing stakes were collected"),
    "throw.voided": gettext_lazy("The throw was voided"),
    "wager.placed": gettext_lazy("There was a stake for it"),
    "wager.switched": gettext_lazy("The stake had been turned on or off"),
    "wager.withdrawn": gettext_lazy("The stake had been taken back"),
    "wheel.spun": gettext_lazy("The wheel was turned"),
    "zero.decided": gettext_lazy("The player had chosen"),
}
"""One event more, by its type."""

WITHOUT: Mapping[str, Promise] = {
    "ball.launched": gettext_lazy("The ball had not been launched"),
    "ball.settled": gettext_lazy("Without that result"),
    "chip.fell_in_wheel": gettext_lazy("No chip had fallen into the wheel"),
    "colour.assigned": gettext_lazy("Without that colour"),
    "dice.offered": gettext_lazy("The dice had not been offered"),
    "dice.set_introduced": gettext_lazy("Without new dice"),
    "dice.thrown": gettext_lazy("Without that throw"),
    "dispute.settled": gettext_lazy("Without that settlement"),
    "goodwill.paid": gettext_lazy("Only what was owed was paid"),
    "last_coup.announced": gettext_lazy("The last coup had not been announced"),
    "no_more_bets": gettext_lazy("“Rien ne va plus” had not been called"),
    "payment.announced": gettext_lazy("The payment had not been announced"),
    "payout.made": gettext_lazy("Without that payout"),
    "payout.recovered": gettext_lazy("Nothing was taken back"),
    "player.seated": gettext_lazy("The player had not sat down"),
    "result.announced": gettext_lazy("The result had not been announced"),
    "staff.assigned": gettext_lazy("Nobody had come on duty"),
    "staff.relieved": gettext_lazy("Nobody had been relieved"),
    "throw.voided": gettext_lazy("The throw was not voided"),
    "wager.placed": gettext_lazy("Without that stake"),
    "wager.withdrawn": gettext_lazy("The stake had not been taken back"),
    "wheel.spun": gettext_lazy("The wheel had not been spun"),
}
"""One event less, by its type."""

INSTEAD: Mapping[tuple[str, str], Promise] = {
    ("ball.launched", "direction"): gettext_lazy("The ball spun the other way round"),
    ("ball.settled", "pocket"): gettext_lazy("Another pocket"),
    ("chips.handled", "by"): gettext_lazy("Somebody else handled the chips"),
    ("colour.assigned", "colour"): gettext_lazy("Another colour"),
    ("colour.assigned", "marker_from"): gettext_lazy("The marker came from the chef de table"),
    ("colour.assigned", "player"): gettext_lazy("The colour is another player’s"),
    ("colour.assigned", "value"): gettext_lazy("Another value for the colour"),
    ("dice.offered", "seat"): gettext_lazy("The dice offered to another seat"),
    ("dice.selected", "boxed"): gettext_lazy("Other dice in the box"),
    ("dice.selected", "dice"): gettext_lazy("Other dice chosen"),
    ("dice.set_introduced", "announced"): gettext_lazy("The change was announced"),
    ("dice.set_introduced", "decided_by"): gettext_lazy("The chef de table decided it"),
    ("dice.set_introduced", "dice"): gettext_lazy("Another number of dice"),
    ("dice.thrown", "dice"): gettext_lazy("The dice that were thrown are not reported"),
    ("dice.thrown", "faces"): gettext_lazy("Another throw"),
    ("dice.thrown", "flags"): gettext_lazy("Nothing was wrong with the throw"),
    ("dice.thrown", "seat"): gettext_lazy("The seat is not reported"),
    ("dice.touched", "by"): gettext_lazy("The croupier touched them"),
    ("entry.annulled", "annuls"): gettext_lazy("Another event was to be annulled"),
    ("entry.corrected", "data"): gettext_lazy("The data that were to replace it do not fit"),
    ("orphan.recorded", "amount"): gettext_lazy("The whole sum was recorded"),
    ("payout.made", "colour"): gettext_lazy("Paid in the other colour"),
    ("payout.made", "wager"): gettext_lazy("Another stake was paid"),
    ("payout.made", "stake_returned"): gettext_lazy("Another part of the stake was handed back"),
    ("payout.made", "winnings"): gettext_lazy("Another sum was paid"),
    ("payout.recovered", "stake"): gettext_lazy("Another sum was taken back"),
    ("result.announced", "chances"): gettext_lazy("Every chance was announced"),
    ("result.announced", "pocket"): gettext_lazy("Another number was announced"),
    ("player.seated", "player"): gettext_lazy("Another player sat down"),
    ("player.seated", "seat"): gettext_lazy("The player sat at another seat"),
    ("session.opened", "game"): gettext_lazy("The game that its rules belong to"),
    ("session.opened", "ruleset"): gettext_lazy("The ruleset that belongs to its game"),
    ("session.opened", "staff"): gettext_lazy("Other staff at the table"),
    ("shooter.removed", "by"): gettext_lazy("The chef de table took the dice"),
    ("staff.relieved", "role"): gettext_lazy("Somebody else was relieved"),
    ("throw.voided", "announced_by"): gettext_lazy("The stickman announced it"),
    ("throw.voided", "flags"): gettext_lazy("There was a reason to void it"),
    ("wager.placed", "bet"): gettext_lazy("Another bet"),
    ("wager.placed", "colour"): gettext_lazy("A stake without a colour"),
    ("wager.placed", "commission"): gettext_lazy("Another commission"),
    ("wager.placed", "left_up_from"): gettext_lazy("A new stake, not one that was left up"),
    ("wager.placed", "marker"): gettext_lazy("With its marker"),
    ("wager.placed", "medium"): gettext_lazy("In chips"),
    ("wager.placed", "number"): gettext_lazy("On another number"),
    ("wager.placed", "numbers"): gettext_lazy("On other numbers"),
    ("wager.placed", "player"): gettext_lazy("Another player’s stake"),
    ("wager.placed", "stake"): gettext_lazy("Another stake"),
    ("wager.placed", "wager"): gettext_lazy("A stake of another name"),
    ("wager.placed", "working"): gettext_lazy("The stake was in play"),
    ("wager.switched", "working"): gettext_lazy("Turned off, not on"),
    ("wager.moved", "number"): gettext_lazy("Moved to the right number"),
    ("wheel.spun", "by"): gettext_lazy("The croupier spun it"),
    ("wheel.spun", "direction"): gettext_lazy("The wheel spun the other way round"),
}
"""Another value, by the type of the event and the name of its field."""

OWN: Mapping[tuple[str, str, str], Promise] = {
    ("dice.thrown", "flags", "rubbed_or_held"): gettext_lazy("The dice were rubbed or held before the throw"),
    ("dice.thrown", "flags", "slid"): gettext_lazy("The dice slid"),
    ("dice.touched", "by", "chef_de_table"): gettext_lazy("The chef de table touched them"),
    ("wager.placed", "commission", "0"): gettext_lazy("Without a commission"),
    ("wager.placed", "medium", "plaques"): gettext_lazy("In plaques"),
}
"""Another value that has words of its own, by it."""

GIVEN: Mapping[tuple[str, str], Promise] = {
    ("colour.assigned", "value"): gettext_lazy("The value was declared"),
    ("wager.placed", "commission"): gettext_lazy("With its commission"),
}
"""A value where the rule fires for want of one, where that has words of its own."""

INSTEAD_OF_IT: Mapping[str, Promise] = {
    "dice.thrown": gettext_lazy("The throw was counted"),
    "dispute.settled": gettext_lazy("Paid to settle the dispute"),
    "entry.corrected": gettext_lazy("The result was corrected"),
    "payout.made": gettext_lazy("It was a payout"),
    "payout.recovered": gettext_lazy("It was taken back from the player"),
    "player.seated": gettext_lazy("The player sat down without a colour"),
    "spin.voided": gettext_lazy("The spin was declared void"),
    "throw.voided": gettext_lazy("The throw was void"),
}
"""Another event in its place, by its type."""

LEFT_OUT: Mapping[tuple[str, str], Promise] = {
    ("colour.assigned", "marker_from"): gettext_lazy("Where the marker came from is not reported"),
    ("dice.set_introduced", "cause"): gettext_lazy("No cause was given"),
    ("dispute.settled", "amount"): gettext_lazy("No amount was paid"),
    ("dispute.settled", "approved_by"): gettext_lazy("Nobody approved it"),
    ("wager.placed", "number"): gettext_lazy("A stake without a number"),
    ("wager.placed", "player"): gettext_lazy("The player of the stake is not reported"),
    ("wager.placed", "numbers"): gettext_lazy("A stake without numbers"),
    ("wheel.spun", "by"): gettext_lazy("Who spun it is not reported"),
}
"""A value that is not given, where that has words of its own."""

NOT_REPORTED = gettext_lazy("The table reports none of it")
"""A session that lists no family of events: what the rule would need to see is not reported."""


HANDED_BACK = gettext_lazy("The stake was handed back")
"""A payout without winnings, where there was none."""

NO_READING = gettext_lazy("The session declares no reading of its own")
"""A session that declares none of the parameters that the example that fires does."""


ANOTHER_RESULT = gettext_lazy("Another result")
"""Another value in a result of a type that a ruleset brings."""

ANOTHER_PERSON = gettext_lazy("Somebody else did it")
NOBODY_NAMED = gettext_lazy("Who did it is not reported")
"""Another person in an event of such a type, or nobody."""


def caption(
    kind: str,
    type: str,
    field: str = "",
    value: Any = None,
    *,
    before: Any = None,
    second: str = "",
    currency: str = "",
) -> str:
    """Return what makes the difference, in words; "" for what has none.

    ``type`` is that of the event that makes it, and of two that were swapped the one that now comes first; ``second``
    is the other. ``field`` and ``value`` are of an event that is otherwise, ``before`` what it held where the rule
    fires: None for a field that is left out. ``field`` is "type" for an event more or of another type, whose data
    ``value`` is, and "occurred_at" for another clock. ``currency`` is that of the table.
    """
    match kind:
        case "saved" | "instead" if (type, field) == ("payout.made", "type") and not value["winnings"]:
            return str(HANDED_BACK)
        case "saved":
            return str(SAVED.get(_like(type), ""))
        case "without":
            return str(WITHOUT.get(_like(type), ""))
        case "before" if second and type != second:
            names = {"first": event_name(type), "second": event_name(second)}
            return _("First: %(first)s. Then: %(second)s.") % names
        case "before":
            return _("In the other order")
        case "instead":
            return _instead(type, field, value, before, currency)
        case _:
            return ""


def _like(type: str) -> str:
    """Return the type of the contract in whose words one of a ruleset's own is spoken of, or ``type`` itself."""
    kind = TYPES.get(type)
    if kind is None or kind.ruleset is None:
        return type
    return "ball.settled" if kind.is_result else "spin.voided" if kind.voids_result else type


def _instead(type: str, field: str, value: Any, before: Any, currency: str) -> str:
    match type, field:
        case _, "type":
            return str(INSTEAD_OF_IT.get(_like(type), ""))
        case _, "occurred_at":
            return _clock(datetime.fromisoformat(value) - datetime.fromisoformat(before))
        case "session.opened", "observes":
            return _observed(value, before)
        case "session.opened", "params":
            declared = [labelled(str(KINDS[name].title), written(name, each, currency)) for name, each in value.items()]
            return ", ".join(declared) or str(NO_READING)
        case "session.opened", "gaming_day":
            return _("Gaming day: %(day)s") % {"day": day(date.fromisoformat(value), with_year=True)}
        case "session.opened", "staff":
            roles = (word("role", each["role"], language()) for each in value)
            return _("On duty: %(roles)s") % {"roles": ", ".join(roles)}
    if _like(type) != type:
        return str(ANOTHER_RESULT if field not in PERSON_FIELDS else ANOTHER_PERSON if value else NOBODY_NAMED)
    changed = type, field
    own = LEFT_OUT.get(changed) if value is None else GIVEN.get(changed) if before is None else None
    return str(own or OWN.get((*changed, _key(value))) or INSTEAD.get(changed) or "")


def _key(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _clock(moved: timedelta) -> str:
    """Return by how much an event is later or earlier; in milliseconds where it is less than a second."""
    size = abs(moved)
    names = {"time": duration(size.total_seconds()) if size >= SECOND else f"{size // MILLISECOND} ms"}
    return _("%(time)s later") % names if moved > ZERO else _("%(time)s earlier") % names


def _observed(value: list[str], before: list[str]) -> str:
    more = [str(FAMILY_NAMES.get(each, each)) for each in value if each not in before]
    return _("Reported, too: %(families)s") % {"families": ", ".join(more)} if more else str(NOT_REPORTED)
