"""``manage.py eventpage``: write ``docs/events.md``, every event of the contract and every field, from their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from audit.api.event_schemas import event_schemas
from audit.management.pages import page_of_docs
from audit.management.terminal import BaseCommand
from settlement.events import TYPES
from settlement.provisions import WAGER_PROVISIONS
from settlement.rulesets import RULESETS

PAGE = Path("docs/events.md")

INTRODUCTION = """# Events

Every event that a table system may send, generated from the types (`manage.py eventpage`). How to send them, and what
a table that sees less sends, is in [Sending events](ingestion.md). Optional fields have a question mark; one not
listed is refused, as is `null` wherever it is not named. The OpenAPI document of the interface (`/api/v1/schema/`)
has the same as JSON Schema. [The account of a wager](account.md) says what its money comes to,
[Corrections](corrections.md) what it means to undo a result.

Within a coup the clock says whether a stake came before the call, and `seq` says everything else: keep clocks by NTP. A
clock that goes back is `clock-went-back`. One that is ahead is `clock-ahead` (major): the event claims to have occurred
more than 120 s after the record received it. It is found once while the clock stays ahead; the event counts.

| field of every event | | |
|---|---|---|
| `stream` | 1 to 100 of `A-Z a-z 0-9 . _ : -` | one session of one table, or the count of a gaming day |
| `seq` | integer from 1 | contiguous within the stream |
| `type` | text | one of those below, or your own: `x.` and parts of `a-z 0-9 -` with dots between |
| `v`? | 1 | version of the contract |
| `occurred_at` | RFC 3339 with an offset | by the table's clock; more than 120 s after receipt is `clock-ahead` |
| `actor`? | id | who or what recorded it: a member of the staff, or a device |
| `data` | object | the fields below; left out where a type has none |
| `ext`? | object | your own: at most 4,096 bytes in canonical form, hashed, kept, shown, never adjudicated |

An *amount* is an integer in minor units of the session's currency. A *person* (`player`, `person`, `croupier`,
`approved_by`, `counted_by`, `actor`) is an opaque id of 1 to 40 characters out of `A-Z a-z 0-9 . _ : -`, never a name.
A *role* is one of `chef_de_partie`, `chef_de_table`, `croupier`, `stickman`, `employe`, `shooter`, `opening`.
"""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "The session and its bank": ("session.", "staff.", "player.", "bank.", "buy_in.", "events.", "entry."),
    "The count room": ("count.", "drop.", "cash_desk."),
    "Stakes and payouts": ("wager.", "no_more_bets", "stakes.", "payment.", "payout.", "orphan."),
    "Tips, goodwill, disputes": ("tip.", "goodwill.", "dispute."),
    "Craps": ("dice.", "throw.", "point.", "shooter."),
    "Roulette": ("",),
}
"""The sections of the page, each with how the types in it begin; a type is in the first that fits."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "calls": ("no_more_bets",),
    "custody": (
        *("dice.offered", "dice.declined", "dice.set_introduced", "dice.selected", "dice.touched"),
        "shooter.removed",
    ),
    "marker": ("point.marked",),
    "wheel": ("wheel.spun", "ball.launched", "chip.fell_in_wheel", "ball.retrieved"),
    "announcements": ("result.announced", "payment.announced"),
    "collections": ("stakes.collected",),
    "seating": ("player.seated", "player.left"),
    "colours": ("colour.assigned",),
    "handling": ("chips.handled", "stacks.rebuilt"),
    "staff": ("staff.assigned", "staff.relieved"),
    "bank": ("bank.filled", "bank.credited", "buy_in.recorded"),
    "wagers": ("wager.placed", "wager.withdrawn", "wager.switched", "wager.moved"),
    "results": ("dice.thrown", "throw.voided", "ball.settled", "spin.voided", "boule.settled", "boule.voided"),
    "decisions": ("zero.decided",),
    "payouts": ("payout.made", "payout.recovered"),
}
"""The events of each family that a session may list under ``observes``."""

ROLES = frozenset({"chef_de_partie", "chef_de_table", "croupier", "stickman", "employe", "shooter", "opening"})


class Command(BaseCommand):
    help = "Write docs/events.md, every event of the contract and every field of it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--print", action="store_true", help="print the page instead")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["print"]:
            self.stdout.write(page(), ending="")
        else:
            page_of_docs(PAGE).write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page."""
    schemas = event_schemas()
    lines = [INTRODUCTION]
    left = [name for name, kind in TYPES.items() if kind.ruleset is None]
    for section, beginnings in SECTIONS.items():
        lines.append(f"## {section}\n")
        for name in [each for each in left if each.startswith(beginnings)]:
            left.remove(name)
            lines += _event(name, schemas)
    lines.append("## Of one ruleset alone\n")
    for name, kind in TYPES.items():
        if kind.ruleset is not None:
            lines += _event(name, schemas)
    lines += _bets()
    return "\n".join(lines)


def _bets() -> Iterator[str]:
    yield "## Bets\n"
    yield "`bet` is one of these words, by `ruleset`. Further fields say what a bet lies on: `number` at craps and"
    yield "at la boule, `numbers` or `which` at roulette, `base` for odds.\n"
    yield "| `ruleset` | `game` | bets |\n|---|---|---|"
    for name, ruleset in RULESETS.items():
        bets = ", ".join(f"`{bet}`" for bet in WAGER_PROVISIONS[name])
        yield f"| `{name}` | `{ruleset.game}` | {bets} |"
    yield ""


def _event(name: str, schemas: Mapping[str, Any]) -> Iterator[str]:
    schema = schemas[name]
    type = TYPES[name]
    family = next((each for each, types in FAMILIES.items() if name in types), None)
    if type.ruleset is not None and (type.is_result or type.voids_result):
        family = "results"
    where = f" Under `{type.ruleset}` alone." if type.ruleset else ""
    yield f"### `{name}`\n"
    yield schema["description"] + where + (f" Family `{family}`." if family else "") + "\n"
    if not schema["properties"]:
        yield "No fields.\n"
        return
    yield "| field | | |\n|---|---|---|"
    for field, of_field in schema["properties"].items():
        mark = "" if field in schema["required"] else "?"
        default = f"; default `{of_field['default']}`" if "default" in of_field else ""
        kind = _kind(of_field, schemas)
        yield f"| `{field}`{mark} | {kind}{default} | {of_field['description']} |"
    yield ""


def _kind(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(reference)}:
            named = reference.rpartition("/")[2]
            return "person" if named == "Person" else "object: " + _fields(schemas[named], schemas)
        case {"enum": list(values)}:
            if set(values) == ROLES:
                return "role"
            return ", ".join(f"`{value}`" for value in values)
        case {"anyOf": list(kinds)}:
            return " or ".join(_kind(each, schemas) for each in kinds)
        case {"type": "array", "items": {"type": "integer"}, "minItems": int(count), "maxItems": most} if count == most:
            return f"{count} integers"
        case {"type": "array", "items": dict(items)}:
            return f"list of: {_kind(items, schemas)}"
        case {"format": "date"}:
            return "date, `YYYY-MM-DD`"
        case {"type": "integer"}:
            least = schema.get("minimum", 0)
            return f"integer from {least}" if least >= 0 else "integer"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": str(kind)}:
            return {"string": "text", "null": "null"}.get(kind, kind)
        case _:
            return "any"


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    fields = schema["properties"].items()
    return ", ".join(f"`{name}`{'' if name in required else '?'} ({_kind(each, schemas)})" for name, each in fields)
