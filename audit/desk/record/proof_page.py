"""*Proof of an event*: from what a table sent to the signed head of the log, on a page and as a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext

from audit.access.capabilities import Capability
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.names import directory_for
from audit.desk.scoped_admin import demands, in_record
from audit.desk.tables.event_sentences import sentence
from audit.event_store import merkle
from audit.models import LoggedStream
from audit.persons.directory import mentioned_in
from audit.presentation import count, date_time, event_name, language
from audit.transparency.cosignatures import cosigned_note
from audit.transparency.proofs import NotInLog, NotSealed, OfSandbox, prove
from audit.transparency.tree import checkpoint_of_size
from settlement.codec import decode_one_stored

MAX_SEQ = 2**53 - 1


class NoStream(NotInLog):
    """The officer sees no stream of the name, or several; says so in words."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the proof: what is reached, by how many hashes in words, and its hash or its own words."""

    title: str
    by: str
    hash: str


@demands(Capability.SEE_RECORD)
def proof_view(request: HttpRequest) -> HttpResponse:
    """Show the proof of event ``?seq=`` of ``?stream=``, by its name; by POST, download it."""
    params = request.POST if request.method == "POST" else request.GET
    name, number = params.get("stream", "").strip(), params.get("seq", "").strip()
    context: dict[str, Any] = {"stream": name, "seq": number}
    status = 200
    if name or number:
        try:
            stream = _stream(request, name)
            proof = prove(stream.pk, _seq(number))
        except (NotInLog, NotSealed) as error:
            status = 404 if isinstance(error, NotInLog) else 200
            context["error"] = _words(error)
        else:
            seqs = [proof["seq"]]
            if request.method == "POST":
                record_entry(request, "proof.exported", casino_id=stream.casino_id, stream=stream.name, seqs=seqs)
                content = json.dumps(proof, ensure_ascii=False, indent=2).encode()
                return file_response(
                    f"{stream.name}-{proof['seq']}.json".replace(":", "-"), "application/json", content
                )
            record_entry(request, "events.viewed", casino_id=stream.casino_id, stream=stream.name, seqs=seqs)
            context |= _shown(request, stream, proof)
    page = {**admin.site.each_context(request), "title": gettext("Proof of an event"), **context}
    return TemplateResponse(request, "admin/audit/record/proof.html", page, status=status)


def _stream(request: HttpRequest, name: str) -> LoggedStream:
    """Return the stream of that name among those that the officer sees."""
    streams = in_record(LoggedStream.objects.filter(is_of_desk=False, name=name).select_related("casino"), request)
    match list(streams[:2]):
        case [stream]:
            return stream
        case []:
            raise NoStream(gettext("There is no stream with this name that you may see."))
        case _:
            raise NoStream(gettext("Several casinos have a stream of this name: choose the casino first."))


def _seq(number: str) -> int:
    is_whole = number.isascii() and number.isdigit() and len(number) < len(str(MAX_SEQ))
    return int(number) if is_whole else 0


def _words(error: Exception) -> str:
    """Return in words why there is no proof, or none yet."""
    match error:
        case NoStream():
            return str(error)
        case OfSandbox():
            return gettext("The stream belongs to a sandbox; nothing in a sandbox is ever sealed.")
        case NotSealed():
            return gettext("The event is stored, but no checkpoint has it yet. The next one will, within moments.")
        case _:
            return gettext("The stream has no event of this number.")


def _shown(request: HttpRequest, stream: LoggedStream, proof: dict[str, Any]) -> dict[str, Any]:
    envelope = proof["event"].encode()
    event = decode_one_stored(envelope)
    directory = directory_for(request, stream.casino_id, [*mentioned_in([event])])
    batch, log, entry = proof["batch"], proof["log"], proof["batch"]["entry"].encode()
    checkpoint = checkpoint_of_size(log["size"])
    assert checkpoint is not None, "the proof leads to a checkpoint"
    return {
        "logged": stream,
        "number": proof["seq"],
        "before": proof["seq"] - 1,
        "event": event_name(event.type),
        "sentence": sentence(event, language(), stream.currency, stream.ruleset, directory),
        "at": date_time(event.occurred_at, stream.casino, seconds=True),
        "steps": [
            Step(gettext("The event, as it was received"), gettext("its own hash"), merkle.leaf(envelope).hex()),
            Step(
                gettext("Its batch: event %(number)s of %(size)s")
                % {"number": count(batch["index"] + 1), "size": count(batch["size"])},
                _hashes(len(batch["path"])),
                json.loads(entry)["root"],
            ),
            Step(
                gettext("The entry of the batch: leaf %(number)s of the log") % {"number": count(log["index"] + 1)},
                gettext("its own hash"),
                merkle.leaf(entry).hex(),
            ),
            Step(_head(log["size"]), _hashes(len(log["path"])), checkpoint.root.hex()),
        ],
        "note": cosigned_note(checkpoint),
    }


def _head(size: int) -> str:
    return ngettext(
        "The signed head of the log, over %(number)s batch", "The signed head of the log, over %(number)s batches", size
    ) % {"number": count(size)}


def _hashes(number: int) -> str:
    return ngettext("by %(number)s hash", "by %(number)s hashes", number) % {"number": count(number)}
