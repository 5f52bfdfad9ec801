"""The answers of the API as JSON Schema: receipts, dry runs, adjudications, proofs. ``Finding`` is a serializer's.

An answer may get fields more in a later release, never fewer: its schema is open, that of an event is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.models import ChangeKind, FindingStatus, KeyScope
from audit.models.adjudication import Severity
from audit.models.cases import Outcome, State
from settlement.adjudication import WagerOutcome
from settlement.codec import STREAM_NAME
from settlement.events.envelope import MAX_INTEGER

Schema = dict[str, Any]

OF_THE_RECORD = frozenset(
    "id reference stream table gaming_day occurred_at ruleset engine_version status priority superseded_at "
    "superseded_by correction cleared".split()
)
"""What ``Finding`` has beyond the finding of an adjudication (section 6 of the event contract)."""

SEQ: Schema = {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}
TEXT: Schema = {"type": "string"}
NULLABLE: Schema = {"type": ["string", "null"]}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256, hexadecimal."}
MORE: Schema = {"type": "boolean", "description": "Whether there are more after these: ask for the next page."}
INSTANT: Schema = {"type": "string", "format": "date-time"}
STREAM: Schema = {"type": "string", "pattern": STREAM_NAME.pattern.join(("^", "$"))}
CURRENCY: Schema = {"type": "string", "pattern": "^[A-Z]{3}$"}
SANDBOX: Schema = {"type": "boolean", "description": "True: the casino is a sandbox. Not there for any other."}
CURSOR = "[0-9]+-[0-9]+"
FINDING_CHANGES = [f"finding.{kind}" for kind in ChangeKind.values]
HASHES: Schema = {"type": "array", "items": HASH}


def ref(name: str) -> Schema:
    """Return the reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(description: str, fields: Mapping[str, Schema], *, optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "description": description,
        "required": list(fields),
        "properties": {**fields, **(optional or {})},
    }


def _list(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


BATCH: Mapping[str, Schema] = {
    "stream": TEXT,
    "first_seq": {**SEQ, "description": "The first event of the batch."},
    "last_seq": {**SEQ, "description": "The last event of the batch."},
    "next_seq": {**SEQ, "description": "The number of the event to send next."},
    "root": {**HASH, "description": "RFC 6962 root over the batch's events, hexadecimal."},
    "chain": {**HASH, "description": "The stream's chain value after the batch, hexadecimal."},
    "received_at": INSTANT,
}
OF_A_SIGNED_BATCH: Mapping[str, Schema] = {
    "batch_signature": {**TEXT, "description": "base64: the signature that the batch was sent with."}
}
DRY_RUN: Mapping[str, Schema] = {
    "dry_run": {"type": "boolean", "const": True},
    "findings": {**_list("AdjudicatedFinding"), "description": "What it would open."},
}

ANSWERS: Mapping[str, Schema] = {
    "Receipt": _object(
        "The signed proof that a batch was accepted. The same request again has the same receipt.",
        {**BATCH, "signature": {**TEXT, "description": "base64: the key's id, 4 bytes, and the Ed25519 signature."}},
        optional=OF_A_SIGNED_BATCH,
    ),
    "DryRunResult": _object(
        "What a request would do. Nothing was stored, and nothing is signed.",
        {**BATCH, **DRY_RUN},
        optional=OF_A_SIGNED_BATCH,
    ),
    "StreamResult": _object(
        "What became of the events of one stream: a receipt, or a problem.",
        {"stream": TEXT, "status": {"type": "integer"}},
        optional={"receipt": {"oneOf": [ref("Receipt"), ref("DryRunResult")]}, "problem": ref("Problem")},
    ),
    "StreamResults": _object("One result a stream, in the order they first come.", {"results": _list("StreamResult")}),
    "StoredEvent": _object(
        "An event as it is stored. `data` is as its type had it when it was sent; see Event for what is accepted now.",
        {"stream": TEXT, "seq": SEQ, "type": TEXT, "occurred_at": INSTANT},
        optional={"v": {"type": "integer"}, "actor": TEXT, "data": {"type": "object"}, "ext": {"type": "object"}},
    ),
    "StoredEvents": _object("Events in order.", {"events": _list("StoredEvent")}),
    "Standing": _object(
        "Where a stream stands.",
        {
            "stream": TEXT,
            "casino": TEXT,
            "sandbox": {"type": "boolean", "description": "Whether the casino is for trying a table system."},
            "table": {**NULLABLE, "description": "null in the count room."},
            "next_seq": {**SEQ, "description": "The number of the event to send next."},
            "chain": {**HASH, "description": "The stream's chain value, hexadecimal."},
            "gaming_day": {"type": "string", "format": "date"},
            "game": NULLABLE,
            "ruleset": NULLABLE,
            "equipment": {"type": "object", "additionalProperties": TEXT, "description": "By `wheel`, `dice_set`."},
            "adjudicated_through": {**COUNT, "description": "The last event that is adjudicated; 0 before the first."},
            "closed": {"type": "boolean"},
            "verdict": {"type": "string", "enum": ["regular", "irregular", "pending"]},
            "findings": {
                "type": "object",
                "propertyNames": {"enum": list(Severity.values)},
                "additionalProperties": COUNT,
                "description": "How many stand, by severity.",
            },
        },
    ),
    "Adjudication": _object(
        "What was due on every wager, and what was irregular (section 6 of the event contract).",
        {
            "stream": TEXT,
            "ruleset": NULLABLE,
            "events": COUNT,
            "wagers": {"type": "object", "additionalProperties": ref("WagerOutcome"), "description": "By their id."},
            "findings": _list("AdjudicatedFinding"),
            "corrections": {"type": "array", "items": {"type": "object"}},
            "unchecked": {"type": "array", "items": TEXT, "description": "Families of events that rules miss."},
            "state": {"type": "object", "description": "What the session goes on with, as its ruleset has it."},
        },
    ),
    "Inclusion": _object(
        "RFC 6962 audit paths: of an event in its batch, of the batch in the tree of a checkpoint.",
        {
            "stream": TEXT,
            "seq": SEQ,
            "event": {**TEXT, "description": "The stored bytes."},
            "batch": _object("The event in its batch.", {"entry": TEXT, "index": COUNT, "size": COUNT, "path": HASHES}),
            "log": _object("The batch in the log.", {"index": COUNT, "size": COUNT, "path": HASHES}),
            "checkpoint": {**TEXT, "description": "The signed note."},
        },
    ),
    "Consistency": _object(
        "The proof (RFC 6962) that a later tree extends an earlier one.", {"from": SEQ, "to": SEQ, "path": HASHES}
    ),
    "PublicKey": _object(
        "A public key of the log.",
        {
            "name": TEXT,
            "id": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
            "purpose": TEXT,
            "public_key": {**TEXT, "description": "base64 of 32 bytes (Ed25519)."},
            "vkey": {**TEXT, "description": "As C2SP signed notes have it."},
            "valid_from": INSTANT,
            "valid_until": {"type": ["string", "null"], "format": "date-time"},
        },
    ),
    "OwnKey": _object(
        "What the key of the request is.",
        {
            "prefix": {**TEXT, "description": "The twelve digits after `cab_`."},
            "name": TEXT,
            "casino": TEXT,
            "time_zone": TEXT,
            "sandbox": {"type": "boolean"},
            "tables": {"type": "array", "items": TEXT},
            "every_table": {"type": "boolean", "description": "Whether tables that are registered later count too."},
            "scopes": {"type": "array", "items": {"type": "string", "enum": KeyScope.values}},
            "signs": {"type": "boolean", "description": "Whether each batch has to be signed."},
            "expires_at": {"type": ["string", "null"], "format": "date-time"},
        },
    ),
    "StreamList": _object(
        "Streams, those opened last first.",
        {"streams": _list("OpenedStream"), "more": {"type": "boolean", "description": "Whether there are older ones."}},
    ),
    "OpenedStream": _object(
        "A stream.",
        {
            "stream": TEXT,
            "table": {**NULLABLE, "description": "null in the count room."},
            "gaming_day": {"type": "string", "format": "date"},
            "opened_at": INSTANT,
        },
    ),
    "BatchList": _object(
        "The accepted requests of a stream, in order.", {"batches": _list("AcceptedBatch"), "more": MORE}
    ),
    "AcceptedBatch": _object(
        "An accepted request.",
        {
            "first_seq": SEQ,
            "last_seq": SEQ,
            "next_seq": SEQ,
            "count": SEQ,
            "received_at": INSTANT,
            "key": {**TEXT, "description": "The prefix of the key."},
        },
    ),
    "FeedPage": _object(
        "Changes in the order in which they became known.",
        {"changes": _list("FindingChange"), "next": {**TEXT, "description": "The cursor to go on with."}, "more": MORE},
    ),
    "FindingChange": _object(
        "A change of a finding.",
        {
            "cursor": {**TEXT, "pattern": f"^{CURSOR}$", "description": "Its position in the feed."},
            "type": {"type": "string", "enum": FINDING_CHANGES},
            "at": INSTANT,
            "casino": TEXT,
            "finding": ref("PublishedFinding"),
        },
        optional={"sandbox": SANDBOX},
    ),
    "PublicKeys": _object("The oldest first.", {"origin": TEXT, "keys": _list("PublicKey")}),
}
"""The answers, by the names of their schemas."""


def answer_schemas(finding: Schema) -> dict[str, Schema]:
    """Return the schema of each answer, by name; ``finding`` is that of a finding in the record."""
    fields = {name: each for name, each in finding["properties"].items() if name not in OF_THE_RECORD}
    adjudicated = {
        "type": "object",
        "description": "A finding as section 6 of the event contract has it.",
        "properties": fields,
        "required": [name for name in finding["required"] if name in fields],
    }
    outcome = msgspec.json.schema_components((WagerOutcome,))[1]["WagerOutcome"]
    return {
        **ANSWERS,
        "AdjudicatedFinding": adjudicated,
        "PublishedFinding": _published(adjudicated),
        "WagerOutcome": outcome,
    }


def _published(adjudicated: Schema) -> Schema:
    """Return the schema of a finding as the feed and webhooks have it: with its table, times, status and case."""
    case = _object(
        "What became of its case. What officers wrote stays at the desk.",
        {
            "id": {"type": "integer"},
            "state": {"type": "string", "enum": State.values},
            "outcome": {"type": ["string", "null"], "enum": [*Outcome.values, None]},
        },
    )
    own: dict[str, Schema] = {
        "id": {"type": "integer"},
        "reference": {**TEXT, "description": "What officers call it, “DEA-26-0143”: unique over the installation."},
        "stream": TEXT,
        "table": NULLABLE,
        "gaming_day": {"type": "string", "format": "date"},
        "occurred_at": INSTANT,
        "ruleset": NULLABLE,
        "engine_version": TEXT,
        "status": {"type": "string", "enum": FindingStatus.values},
        "priority": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 4,
            "description": "Of its incident in the queue; null without a case.",
        },
        "cleared": {
            **COUNT,
            "description": "What officers had paid, waived or keep for persons not found, in minor units.",
        },
        "case": {**case, "type": ["object", "null"]},
    }
    return {
        **adjudicated,
        "description": "A finding as it is when it is read or sent.",
        "properties": {**own, **adjudicated["properties"]},
        "required": [*own, *adjudicated["required"]],
    }
