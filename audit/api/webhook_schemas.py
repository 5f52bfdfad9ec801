"""The OpenAPI section ``webhooks``: what is sent to the addresses that administrators have entered."""

from __future__ import annotations

from typing import Any

from audit.api.answer_schemas import FINDING_CHANGES, SANDBOX, ref
from audit.models import AlertEnd, AlertKind
from audit.notifications.webhook_delivery import IDENTITY

_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
_TEXT: dict[str, Any] = {"type": "string"}

_HEADERS = [
    {"name": name, "in": "header", "required": True, "schema": _TEXT, "description": description}
    for name, description in (
        ("webhook-id", "The same each time that a message is sent."),
        ("webhook-timestamp", "When it was sent: seconds since 1970."),
        ("webhook-signature", "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, for each valid secret."),
    )
]


def webhook_schemas(finding: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schema of each message, by name; ``finding`` is that of a finding that is sent whole."""
    identity = {name: finding["properties"][name] for name in IDENTITY}
    change = _object(
        "A change of a finding, as the feed has it.",
        {
            "cursor": {**_TEXT, "description": "Its position in the feed."},
            "casino": _TEXT,
            "sandbox": SANDBOX,
            "finding": {"anyOf": [ref("PublishedFinding"), ref("ShortenedFinding")]},
        },
        but=("sandbox",),
    )
    alert = _object(
        "A table that should report and does not.",
        {
            "id": {"type": "integer"},
            "kind": {"type": "string", "enum": AlertKind.values},
            "table": _TEXT,
            "since": {**_TIME, "description": "The last event of a silent table, or the oldest that is late."},
            "opened_at": _TIME,
            "ended_at": {"type": ["string", "null"], "format": "date-time"},
            "ended_by": {"type": ["string", "null"], "enum": [*AlertEnd.values, None]},
        },
    )
    return {
        "ShortenedFinding": _object(
            "Which finding it is, of a message that would be longer than 256 KiB: read the rest by its id.",
            {**identity, "is_shortened": {"type": "boolean", "const": True}},
            but=("wager",),
        ),
        "FindingMessage": _message(FINDING_CHANGES, change),
        "AlertMessage": _message(
            ["alert.opened", "alert.ended"], _object("Of which casino.", {"casino": _TEXT, "alert": alert})
        ),
        "TestMessage": _message(
            ["webhook.test"], _object("Of which casino.", {"casino": _TEXT, "sandbox": SANDBOX}, but=("sandbox",))
        ),
    }


def webhooks() -> dict[str, Any]:
    """Return the section ``webhooks``."""
    return {
        "finding": _sent("FindingMessage", "A change of a finding, of a severity that the webhook wants."),
        "alert": _sent("AlertMessage", "A table is silent or behind, or is so no more: if the webhook wants alerts."),
        "test": _sent("TestMessage", "An administrator wants to see whether the receiver answers."),
    }


def _object(description: str, properties: dict[str, Any], *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in but]
    return {"type": "object", "description": description, "required": required, "properties": properties}


def _message(types: list[str], data: dict[str, Any]) -> dict[str, Any]:
    return _object("A message.", {"type": {"type": "string", "enum": types}, "timestamp": _TIME, "data": data})


def _sent(schema: str, summary: str) -> dict[str, Any]:
    """Return a webhook. Its body names its schema in words: where a webhook refers to a component, what
    openapi-generator writes in TypeScript does not compile. The component itself is in every generated client."""
    body = {"type": "object", "additionalProperties": True, "description": f"A `{schema}` of the components."}
    return {
        "post": {
            "operationId": f"receive{schema}",
            "tags": ["webhooks"],
            "summary": summary,
            "parameters": _HEADERS,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": {
                "2XX": {"description": "Taken. It has to come within ten seconds."},
                "410": {"description": "Nobody is here any more: the webhook is deactivated (by a finding alone)."},
                "default": {"description": "Not taken: it is sent again."},
            },
        }
    }
