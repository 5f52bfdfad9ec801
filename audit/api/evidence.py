"""The evidence of a finding, as one file that is checked without us."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from audit.api.findings import OwnFindings
from audit.api.problems import Problem
from audit.evidence.bundle import Unproven
from audit.evidence.export import record
from audit.evidence.gather import evidence_of
from audit.models import Finding
from audit.transparency.proofs import NotSealed

MEDIA_TYPE = "application/zip"


class ZipFile(BaseRenderer):
    """What a request for a bundle may accept. The view answers by itself."""

    media_type = MEDIA_TYPE
    format = "zip"
    charset = None

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return bytes(data)


class FindingBundle(OwnFindings, GenericAPIView[Finding]):
    """The evidence bundle of a finding."""

    renderer_classes = (ZipFile,)

    @extend_schema(
        summary="The evidence of a finding",
        description=(
            "A ZIP with the events, the proofs, the checkpoint, the text of law, the verdict and a verifier of one "
            "file. The same finding gives the same bytes. Each one handed out is recorded. 409 `not-sealed` until a "
            "checkpoint holds the events, 409 `unproven` where the record does not prove the finding."
        ),
        responses={(200, MEDIA_TYPE): OpenApiResponse(OpenApiTypes.BINARY, "The bundle; its SHA-256 is the ETag.")},
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        finding = self.get_object()
        try:
            bundle = evidence_of(finding)
        except NotSealed as error:
            raise Problem(409, "not-sealed", f"{error}.") from None
        except Unproven as error:
            raise Problem(409, "unproven", f"The record does not prove this finding: {error}.") from None
        response = HttpResponse(bundle.raw, content_type=MEDIA_TYPE)
        response["ETag"] = f'"{bundle.digest}"'
        response["Content-Disposition"] = f'attachment; filename="{bundle.name}"'
        answer = get_conditional_response(request._request, etag=response["ETag"], response=response)
        if answer is response and request.method == "GET":  # nobody was handed what they had, or only asked about
            record(finding, bundle, actor=f"key:{request.auth.pk}")
        return answer
