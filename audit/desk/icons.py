"""The icons of the desk, by name: strokes in a square of sixteen, in the colour of the text around them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.utils.safestring import SafeString, mark_safe

_STROKES: Mapping[str, str] = {
    "overview": '<path d="M2.5 7 8 2.5 13.5 7v6h-4V9.5h-3V13h-4z"/>',
    "inbox": '<path d="M2 9.5h3.5l1 2h3l1-2H14M2 9.5 4 3.5h8l2 6V13H2z"/>',
    "findings": '<path d="M8.5 2.5 13 7M6.5 4.5 11 9M7.5 3.5l-3 3 4.5 4.5 3-3M7 8.7 2.5 13.2"/>',
    "approve": '<circle cx="6" cy="5" r="2.4"/>'
    '<path d="M1.8 13c.4-2.6 2-3.9 4.2-3.9 1 0 1.8.3 2.5.8M9.5 11.5l1.7 1.7 3-3.2"/>',
    "nights": '<path d="M13 9.8A5.6 5.6 0 1 1 6.2 3a4.5 4.5 0 0 0 6.8 6.8z"/>',
    "questions": '<circle cx="8" cy="8" r="5.8"/>'
    '<path d="M6.3 6.3a1.8 1.8 0 1 1 2.5 1.6c-.6.3-.8.7-.8 1.3M8 11.3v.1"/>',
    "tables": '<rect x="1.8" y="4" width="12.4" height="5.5" rx="2.7"/>'
    '<path d="M4 9.5V13M12 9.5V13M6 4v5.5M10 4v5.5"/>',
    "people": '<circle cx="5.8" cy="5.3" r="2.3"/>'
    '<path d="M1.8 13c.3-2.7 1.8-4 4-4s3.7 1.3 4 4M10.5 3.2a2.3 2.3 0 0 1 0 4.2M12 9.3c1.3.6 2 1.8 2.2 3.7"/>',
    "rules": '<path d="M8 4C6.5 3 4.5 2.7 2 3v9.5c2.5-.3 4.5 0 6 1 1.5-1 3.5-1.3 6-1V3c-2.5-.3-4.5 0-6 1zM8 4v9.5"/>',
    "what_if": '<path d="M8 2.5v11M5 13.5h6M3 4.5h10M3 4.5 1.3 9h3.4zM13 4.5 11.3 9h3.4z"/>',
    "record": '<path d="M6.5 9.5 9.5 6.5'
    'M7 4.5l1.3-1.3a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.3 1.3a2.8 2.8 0 0 1-4-4L5 7.5"/>',
    "exports": '<path d="M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.8 13.5h10.4"/>',
    "trail": '<path d="M8 1.8 13 3.8v4c0 3-2 5.3-5 6.4-3-1.1-5-3.4-5-6.4v-4zM5.8 8l1.6 1.6L10.5 6.4"/>',
    "settings": '<circle cx="8" cy="8" r="2.2"/><path d="M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2'
    'M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4"/>',
    "more": '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
    "search": '<circle cx="7" cy="7" r="4.3"/><path d="m10.3 10.3 3.4 3.4"/>',
    "clock": '<circle cx="8" cy="8" r="5.8"/><path d="M8 4.5V8l2.3 1.5"/>',
    "close": '<path d="m3.5 3.5 9 9M12.5 3.5l-9 9"/>',
    "player": '<circle cx="8" cy="5" r="2.7"/><path d="M3 13.5c.4-3 2.2-4.5 5-4.5s4.6 1.5 5 4.5"/>',
    "bank": '<path d="M2 6.5 8 2.5l6 4M3.3 6.5V13M12.7 6.5V13M6.3 6.5V13M9.7 6.5V13M2 13.3h12"/>',
    "cash_out": '<path d="M6 2.5 2.5 6 6 9.5M2.5 6h7a4 4 0 0 1 0 7.5H7"/>',
    "agrees": '<circle cx="8" cy="8" r="5.8"/><path d="m5.5 8.2 1.8 1.8 3.3-3.8"/>',
    "differs": '<circle cx="8" cy="8" r="5.8"/><path d="M5.5 6.7h5M5.5 9.3h5M9.6 4.9 6.4 11.1"/>',
    "done": '<path d="m3 8.5 3.2 3.2L13 4.8"/>',
    "up": '<path d="m4 10 4-4 4 4"/>',
    "left": '<path d="m10 4-4 4 4 4"/>',
    "right": '<path d="m6 4 4 4-4 4"/>',
    "down": '<path d="m4 6 4 4 4-4"/>',
    "video": '<path d="M2 4.5h8v7H2zM10 7l4-2v6l-4-2"/>',
    "pulse": '<path d="M1.5 8.5h3l2-5 3 9 2-4h3"/>',
    "sealed": '<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5 7V5a3 3 0 0 1 6 0v2"/>',
    "evidence": '<path d="M2 5.5 3.5 2.5h9L14 5.5V13H2zM2 5.5h12M6.5 8h3"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "copy": '<rect x="5.500" y="5.500" width="8" height="8" rx="1.500"/><path d="M10.500 5.500v-3h-8v8h3"/>',
    "again": '<path d="M13 8a5 5 0 1 1-1.600-3.700M13 2v3h-3"/>',
    "silent": '<path d="M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.7 14.2h2.6"/>',
}


@cache
def icon(name: str, *, is_small: bool = False) -> SafeString:
    """Return an icon, which says nothing to who does not see it: the words are beside it."""
    size = "i s" if is_small else "i"
    strokes = _STROKES[name]  # constants of this module
    return mark_safe(f'<svg class="{size}" viewBox="0 0 16 16" aria-hidden="true">{strokes}</svg>')
