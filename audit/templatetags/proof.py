"""The fields that ask for a password again in a form that decides something. ``{% load proof %}``."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings

from audit.desk.sign_in import proof

register = template.Library()


@register.inclusion_tag("admin/audit/sign_in/proof_fields.html", takes_context=True)
def proof_fields(context: Any, form: str, *, is_signature: bool = False) -> dict[str, Any]:
    """Show the fields if the officer's proof is stale; of a signature, always. ``form`` tells those of a page apart."""
    request = context["request"]
    is_needed = proof.is_due(request, is_signature=is_signature)
    return {
        "form": form,
        "is_needed": is_needed,
        "has_second_factor": is_needed and proof.has_second_factor(request),
        "is_by_provider": proof.is_by_provider(request),
        "provider": settings.CABOCHON_OIDC_NAME,
        "here": request.get_full_path() if request.method == "GET" else "",
        "password": proof.PASSWORD,
        "code": proof.CODE,
    }
