"""The timeline of a replay: its hundred and more items, written without a template.

Of an item a template would look up thirty names, and as many that a line without evidence does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape as escaped
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _


def timeline(lines: Iterable[Mapping[str, Any]], focus: int) -> SafeString:
    """Return the items of the lines of ``replay_context``, that of index ``focus`` marked as the current one."""
    evidence = f'<em class="flag">{escaped(_("evidence"))}</em>'
    return mark_safe("\n".join(_item(line, index == focus, evidence) for index, line in enumerate(lines)))


def _item(line: Mapping[str, Any], is_current: bool, evidence: str) -> str:
    shown, seq = line["line"], line["seq"]
    correction, own = (shown.correction, shown.own) if shown is not None else (None, None)
    text, below = escaped(line["text"]), ""
    if correction:
        text = render_to_string("admin/audit/tables/event.html", {"text": line["text"], "correction": correction})
    if own:
        below = render_to_string("admin/audit/tables/own.html", {"own": own})
    flag = ""
    if line["mark"]:
        flag = f'<em class="flag of-mark">{escaped(line["mark"])}</em>'
    elif shown is not None and shown.is_evidence and not shown.completes:
        flag = evidence
    found = "".join(f'<strong class="flag">{escaped(title)}</strong>' for title in line["findings"])
    classes, current = " ".join(_classes(line)), ' aria-current="step"' if is_current else ""
    of_classes = f' class="{classes}"' if classes else ""
    return (
        f'<li{of_classes} id="e{seq}"{current}>'
        f'<button type="button"><time>{escaped(line["time"])}</time><span class="text">{text}{flag}{found}</span>'
        f"<code>{seq}</code></button>{below}</li>"
    )


def _classes(line: Mapping[str, Any]) -> Iterator[str]:
    shown = line["line"]
    if line["is_payment"]:
        yield "payment"
    if line["findings"]:
        yield "anomaly"
    if shown is not None and shown.completes:
        yield "completes"
    elif shown is not None and shown.is_evidence:
        yield "evidence"
    if line["mark_kind"]:
        yield str(line["mark_kind"])
