"""The evidence bundle of a finding: one file that anybody can verify without this service."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from audit.api.findings import OwnFindings
from audit.api.keyed_view import key_of
from audit.api.problems import Problem
from audit.api.processor_budget import Buckets, of_key
from audit.evidence.export import record
from audit.evidence.gather import evidence_of

MEDIA_TYPE = "application/zip"


PART_OF_RATE, PART_OF_BURST = 5, 3
"""How much less of a key's budget of work bundles may use: this part of its rate, and this of its burst."""

COST = 3
"""What a bundle costs for each second of this thread: PostgreSQL reads for it, and others wait for the interpreter."""

_served: set[int] = set()
_lock = Lock()


@lru_cache(maxsize=1)
def _budget(rate: float, burst_s: float) -> Buckets:
    return Buckets(rate=rate / PART_OF_RATE, burst_s=burst_s / PART_OF_BURST)


@contextmanager
def limited(key_id: int) -> Iterator[None]:
    """Serve a key while this process makes it no other bundle, and these take little of its time; otherwise 429.

    To make a bundle is a tenth of a second of Python. While one is made, those who record events wait for the
    interpreter and the processors: so it is made seldom, and no two at once, which are threads of one process.
    """
    budget = _budget(settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S)
    with _lock:
        wait_s = math.ceil(budget.wait_s(of_key(key_id)))
        if wait_s or key_id in _served:
            wait_s = max(wait_s, 1)
            detail = f"Bundles are made for your key one at a time, and few a minute. Wait {wait_s} s, and ask again."
            raise Problem(429, "throttled", detail, retry_after_s=wait_s)
        _served.add(key_id)
    began_at = time.thread_time()
    try:
        yield
    finally:
        budget.charge(of_key(key_id), COST * (time.thread_time() - began_at))
        with _lock:
            _served.discard(key_id)


class ZipFile(BaseRenderer):
    """The media type of a bundle, for content negotiation. The view builds the response itself."""

    media_type = MEDIA_TYPE
    format = "zip"
    charset = None

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return bytes(data)


class FindingBundle(OwnFindings):
    """The evidence bundle of a finding."""

    renderer_classes = (ZipFile,)
    http_method_names = ["get", "head"]  # an answer to OPTIONS would be no ZIP

    @extend_schema(
        summary="The evidence of a finding",
        description=(
            "A ZIP with the events, the proofs, the checkpoint, the text of law, the verdict and a verifier of one "
            "file. The same finding gives the same bytes. Each one handed out is recorded. 409 `not-sealed` until a "
            "checkpoint holds the events, 409 `unproven` where the record does not prove the finding. A key is served "
            "one bundle at a time by each web process, and few a minute: beyond it, 429 with `Retry-After`."
        ),
        responses={(200, MEDIA_TYPE): OpenApiResponse(OpenApiTypes.BINARY, "The bundle; its SHA-256 is the ETag.")},
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        finding, key_id = self.get_object(), key_of(request).pk
        with limited(key_id):
            bundle = evidence_of(finding)
        response = HttpResponse(bundle.raw, content_type=MEDIA_TYPE)
        response["ETag"] = f'"{bundle.digest}"'
        response["Content-Disposition"] = f'attachment; filename="{bundle.name}"'
        answer = get_conditional_response(request._request, etag=response["ETag"], response=response)
        assert answer is not None, "given a response, Django returns it or the one that takes its place"
        if answer is response and request.method == "GET":  # neither 304 nor HEAD hands out the file
            record(finding, bundle, actor=f"key:{key_id}")
        return answer
