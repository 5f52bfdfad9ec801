"""The witnesses of other owners (C2SP tlog-witness): each is sent checkpoints with proofs, and answers by cosignatures.

    newest checkpoint ─► POST /add-checkpoint ─► 200: cosignature verified ─► kept
                              ▲      │ 409, and the size that it has cosigned last
                              └──────┘ the proof from there
                                     │ 422; a larger tree than ours; another root at our size
                                     └─► the log is not the one it has seen: alarm

A witness that cannot be reached is an error that passes. One that refuses has seen another log than this one, and that
is an alarm: a finding, ``/health/ready``, the page *Record and proofs*.
"""

from __future__ import annotations

import base64
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any

import structlog
from django.conf import settings

from audit.models import Cosignature, WitnessState
from audit.transparency import cosignatures, tree
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.integrity_findings import report_refused_by_witness
from audit.transparency.proofs import NotInLog, prove_consistency
from audit.transparency.signed_notes import BadNote
from audit.transparency.tree import StoredCheckpoint

TIMEOUT_S = 10
MAX_ANSWER = 16 * 1024

CLOCK_AHEAD_S = 3_600
"""How far a witness's clock may be ahead of ours."""

log = structlog.get_logger(__name__)


class NoCosignature(Exception):
    """A witness gave none: it cannot be reached, does not know this log, or answers nonsense. It is asked again."""


class RefusedByWitness(Exception):
    """A witness has seen another log than this one. ``size`` counts the leaves of the tree that it has cosigned."""

    def __init__(self, message: str, size: int) -> None:
        super().__init__(message)
        self.size = size


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness: its public key, and the address in front of ``/add-checkpoint``."""

    key: WitnessKey
    url: str


def configured() -> list[Witness]:
    """Return the witnesses of ``CABOCHON_WITNESSES``. Raise ``BadNote`` if one is not a key and an address."""
    found: list[Witness] = []
    for each in settings.CABOCHON_WITNESSES:
        vkey, _, url = each.strip().partition(" ")
        if not url.strip().startswith(("http://", "https://")):
            raise BadNote(f"'{each}' of CABOCHON_WITNESSES is not a key, a space and an address")
        found.append(Witness(WitnessKey.parse(vkey), url.strip().rstrip("/")))
    return found


def ask_all() -> list[str]:
    """Send the newest checkpoint to every witness; return what went wrong, a sentence each. Records every answer."""
    checkpoint = tree.newest_checkpoint()
    if checkpoint is None:
        return []
    try:
        witnesses = configured()
    except BadNote as error:  # sealing does not stop for it
        return [str(error)]
    failures = (_ask_and_record(witness, checkpoint) for witness in witnesses)
    return [failure for failure in failures if failure]


def _ask_and_record(witness: Witness, checkpoint: StoredCheckpoint) -> str:
    vkey, now = str(witness.key), datetime.now(UTC)
    known = WitnessState.objects.filter(vkey=vkey).values_list("size", flat=True).first() or 0
    try:
        line, time_s = ask(witness, checkpoint, known=known)
    except NoCosignature as error:
        WitnessState.objects.update_or_create(vkey=vkey, defaults={"tried_at": now, "error": str(error)})
        return f"{witness.key.name}: {error}"
    except RefusedByWitness as error:
        log.critical("refused by a witness", witness=witness.key.name, error=str(error))
        values = {"tried_at": now, "error": str(error), "refused_at": now}
        WitnessState.objects.update_or_create(vkey=vkey, defaults=values)
        _report(witness, error.size)
        return f"{witness.key.name}: {error}"
    cosignatures.keep(checkpoint, witness.key, line, time_s)
    WitnessState.objects.update_or_create(
        vkey=vkey,
        defaults={
            "size": checkpoint.size,
            "cosigned_at": datetime.fromtimestamp(time_s, UTC),
            "tried_at": now,
            "error": "",
            "refused_at": None,
        },
    )
    return ""


def _report(witness: Witness, size: int) -> None:
    """Open a finding: the root that the witness cosigned, as far as we have kept it, and the one of this tree."""
    cosigned = Cosignature.objects.filter(vkey=str(witness.key), size=size).values_list("root", flat=True).first()
    try:
        here: bytes | None = tree.frontier(size).root() if size <= tree.size() else None
    except LookupError:
        here = None
    report_refused_by_witness(size, expected=bytes(cosigned) if cosigned else None, recorded=here)


def ask(witness: Witness, checkpoint: StoredCheckpoint, *, known: int) -> tuple[str, int]:
    """Return a witness's signature line on ``checkpoint`` and its time. ``known`` is what it has probably cosigned.

    Raise ``NoCosignature`` or ``RefusedByWitness``.
    """
    old = min(known, checkpoint.size)
    status, body = _post(witness, _request(old, checkpoint))
    if status == 409:
        cosigned = _size(body)
        if cosigned > checkpoint.size:
            newest = tree.newest_checkpoint()
            if newest is not None and newest.size >= cosigned:
                raise NoCosignature("another process has sent it a larger tree")
            raise RefusedByWitness(f"it has cosigned {cosigned} leaves, and {checkpoint.size} are here", cosigned)
        if cosigned != old:
            old = cosigned
            status, body = _post(witness, _request(old, checkpoint))
        if status == 409 and _size(body) == checkpoint.size == old:
            raise RefusedByWitness(f"it has cosigned another tree of {old} leaves", old)
    if status == 422:
        raise RefusedByWitness(f"to it, this log does not extend the tree of {old} leaves that it has cosigned", old)
    if status != 200:
        raise NoCosignature(f"it answers {status}")
    return _cosignature(witness.key, checkpoint, body)


def _request(old: int, checkpoint: StoredCheckpoint) -> bytes:
    try:
        proof = prove_consistency(old, checkpoint.size) if old else []
    except (LookupError, NotInLog) as error:
        raise NoCosignature(f"this log has no proof for it: {error}") from error
    encoded = "".join(f"{base64.b64encode(each).decode()}\n" for each in proof)
    return f"old {old}\n{encoded}\n{checkpoint.note}".encode()


def _size(body: str) -> int:
    number = body.removesuffix("\n")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise NoCosignature("it answers 409 without the size that it has cosigned")
    return int(number)


def _cosignature(key: WitnessKey, checkpoint: StoredCheckpoint, body: str) -> tuple[str, int]:
    """Return the line of ``key`` among those of an answer, and its time; those of unknown keys do not count."""
    text = cosignatures.text_of(checkpoint.note)
    for line in body.splitlines():
        time_s = key.time_of(line, text)
        if time_s is None:
            continue
        if time_s > datetime.now(UTC).timestamp() + CLOCK_AHEAD_S:
            raise NoCosignature("its clock is ahead")
        return line, time_s
    raise NoCosignature("it answers without a cosignature of its key on this checkpoint")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A witness is where it is configured to be."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _post(witness: Witness, body: bytes) -> tuple[int, str]:
    """Return status and body of the answer. Raise ``NoCosignature`` if there is none within ``TIMEOUT_S``."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    request = urllib.request.Request(f"{witness.url}/add-checkpoint", data=body, headers=headers, method="POST")
    answer: Any
    try:
        try:
            answer = _opener.open(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return int(answer.status), answer.read(MAX_ANSWER).decode("utf-8", "replace")
    except (OSError, HTTPException, ValueError) as error:
        raise NoCosignature(f"it cannot be reached: {error}") from error
