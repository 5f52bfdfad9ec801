"""The timeline of a replay: its hundred and more items, folded by coup, written without a template.

Of an item a template would look up thirty names, and as many that a line without evidence does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape as escaped
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.desk.tables.coups import Fold


def timeline(lines: Sequence[Mapping[str, Any]], focus: int, folds: Iterable[Fold]) -> SafeString:
    """Return the items of the lines of ``replay_context``, that of index ``focus`` marked as the current one.

    The lines of each of ``folds`` are under the line of its coup; open are the coups with that item and with marks.
    Without folds, the items follow each other.
    """
    evidence = f'<em class="flag">{escaped(_("evidence"))}</em>'
    items = [_item(line, index == focus, evidence) for index, line in enumerate(lines)]
    folded = [_folded(fold, lines[fold.first : fold.end], items[fold.first : fold.end], focus) for fold in folds]
    return mark_safe("\n".join(folded or items))


def _folded(fold: Fold, lines: Sequence[Mapping[str, Any]], items: Sequence[str], focus: int) -> str:
    is_open = fold.first <= focus < fold.end or any(line["mark_kind"] for line in lines)
    result = f'<span class="pk {fold.kind}">{escaped(fold.result)}</span>' if fold.result else ""
    number = ngettext("%(number)d event", "%(number)d events", len(lines)) % {"number": len(lines)}
    titles = dict.fromkeys(title for line in lines for title in line["findings"])
    words = escaped(", ".join(titles))
    found = f'<strong class="flag" title="{words}">{words}</strong>' if titles else ""
    return (
        f'<li class="coup"><details class="coup"{" open" if is_open else ""}><summary>'
        f"<b>{escaped(_('Coup %(number)d') % {'number': fold.number})}</b>{result}"
        f'<span class="dim">{escaped(number)}</span>{found}<time>{escaped(lines[0]["time"])}</time></summary>'
        f"<ol>{''.join(items)}</ol></details></li>"
    )


def _item(line: Mapping[str, Any], is_current: bool, evidence: str) -> str:
    shown, seq = line["line"], line["seq"]
    correction, own = line["correction"], shown.own if shown is not None else None
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
