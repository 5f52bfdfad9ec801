"""``manage.py eventpage``: write ``docs/events.md``, every event of the contract and every field, from their types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, TypeAlias

from django.core.management.base import CommandParser

from audit.api.event_schemas import event_schemas
from audit.management.pages import page_of_docs
from audit.management.terminal import BaseCommand
from settlement.events import TYPES
from settlement.provisions import WAGER_PROVISIONS
from settlement.rulesets import RULESETS

PAGE = Path("docs/events.md")

Row: TypeAlias = tuple[str, str, str]
"""A field of an event: its name, its kind, its meaning."""

INTRODUCTION = """# Events

Every event that a table system may send, generated from the types (`manage.py eventpage`). [Sending
events](ingestion.md) says how to send them, and which families of events a table reports. A question mark marks an
optional field; a field without a kind is text. Any other field is refused, as is `null` unless it is named.
`/api/v1/schema/` (OpenAPI) has the same. Rulesets and bets stand [at the end](#bets). [The account of a
wager](account.md) and [Corrections](corrections.md) explain the effect.

Within a coup the clock decides whether a stake came before the call; `seq` decides everything else. Keep clocks by NTP.
A clock that goes back is `clock-went-back`. An event that occurred more than 120 s after its receipt is `clock-ahead`
(major). It counts; the finding comes once while the clock stays ahead.

| every event | | |
|---|---|---|
| `stream` | 1 to 100 of `A-Z a-z 0-9 . _ : -` | one session of one table, or the count of a gaming day |
| `seq` | integer from 1 | contiguous within the stream |
| `type` | text | one of those below, or your own: `x.` and parts of `a-z 0-9 -` with dots between |
| `v`? | 1 | version of the contract |
| `occurred_at` | RFC 3339 with an offset | by the table's clock |
| `actor`? | id | the person or device that recorded it |
| `data` | object | the fields below; left out where a type has none |
| `ext`? | object | your own: at most 4,096 bytes in canonical form, hashed, kept, shown, never adjudicated |

An *amount* is an integer in minor units of the session's currency. A *person* (`player`, `person`, `croupier`,
`approved_by`, `counted_by`, `actor`) is an opaque id of 1 to 40 characters out of `A-Z a-z 0-9 . _ : -`, never a name.
A *role* is one of `chef_de_partie`, `chef_de_table`, `croupier`, `stickman`, `employe`, `shooter`, `opening`.
"""

COMMON = 3
"""A field that so many events have, with one meaning, stands once at the head of the page."""

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
    often = [row for row, count in Counter(_rows_of_all(schemas)).items() if count >= COMMON]
    meanings = Counter(row[0] for row in often)
    common = {row for row in often if meanings[row[0]] == 1}
    lines = [INTRODUCTION, *_common_table(common)]
    left = [name for name, kind in TYPES.items() if kind.ruleset is None]
    for section, beginnings in SECTIONS.items():
        lines.append(f"## {section}\n")
        for name in [each for each in left if each.startswith(beginnings)]:
            left.remove(name)
            lines += _event(name, schemas, common)
    lines.append("## Of one ruleset alone\n")
    for name, kind in TYPES.items():
        if kind.ruleset is not None:
            lines += _event(name, schemas, common)
    lines += _bets()
    return "\n".join(lines)


def _rows_of_all(schemas: Mapping[str, Any]) -> Iterator[Row]:
    for name in TYPES:
        yield from (row for row, _is_required in _rows(schemas[name], schemas))


def _rows(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[Row, bool]]:
    for field, of_field in schema["properties"].items():
        default = f"; default `{of_field['default']}`" if "default" in of_field else ""
        row = (field, f"{_kind(of_field, schemas)}{default}", of_field["description"])
        yield row, field in schema["required"]


def _common_table(common: Set[Row]) -> Iterator[str]:
    yield "Several events have these fields:\n"
    for field, kind, description in sorted(common):
        yield f"* `{field}`{_meaning(kind, description)}"
    yield ""


_REPEATED = (("integer from 0", "amount"), ("person", "a person"), ("role", "a role"), ("list of: person", "persons"))
"""A kind, and how a description ends that says it again: the page says it once."""


def _meaning(kind: str, description: str) -> str:
    for of_kind, repeated in _REPEATED:
        if kind.startswith(of_kind) and description.endswith(repeated):
            kind = kind.replace("integer from 0", "amount")
            description = description.removesuffix(repeated).removesuffix(": ")
    if kind == "text":
        return f": {description}"
    return f" ({kind}): {description}" if description and kind != description else f" ({kind})"


def _bets() -> Iterator[str]:
    yield "## Bets\n"
    yield "`bet` is one of these words, by `ruleset`. Further fields say what a bet lies on: `number` at craps and"
    yield "at la boule, `numbers` or `which` at roulette, `base` for odds.\n"
    yield "| `ruleset` | `game` | bets |\n|---|---|---|"
    for name, ruleset in RULESETS.items():
        bets = ", ".join(f"`{bet}`" for bet in WAGER_PROVISIONS[name])
        yield f"| `{name}` | `{ruleset.game}` | {bets} |"
    yield ""


def _event(name: str, schemas: Mapping[str, Any], common: Set[Row]) -> Iterator[str]:
    schema = schemas[name]
    type = TYPES[name]
    family = next((each for each, types in FAMILIES.items() if name in types), None)
    if type.ruleset is not None and (type.is_result or type.voids_result):
        family = "results"
    where = f" Under `{type.ruleset}` alone." if type.ruleset else ""
    yield f"### `{name}`\n"
    yield schema["description"] + where + (f" Family `{family}`." if family else "") + "\n"
    rows = [(row, f"`{row[0]}`" if is_required else f"`{row[0]}`?") for row, is_required in _rows(schema, schemas)]
    if shared := [mark for row, mark in rows if row in common]:
        yield f"* {', '.join(shared)}" + ("" if len(shared) < len(rows) else "\n")
    if own := [(mark, _meaning(*row[1:])) for row, mark in rows if row not in common]:
        yield from (f"* {mark}{meaning}" for mark, meaning in own)
        yield ""
    if not rows:
        yield "No fields.\n"


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
