"""What the OpenAPI document has for every operation: problem responses and rate-limit headers."""

from __future__ import annotations

from typing import Any

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
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    problem = {
        "description": "A problem: 400, 401, 403, 404, 405, 406, 408, 409, 411, 413, 415, 422, 429, 500 or 503.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                response.setdefault("headers", {}).update(RATE)
            for status, response in operation["responses"].items():
                if "application/problem+json" in response.get("content", {}):
                    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                    operation["responses"][status] = {**response, "content": content}
            operation["responses"]["default"] = problem
    return result
