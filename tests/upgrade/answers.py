"""Questions to this tree's code about the record in ``DATABASE_URL``; the answers are JSON.

    python -m tests.upgrade.answers record                  everything that an upgrade must not change; reads only
    python -m tests.upgrade.answers log                     the part of it that is the log
    python -m tests.upgrade.answers verify deploy tasks     does the log verify, is it guarded, are its tasks known?
    python -m tests.upgrade.answers check=FILE              the lines that the evidence verifier prints for a bundle
    python -m tests.upgrade.answers evidence=FILE           makes the bundle of a finding again, and verifies it
    python -m tests.upgrade.answers replay                  replays every stream from its first event, as a what-if
    python -m tests.upgrade.answers promote                 promotes a what-if of every stream, and replays what waits
    python -m tests.upgrade.answers command=LINE            runs a command of manage.py, and names its answer so
    python -m tests.upgrade.answers append=SECRET           sends an event to the open stream, replays it and seals it

``make_1_0.py`` asked 1.0; ``test_upgrade.py`` asks the head, by the same names. **After
renaming a model, a field or a module, edit the first part of this file and nothing else of the fixture**: the names on
the left of the tables are those of the answers and stay; the right says where today's code has them. The schema ``log``
is read by SQL, because its names do not change.
"""

# ruff: noqa: E402 - Django is set up before its models are imported

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from hashlib import sha256
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings
from django.core import checks as system_checks
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

# The names of today's code --------------------------------------------------------------------------------------------
from audit import models
from audit.adjudication.replay import advance
from audit.adjudication.what_if import Selection, begin, difference, end, replay_one, streams_of
from audit.event_store import read
from audit.event_store.archived import StreamArchived, month_of
from audit.evidence.gather import evidence_of
from audit.evidence.verify import checks, files_in
from audit.ingest.receipts import receipt
from audit.reconciliation import schedule
from audit.transparency import proofs, signing_keys, tree
from casino.celery import app
from settlement import ENGINE_VERSION

FOUND = {
    "casino": "casino__code",
    "table": "table__code",
    "stream": "stream__name",
    "gaming_day": "gaming_day",
    "occurred_at": "occurred_at",
    "seq": "seq",
    "rule": "rule",
    "wager": "wager",
    "ruleset": "ruleset",
    "severity": "severity",
    "expected": "expected",
    "recorded": "recorded",
    "provision": "provision",
    "evidence": "evidence",
    "facts": "facts",
    "currency": "currency",
    "after_loss": "after_loss",
    "readings_digest": "readings_digest",
}
CASE = {"stream_id": "stream_id", "seq": "seq", "rule": "rule", "wager": "wager"}
OF_CASE = {name: f"case__{field}" for name, field in CASE.items()}
NIGHT = {"casino": "casino__code", "gaming_day": "gaming_day", "currency": "currency", "version": "version"}
OF_NIGHT = {name: f"report__{field}" for name, field in NIGHT.items()}

TABLES: Mapping[str, tuple[type[Any], Mapping[str, str]]] = {
    "casinos": (models.Casino, {"code": "code", "name": "name", "time_zone": "time_zone", "cutoff": "cutoff"}),
    "tables": (models.GamingTable, {"casino": "casino__code", "code": "code"}),
    "findings": (
        models.Finding,
        FOUND
        | {"id": "pk", "run": "run__number", "opened_at": "opened_at", "superseded_at": "superseded_at"}
        | {"engine_version": "engine_version", "case": "case__pk"},
    ),
    "cases": (
        models.Case,
        CASE
        | {
            "id": "pk",
            "casino": "casino__code",
            "weight": "weight",
            "state": "state",
            "opened_at": "opened_at",
            "deadline": "deadline",
            "assignee": "assigned_to__username",
            "outcome": "outcome",
            "reason": "reason",
            "proposed_by": "proposed_by__username",
            "approved_by": "approved_by__username",
            "closed_at": "closed_at",
        },
    ),
    "case_acts": (
        models.CaseAction,
        OF_CASE
        | {"at": "at", "officer": "officer__username", "type": "type", "reason": "reason", "about": "about"}
        | {"id": "pk"},
    ),
    "deadlines": (models.Deadline, {"severity": "severity", "hours": "hours"}),
    "saved_views": (
        models.SavedView,
        {"officer": "officer__username", "name": "name", "query": "query", "is_shared": "is_shared"},
    ),
    "nights": (
        models.NightReport,
        NIGHT
        | {
            "state": "state",
            "tree_size": "tree_size",
            "tree_root": "tree_root",
            "engine_version": "engine_version",
            "content": "content",
            "digest": "digest",
            "through": "through",
            "restatement": "sheet",
            "made_at": "made_at",
            "made_by": "made_by",
            "first_signature": "reviewed_by__username",
            "first_signed_at": "reviewed_at",
            "second_signature": "closed_by__username",
            "second_signed_at": "closed_at",
        },
    ),
    "night_exceptions": (
        models.SignoffException,
        OF_NIGHT | {"code": "code", "words": "reason", "officer": "officer__username", "made_at": "made_at"},
    ),
    "night_runs": (
        models.NightRun,
        {"casino": "casino__code", "gaming_day": "gaming_day", "started_by": "started_by", "ended_at": "ended_at"}
        | {"through": "through"},
    ),
    "night_subscribers": (
        models.NightSubscriber,
        {"casino": "casino__code", "officer": "officer__username", "language": "language"},
    ),
    "night_deliveries": (
        models.NightDelivery,
        OF_NIGHT | {"officer": "subscriber__officer__username", "sent_at": "sent_at"},
    ),
    "session_figures": (
        models.SessionFigures,
        {"stream": "stream__name", "last_seq": "last_seq", "engine_version": "engine_version", "figures": "figures"}
        | {"faults": "faults"},
    ),
    "cursors": (
        models.Adjudication,
        {"stream": "stream__name", "engine_version": "engine_version", "what_if": "what_if__name", "run": "run__number"}
        | {"cursor": "cursor", "next_seq": "next_seq", "events": "events", "closed": "closed"},
    ),
    "what_ifs": (
        models.WhatIf,
        {"name": "name", "readings": "readings", "selection": "selection", "engine_version": "engine_version"}
        | {"started_at": "started_at", "started_by": "started_by", "ended_at": "ended_at", "streams": "streams"},
    ),
    "what_if_findings": (models.WhatIfFinding, FOUND | {"what_if": "what_if__name"}),
    "jobs": (
        models.Job,
        {
            "kind": "kind",
            "casino": "casino__code",
            "officer": "officer__username",
            "state": "state",
            "done": "done",
            "total": "total",
            "params": "params",
            "enqueued_at": "requested_at",
            "ended_at": "ended_at",
            "stopped_by": "stopped_by__username",
            "result": "result",
            "error": "error",
            "file": "file",
            "file_name": "file_name",
        },
    ),
    "officers": (
        models.Officer,
        {"name": "username", "password": "password", "is_superuser": "is_superuser", "is_staff": "is_staff"},
    ),
    "memberships": (
        models.Membership,
        {"officer": "officer__username", "casino": "casino__code", "role": "role"},
    ),
    "api_keys": (
        models.ApiKey,
        {"id": "pk", "casino": "casino__code", "name": "name", "prefix": "prefix", "digest": "digest"}
        | {"scopes": "scopes", "table": "tables__code", "expires_at": "expires_at", "revoked_at": "revoked_at"},
    ),
    "quarantined": (
        models.Quarantined,
        {
            "casino": "casino__code",
            "key": "key__prefix",
            "stream": "stream",
            "seq": "seq",
            "code": "code",
            "detail": "detail",
            "body": "body",
            "digest": "digest",
            "size": "size",
            "received_at": "received_at",
            "purged_at": "purged_at",
        },
    ),
    "settings_of_casinos": (
        models.Casino,
        {"code": "code", "priority_threshold": "priority_threshold", "false_questions": "false_questions"}
        | {"is_sandbox": "is_sandbox", "silent_after_min": "silent_after_min", "reports_from": "reports_from"},
    ),
    "references": (
        models.Finding,
        {"id": "pk", "year": "year", "number": "number", "heads_case": "heads_case", "status": "status"}
        | {"difference": "difference", "owed": "owed", "player": "player", "put_right_by": "put_right_by"},
    ),
    "register": (
        models.RegisterEntry,
        {"casino": "casino__code", "reading": "reading", "value": "value", "state": "state", "version": "version"}
        | {"proposed_by": "proposed_by__username", "decided_by": "decided_by__username", "reason": "reason"},
    ),
    "corrections": (
        models.CorrectionDecision,
        {"stream": "stream__name", "seq": "seq", "officer": "officer__username", "verdict": "verdict"},
    ),
    "complaints": (
        models.Complaint,
        {"casino": "casino__code", "stream": "stream__name", "seq": "seq", "words": "words", "came": "came"},
    ),
    "webhooks": (
        models.Webhook,
        {"casino": "casino__code", "name": "name", "url": "url", "severities": "severities", "position": "position"}
        | {"is_active": "is_active"},
    ),
    "webhook_secrets": (models.WebhookSecret, {"webhook": "webhook__name", "secret": "secret"}),
    "feed": (
        models.FindingChange,
        {"casino": "casino__code", "finding": "finding__pk", "kind": "kind", "at": "at", "position": "position"},
    ),
    "signing_keys": (models.ApiKey, {"id": "pk", "prefix": "prefix", "public_key": "public_key"}),
    "persons": (models.Person, {"casino": "casino__code", "code": "code", "name": "name"}),
    "erased": (models.ErasedPerson, {"casino": "casino__code", "code": "code", "reason": "reason"}),
    "groups": (models.GroupRole, {"casino": "casino__code", "role": "role", "group": "group"}),
    "archived": (
        models.ArchivedMonth,
        {"month": "month", "file": "file", "digest": "digest", "events": "events", "state": "state"},
    ),
    "ledger": (
        models.LedgerProcess,
        {"casino": "casino__code", "name": "name", "state": "state", "wealth": "wealth", "year": "year"}
        | {"alpha": "alpha", "sessions": "sessions", "draws": "draws"},
    ),
}
"""What an upgrade must leave as it was: the rows of each table, by the names of the answers."""

VALUES = {("jobs", "kind", "what_if"): "what-if", ("findings", "run", "None"): 0}
"""Stored values that a later version renamed: table, name and value of today, and the value in the answers."""

SHOWN = {"rule": "payout-overpaid", "status": "standing"}
"""The findings whose evidence is exported: the first of them in the log."""

UNGUARDED = (".E001", ".E002", ".E003", ".E004", ".E005", ".E006", ".W003", ".W006")
"""Suffixes of the deployment checks' ids that report an unprotected log."""


def found_by_what_if(name: str) -> tuple[list[dict[str, Any]], int]:
    """Replay every stream as a new what-if run. Return its findings, and how many differ from the standing ones."""
    what_if = begin(name, readings={}, selection=Selection(), actor="test")
    for stream_id in streams_of(what_if):
        replay_one(what_if, stream_id)
    end(what_if)
    return rows_of("what_if_findings", FOUND, what_if=what_if), len(list(difference(what_if)))


def standing() -> list[dict[str, Any]]:
    """Return the standing findings of replays: not the integrity findings, nor those of the nights."""
    return rows_of("findings", FOUND, status="standing", run__isnull=False)


# The questions --------------------------------------------------------------------------------------------------------


def rows_of(table: str, fields: Mapping[str, str], **filters: Any) -> list[dict[str, Any]]:
    """Return rows by the names of the answers, ordered by their content alone."""
    rows = _model_of(table).objects.filter(**filters).order_by("pk").values_list(*fields.values())
    named = [{name: _plain(value) for name, value in zip(fields, row, strict=True)} for row in rows]
    for row in named:
        row.update({name: VALUES.get((table, name, str(value)), value) for name, value in row.items()})
    return sorted(named, key=_canonical)


def models_of(table: str) -> Any:
    return _model_of(table).objects.all()


def _model_of(table: str) -> Any:
    return TABLES[table][0]


def _plain(value: Any) -> Any:
    """Return a value as JSON; bytes as their SHA-256."""
    match value:
        case bytes() | memoryview():
            return f"sha256:{sha256(value).hexdigest()}"
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return str(value)
        case _:
            return value


def _canonical(row: Any) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


def _select(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def record() -> dict[str, Any]:
    """Return everything that an upgrade must leave as it was."""
    tables = {name: rows_of(name, fields) for name, (_model, fields) in TABLES.items()}
    differences = [
        _canonical(
            [name, change.kind, change.stream, change.seq, change.rule, change.wager, change.before, change.after]
        )
        for name, what_if in sorted((each.name, each) for each in models_of("what_ifs"))
        for change in difference(what_if)
    ]
    return tables | {"what_if_differences": differences, "log": log(), "proofs": proofs_of_the_log()}


def log() -> dict[str, Any]:
    """Return the log: head and digest of each stream, every batch, every entry of the audit trail in full."""
    streams = _select(
        "select stream_id, casino_id, table_id, name, gaming_day, game, ruleset, currency, opened_at, is_of_desk,"
        " next_seq, encode(chain, 'hex') from log.stream join log.stream_head using (stream_id) order by 1"
    )
    audit_trail = _select(
        "select envelope::text from log.event join log.stream using (stream_id) where is_of_desk"
        " order by stream_id, seq"
    )
    batches = _select(
        "select stream_id, first_seq, last_seq, next_seq, count, encode(root, 'hex'), encode(chain, 'hex'), key_id,"
        " received_at from log.batch order by 1, 2"
    )
    return {
        "streams": [[_plain(value) for value in row] + _digest_of(row[0]) for row in streams],
        "batches": [[_plain(value) for value in row] for row in batches],
        "acts": [text for (text,) in audit_trail],
        "waiting": _select("select count(*) from log.outbox")[0][0],
    }


def _digest_of(stream_id: int) -> list[Any]:
    """Return how many events a stream has, and the SHA-256 over length and bytes of each."""
    digest, count = sha256(), 0
    try:
        for _seq, raw in read.whole(stream_id):
            digest.update(len(raw).to_bytes(4, "big") + raw)
            count += 1
    except StreamArchived as archived:
        return [0, str(archived)]
    return [count, digest.hexdigest()]


def proofs_of_the_log() -> dict[str, Any]:
    """Return keys, checkpoints and tree, and receipt and inclusion proofs of some events of each stream."""
    checkpoints = list(tree.checkpoints())
    sizes = [checkpoint.size for checkpoint in checkpoints]
    newest = checkpoints[-1]
    return {
        "keys": [
            [key.purpose, str(key.verifier), _plain(key.valid_from), key.reason] for key in signing_keys.public_keys()
        ],
        "checkpoints": {str(checkpoint.size): checkpoint.note for checkpoint in checkpoints},
        "size": newest.size,
        "root": newest.root.hex(),
        "recomputed": tree.frontier(newest.size).root().hex(),
        "consistency": {
            f"{first}-{second}": [each.hex() for each in proofs.prove_consistency(first, second)]
            for first, second in [*pairwise(sizes), (sizes[0], sizes[-1])]
        },
        "events": [_proofs_of(*row) for row in _sampled()],
    }


def _sampled() -> Iterable[tuple[int, str, int]]:
    """Return the first, a middle and the last event of each stream, sealed or not, but of no sandbox."""
    return _select(
        "select stream_id, name, unnest(array[min(seq), percentile_disc(0.5) within group (order by seq), max(seq)])"
        " from log.event join log.stream using (stream_id) where stream_id < 1::bigint << 51"
        " group by 1, 2 order by 1, 3"
    )


def _proofs_of(stream_id: int, name: str, seq: int) -> dict[str, Any]:
    batch = read.batch_holding(stream_id, seq)
    assert batch is not None
    index = tree.index_of(stream_id, batch.first_seq)
    first = tree.first_checkpoint_holding(index) if index is not None else None
    return {
        "receipt": receipt(name, batch, is_of_sandbox=False),
        "newest": proofs.prove(stream_id, seq, tree.newest_checkpoint()),
        "first": proofs.prove(stream_id, seq, first),
    }


def verify() -> dict[str, Any]:
    """Return the lines of ``manage.py verify``, and whether everything holds."""
    output = StringIO()
    try:
        call_command("verify", stdout=output)
    except (CommandError, SystemExit) as error:
        return {"holds": False, "lines": [*output.getvalue().splitlines(), str(error)]}
    return {"holds": "Everything holds." in output.getvalue(), "lines": output.getvalue().splitlines()}


def deploy() -> list[str]:
    """Return the deployment checks' messages that mean an unprotected log."""
    messages = system_checks.run_checks(databases=["default"], include_deployment_checks=True)
    return [str(message) for message in messages if str(message.id).endswith(UNGUARDED)]


def tasks() -> dict[str, Any]:
    """Return how many tasks the schedule has, and those of them that no worker knows."""
    app.loader.import_default_modules()
    scheduled = sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} | {schedule.TASK})
    return {"scheduled": len(scheduled), "unknown": [name for name in scheduled if name not in app.tasks]}


def check(path: str) -> list[str]:
    """Return the lines of the evidence verifier, with the published key. Raise ``Unverified`` if it fails."""
    files = files_in(Path(path).read_bytes())
    in_bundle = set(json.loads(files["keys.json"])["keys"])
    [published] = in_bundle & {str(verifier) for verifier in signing_keys.verifiers("checkpoint")}
    return list(checks(files, published))


def evidence(path: str) -> dict[str, Any]:
    """Make the bundle of the first finding of ``SHOWN``. Return its id and the lines of the verifier."""
    shown = models_of("findings").filter(**SHOWN).order_by("stream_id", "seq", "pk")
    finding = next(each for each in shown if month_of(each.stream_id) is None)
    Path(path).write_bytes(evidence_of(finding).raw)
    return {"finding": finding.pk, "lines": check(path)}


def replay() -> dict[str, Any]:
    """Return the findings of a replay of every stream from its first event, and the standing ones."""
    found, differences = found_by_what_if("after the upgrade")
    return {"found": found, "standing": standing(), "differences": differences}


def promote() -> dict[str, Any]:
    """Return what waits to be read before and after a what-if is promoted, what differs, and what stands then."""
    waits = len(read.dirty_streams(ENGINE_VERSION, limit=1_000))
    before = standing()
    found_by_what_if("to the next version")
    changes = [
        {"kind": each.kind, "stream": each.stream, "seq": each.seq, "rule": each.rule}
        for each in difference(models.WhatIf.objects.get(name="to the next version"))
    ]
    between = standing()
    call_command("replay", "--promote", "to the next version", stdout=StringIO())
    released = len(read.dirty_streams(ENGINE_VERSION, limit=1_000))
    adjudicate()
    return {
        "waits": waits,
        "stood_until_then": before == between,
        "changes": changes,
        "released": released,
        "left": len(read.dirty_streams(ENGINE_VERSION, limit=1_000)),
        "standing": standing(),
    }


def _post(secret: str) -> tuple[int, int, Any]:
    """Send the next event of the open stream by the API. Return the stream, the event's number, and the receipt."""
    stream_id, name, next_seq, moment = _select(
        "select stream_id, name, next_seq, (select max(occurred_at) from log.event e where e.stream_id = s.stream_id)"
        " from log.stream s join log.stream_head using (stream_id) where not is_of_desk and game is not null"
        " and exists (select from log.event e where e.stream_id = s.stream_id)"
        " and not exists (select from log.event e where e.stream_id = s.stream_id"
        "   and envelope ->> 'type' = 'session.closed') order by 1 limit 1"
    )[0]
    event = {
        "stream": name,
        "seq": next_seq,
        "type": "wager.placed",
        "occurred_at": moment.isoformat(),
        "data": {"wager": "of-nobody", "bet": "of-no-text", "stake": 500},
    }
    answer = Client(SERVER_NAME="localhost").post(
        f"/api/v1/streams/{name}/events",
        json.dumps([event]),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 201, answer.content
    return stream_id, next_seq, json.loads(answer.content)


def adjudicate() -> dict[str, Any]:
    """Replay what is not replayed yet, and nothing more: what a worker does. Return how many events that were."""
    folded = 0
    for stream_id in read.dirty_streams(ENGINE_VERSION, limit=1_000):
        while (progress := advance(stream_id)) is not None:
            folded += progress.folded
            if not progress.behind:
                break
    return {"folded": folded}


def append(secret: str) -> dict[str, Any]:
    """Send the next event of the open stream by the API, replay it, seal it, and prove it."""
    stream_id, next_seq, answer = _post(secret)
    folded = 0
    while (progress := advance(stream_id)) is not None:
        folded += progress.folded
        if not progress.behind:
            break
    call_command("sequence", "--once", stdout=StringIO())
    shown = FOUND | {"case": "case__pk", "state": "case__state"}
    return {
        "receipt": answer,
        "folded": folded,
        "findings": rows_of("findings", shown, stream_id=stream_id, seq=next_seq),
        "proof": proofs.prove(stream_id, next_seq),
    }


def command(line: str) -> str:
    """Return what a command of ``manage.py`` prints."""
    output = StringIO()
    call_command(*line.split(), stdout=output)
    return output.getvalue()


QUESTIONS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (record, log, verify, deploy, tasks, check, evidence, replay, promote, append, command)
}


def main(questions: list[str]) -> None:
    """Print the answers as one JSON object, by question, in the order of the questions."""
    answers = {}
    for question in questions:
        name, _equals, argument = question.partition("=")
        answers[question if name == "command" else name] = QUESTIONS[name](*([argument] if argument else []))
    json.dump(answers, sys.stdout, ensure_ascii=False, sort_keys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
