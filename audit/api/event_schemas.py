"""The events of the contract as JSON Schema, one for each type: for OpenAPI and for ``docs/events.md``."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import msgspec

from settlement.events import DATA_OF, TYPES
from settlement.events.meanings import happened, meaning
from settlement.persons.opaque_ids import OPAQUE_ID

REF = "#/components/schemas/{name}"

PERSON = {"type": "string", "pattern": OPAQUE_ID.pattern.join(("^", "$")), "description": "An opaque id, never a name."}

PERSONS = frozenset({"player", "person", "croupier", "approved_by"})
"""The fields that name a person by an opaque id; ``counted_by`` names several."""


def event_schemas() -> dict[str, dict[str, Any]]:
    """Return a schema of the data of each type, by the type's name, and of what these refer to, by its own."""
    _roots, components = msgspec.json.schema_components(DATA_OF.values(), ref_template=REF)
    by_type = {name: _described(name, components[DATA_OF[event].__name__]) for name, event in TYPES.items()}
    referred = {name: each for name, each in components.items() if f'{REF.format(name=name)}"' in _text(components)}
    shared = {name: _portable({**each, "title": name}) for name, each in referred.items()}
    return {"Person": PERSON, **shared, **by_type}


def _described(type: str, schema: dict[str, Any]) -> dict[str, Any]:
    data = _portable(schema)
    fields = {name: {**each, "description": meaning(type, name)} for name, each in data["properties"].items()}
    return {**data, "title": type, "description": happened(type), "properties": fields}


def _with_persons(fields: dict[str, Any]) -> dict[str, Any]:
    person: dict[str, Any] = {"$ref": REF.format(name="Person")}
    named = {name: person if name in PERSONS else each for name, each in fields.items()}
    return named | ({"counted_by": {"type": "array", "items": person}} if "counted_by" in fields else {})


def _portable(schema: dict[str, Any]) -> Any:
    """Return a copy in which persons are ids, without what only Python's patterns know."""
    copy = deepcopy(schema)
    return _rewritten({**copy, "properties": _with_persons(copy["properties"])})


def _rewritten(part: Any) -> Any:
    if isinstance(part, dict):
        rewritten = {name: _rewritten(value) for name, value in part.items()}
        if isinstance(pattern := rewritten.get("pattern"), str):
            rewritten["pattern"] = pattern.replace(r"\Z", "$")
        return _as_one_enum(_of_one_kind(rewritten))
    return [_rewritten(each) for each in part] if isinstance(part, list) else part


def _of_one_kind(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with ``items`` in place of a tuple's equal ``prefixItems``, which fewer generators read."""
    kinds = schema.get("prefixItems") or []
    if not kinds or any(each != kinds[0] for each in kinds) or schema["minItems"] != len(kinds):
        return schema
    return {name: each for name, each in schema.items() if name != "prefixItems"} | {"items": kinds[0]}


def _as_one_enum(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with one enumeration in place of alternative ones, and with the type of its words."""
    alternatives = schema.get("anyOf") or [{}]
    if all(each.keys() == {"type", "enum"} for each in alternatives):
        words = [word for each in alternatives for word in each["enum"]]
        return {name: each for name, each in schema.items() if name != "anyOf"} | {"type": "string", "enum": words}
    return {"type": "string", **schema} if "enum" in schema else schema


def _text(components: dict[str, Any]) -> str:
    return msgspec.json.encode(components).decode()
