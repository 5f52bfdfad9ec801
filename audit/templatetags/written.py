"""What a form keeps of what was written and not saved. ``{% load written %}``."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.desk import kept_words

register = template.Library()


@register.simple_tag(takes_context=True)
def written_in(context: Any, form: str) -> SafeString:
    """Return the hidden field of a form with text: it names the form and its officer."""
    value = kept_words.signed(context["request"].user.pk, form)
    return format_html('<input type="hidden" name="{}" value="{}">', kept_words.FIELD, value)


@register.simple_tag(takes_context=True)
def kept_text(context: Any, form: str, field: str = "reason") -> str:
    """Return what was written in a field of a form and not saved, "" for nothing."""
    return kept_words.texts_of(context["request"], form).get(field, "")


@register.inclusion_tag("admin/audit/parts/kept_words.html", takes_context=True)
def kept_words_note(context: Any) -> dict[str, Any]:
    """Show what was written and not saved, above the page: its form may be there no more."""
    request = context.get("request")
    found = kept_words.kept(request) if request is not None and getattr(request, "user", None) is not None else None
    return {"texts": [text for name, text in found["texts"].items() if name != "outcome"] if found else []}
