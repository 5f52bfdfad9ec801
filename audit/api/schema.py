"""What the OpenAPI document has beside its operations: events, answers, problems and rate-limit headers."""

from __future__ import annotations

import re
from typing import Any

from audit.api.answer_schemas import STREAM, answer_schemas, ref
from audit.api.event_schemas import PERSON, event_schemas
from audit.api.webhook_schemas import webhook_schemas, webhooks
from settlement.codec import MAX_EXT_BYTES
from settlement.events import TYPES
from settlement.events.envelope import MAX_INTEGER
from settlement.events.extension import EXTENSION_TYPE, MAX_TYPE

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `code` never changes; `detail` is for people; `errors` says where the fault is.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "next_seq": {"type": "integer"},
        "seq": {"type": ["integer", "null"]},
        "index": {"type": "integer"},
        "first_day": {"type": ["string", "null"], "format": "date"},
        "last_day": {"type": "string", "format": "date"},
        "limit": {"type": "integer"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "RFC 6901, into the body."},
                    "parameter": {"type": "string"},
                    "detail": {"type": "string"},
                    "index": {"type": "integer"},
                },
            },
        },
    },
}

ENVELOPE: dict[str, Any] = {
    "stream": STREAM,
    "seq": {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER},
    "v": {"type": "integer", "const": 1, "default": 1},
    "occurred_at": {"type": "string", "format": "date-time", "description": "RFC 3339, with an offset."},
    "actor": {
        **PERSON,
        "description": "Who or what recorded it: a member of the staff by an opaque id, or a device.",
    },
    "ext": ref("Extension"),
}
"""The fields of every event but its type and its data."""

EXTENSION: dict[str, Any] = {
    "type": "object",
    "description": f"The integrator's own, with any event: at most {MAX_EXT_BYTES} bytes in canonical form. "
    "It is hashed, kept and shown, and never adjudicated.",
}

OWN_TYPE: dict[str, Any] = {
    "type": "string",
    "maxLength": MAX_TYPE,
    "pattern": EXTENSION_TYPE.pattern.join(("^", "$")),
    "description": "A type of an integrator's own, which is kept and shown, not adjudicated.",
}


def envelope_schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of a whole event of each type, ``ContractEvent`` of any of them, ``Event`` of what is accepted.

    ``ContractEvent`` is a union that its ``type`` discriminates. An integrator's own types cannot be listed, so theirs
    is an alternative to it.
    """
    data = event_schemas()
    events = {
        event_name(type): _envelope(
            f"A whole event: {data[type]['description']}",
            {"type": {"type": "string", "const": type}, "data": ref(type)},
            needs_data=bool(data[type].get("required")),
        )
        for type in TYPES
    }
    own = {"type": OWN_TYPE, "data": {"type": "object", "description": "Any fields."}}
    return {
        **data,
        **events,
        "Extension": EXTENSION,
        "ExtensionEvent": _envelope("An event of an integrator's own type.", own, needs_data=False),
        "ContractEvent": {
            "description": "An event of the contract.",
            "oneOf": [ref(name) for name in events],
            "discriminator": {
                "propertyName": "type",
                "mapping": {type: ref(event_name(type))["$ref"] for type in TYPES},
            },
        },
        "Event": {
            "description": "An event (RFC 8785 is its canonical form). There are no floats anywhere.",
            "anyOf": [ref("ContractEvent"), ref("ExtensionEvent")],
        },
        "EventBatch": {
            "type": "object",
            "required": ["events"],
            "properties": {"events": {"type": "array", "items": ref("Event")}},
        },
    }


def event_name(type: str) -> str:
    """Return the name of the schema of a whole event: ``WagerPlacedEvent`` for ``wager.placed``."""
    return "".join(word.capitalize() for word in re.split(r"[._]", type)) + "Event"


def _envelope(description: str, fields: dict[str, Any], *, needs_data: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "required": ["stream", "seq", "type", "occurred_at", *(["data"] if needs_data else [])],
        "additionalProperties": False,
        "properties": {**ENVELOPE, **fields},
    }


EVENTS: dict[str, Any] = {"oneOf": [{"type": "array", "items": ref("Event")}, ref("EventBatch")]}
"""The body of a request that records events."""

IN_PATHS: dict[str, dict[str, Any]] = {"stream": STREAM, "id": {"minimum": 1, "maximum": 2**63 - 1}}
"""Bounds of the parts of an address that its pattern does not say."""

RATE = {
    name: {"description": description, "schema": {"type": "integer"}}
    for name, description in (
        ("RateLimit-Limit", "Requests of this key a minute."),
        ("RateLimit-Remaining", "What is left of them."),
        ("RateLimit-Reset", "Seconds until the next minute."),
    )
}


def add_problems(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add problems, rate-limit headers, events, answers and webhooks to the document (a drf-spectacular hook)."""
    schemas = result["components"]["schemas"]
    schemas.update({**envelope_schemas(), **answer_schemas(schemas["Finding"]), "Problem": PROBLEM})
    schemas.update(webhook_schemas(schemas["PublishedFinding"]))
    result["webhooks"] = webhooks()
    problem: dict[str, Any] = {
        "description": "A problem: 400, 401, 403, 404, 405, 406, 408, 409, 411, 413, 415, 422, 429, 500 or 503.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["schema"] = {**parameter["schema"], **IN_PATHS.get(parameter["name"], {})}
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
            for response in operation["responses"].values():
                response.setdefault("headers", {}).update(RATE)
            for status, response in operation["responses"].items():
                if "application/problem+json" in response.get("content", {}):
                    operation["responses"][status] = {**response, "content": response["content"] | problem["content"]}
            operation["responses"]["default"] = problem
    return result
