"""What the OpenAPI document has for every operation: problem responses and rate-limit headers."""

from __future__ import annotations

from typing import Any

from audit.api.event_schemas import PERSON, event_schemas
from settlement.codec import MAX_EXT_BYTES, STREAM_NAME
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

EVENT: dict[str, Any] = {
    "type": "object",
    "description": "The envelope of an event (RFC 8785 is its canonical form). There are no floats anywhere.",
    "required": ["stream", "seq", "type", "occurred_at"],
    "additionalProperties": False,
    "properties": {
        "stream": {"type": "string", "pattern": STREAM_NAME.pattern.join(("^", "$"))},
        "seq": {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER},
        "type": {
            "description": "A type of the contract, or an integrator's own, which is kept and shown, not adjudicated.",
            "anyOf": [
                {"type": "string", "enum": sorted(TYPES)},
                {"type": "string", "maxLength": MAX_TYPE, "pattern": EXTENSION_TYPE.pattern.join(("^", "$"))},
            ],
        },
        "v": {"type": "integer", "const": 1, "default": 1},
        "occurred_at": {"type": "string", "format": "date-time", "description": "RFC 3339, with an offset."},
        "actor": {
            **PERSON,
            "description": "Who or what recorded it: a member of the staff by an opaque id, or a device.",
        },
        "data": {
            "type": "object",
            "default": {},
            "description": "The fields of the type, as the schema of that name has them; any, of an integrator's own.",
        },
        "ext": {
            "type": "object",
            "description": f"The integrator's own, with any event: at most {MAX_EXT_BYTES} bytes in canonical form. "
            "It is hashed, kept and shown, and never adjudicated.",
        },
    },
}
"""One event, as it is sent."""

EVENTS: dict[str, Any] = {
    "oneOf": [
        {"type": "array", "items": {"$ref": "#/components/schemas/Event"}},
        {
            "type": "object",
            "required": ["events"],
            "properties": {"events": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}},
        },
    ]
}
"""The body of a request that records events."""

RATE = {
    name: {"description": description, "schema": {"type": "integer"}}
    for name, description in (
        ("RateLimit-Limit", "Requests of this key a minute."),
        ("RateLimit-Remaining", "What is left of them."),
        ("RateLimit-Reset", "Seconds until the next minute."),
    )
}


def add_problems(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the default problem response and the rate-limit headers to each operation (a drf-spectacular hook)."""
    result.setdefault("components", {}).setdefault("schemas", {}).update(
        {**event_schemas(), "Event": EVENT, "Problem": PROBLEM}
    )
    problem: dict[str, Any] = {
        "description": "A problem: 400, 401, 403, 404, 405, 406, 408, 409, 411, 413, 415, 422, 429, 500 or 503.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                response.setdefault("headers", {}).update(RATE)
            for status, response in operation["responses"].items():
                if "application/problem+json" in response.get("content", {}):
                    operation["responses"][status] = {**response, "content": response["content"] | problem["content"]}
            operation["responses"]["default"] = problem
    return result
