"""The transparency log: checkpoints, inclusion and consistency proofs, keys. Enough to verify it independently."""

from __future__ import annotations

import base64
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.answer_schemas import STREAM, ref
from audit.api.keyed_view import KeyedView, key_of
from audit.api.problems import Problem
from audit.api.streams import number, stream_of, whole
from audit.event_store.streams import instant
from audit.models import KeyScope
from audit.transparency import cosignatures, signing_keys, tree
from audit.transparency.proofs import NotInLog, prove, prove_consistency

MAX_INTEGER = 2**53 - 1


def _not_in_log(remedy: str) -> Problem:
    return Problem(404, "not-found", f"The log has no such proof. {remedy}")


class NewestCheckpoint(KeyedView):
    """The newest signed head of the tree."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"size", "cosigned"})

    @extend_schema(
        summary="The newest checkpoint",
        description=(
            "A C2SP tlog-checkpoint, signed with Ed25519 as a C2SP signed note, followed by the cosignatures of "
            "witnesses (C2SP cosignature/v1) that are kept on it."
        ),
        parameters=[
            number("size", "The one signed at just this size."),
            OpenApiParameter("cosigned", int, enum=[1], description="The newest one that a witness has cosigned."),
        ],
        responses={(200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, "The signed note.")},
    )
    def get(self, request: Request) -> HttpResponse:
        size = whole(request, "size", default=0, least=1, most=MAX_INTEGER)
        if whole(request, "cosigned", default=0, least=1, most=1):
            head = cosignatures.newest_cosigned()
        else:
            head = tree.checkpoint_of_size(size) if size else tree.newest_checkpoint()
        if head is None:
            raise Problem(
                404, "not-found", "There is no such checkpoint. Leave 'size' and 'cosigned' out for the newest."
            )
        return HttpResponse(cosignatures.cosigned_note(head), content_type="text/plain; charset=utf-8")


class Inclusion(KeyedView):
    """The proof that an event is in the tree."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"stream", "seq", "size"})

    @extend_schema(
        summary="Prove an event",
        description=(
            "RFC 6962 audit paths: of the event in its batch, and of the batch's entry in the tree of the checkpoint. "
            "409 `not-sealed` until a checkpoint holds it, which takes a fraction of a second."
        ),
        parameters=[
            OpenApiParameter("stream", STREAM, required=True),
            number("seq", "The event.", required=True),
            number("size", "A checkpoint's size; the newest unless told."),
        ],
        responses={200: ref("Inclusion")},
    )
    def get(self, request: Request) -> Response:
        logged = stream_of(key_of(request), request.query_params.get("stream", ""))
        seq = whole(request, "seq", default=0, least=1, most=MAX_INTEGER)
        size = whole(request, "size", default=0, least=1, most=MAX_INTEGER)
        head = tree.checkpoint_of_size(size) if size else None
        if not seq or (size and head is None):
            raise _not_in_log("Name an event by 'stream' and 'seq', and a tree by the 'size' of a checkpoint.")
        try:
            return Response(prove(logged.stream_id, seq, head))
        except NotInLog:
            raise _not_in_log(f"The stream has no event {seq}.") from None


class Consistency(KeyedView):
    """The proof (RFC 6962) that a later tree extends an earlier one."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"from", "to"})

    @extend_schema(
        summary="Prove that nothing was rewritten",
        parameters=[
            number("from", "The size of the earlier tree.", required=True),
            number("to", "The size of the later; the newest checkpoint's unless told."),
        ],
        responses={200: ref("Consistency")},
    )
    def get(self, request: Request) -> Response:
        first = whole(request, "from", default=0, least=1, most=MAX_INTEGER)
        newest = tree.newest_checkpoint()
        second = whole(request, "to", default=newest.size if newest else 0, least=1, most=MAX_INTEGER)
        try:
            proof = prove_consistency(first, second)
        except NotInLog:
            raise _not_in_log("'from' and 'to' are tree sizes, 'from' the smaller, neither above the log's.") from None
        return Response({"from": first, "to": second, "path": [sibling.hex() for sibling in proof]})


class Keys(KeyedView):
    """The public keys of the log, the oldest first. Needs no API key."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(summary="The public keys", responses={200: ref("PublicKeys")}, auth=[])
    def get(self, request: Request) -> Response:
        return Response({"origin": signing_keys.origin(), "keys": [_key(key) for key in signing_keys.public_keys()]})


def _key(key: signing_keys.PublicKey) -> dict[str, Any]:
    return {
        "name": key.verifier.name,
        "id": key.verifier.key_id.hex(),
        "purpose": key.purpose,
        "public_key": base64.b64encode(key.verifier.public).decode(),
        "vkey": str(key.verifier),
        "valid_from": instant(key.valid_from),
        "valid_until": instant(key.valid_until) if key.valid_until else None,
    }
