"""Template filters over ``audit.presentation``: times in a casino's zone, officers. ``{% load presentation %}``."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.contrib.admin.views.main import ChangeList
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from audit import presentation
from audit.desk import addresses, parts, sessions
from audit.desk.cards import as_cards
from audit.models import Casino, Officer
from settlement.law import LawText

register = template.Library()
register.filter(parts.on_two_lines)
register.filter(parts.severity)
register.filter(parts.severity_bars)
register.filter(sessions.session_name)
for each in (
    presentation.clock, presentation.date_time, presentation.day, presentation.month_of, presentation.night_of,
    presentation.officer_name, presentation.zone,
):  # fmt: skip
    register.filter(each)
register.filter("ruleset", presentation.ruleset_label)
register.filter("title_of", presentation.finding_title)


@register.simple_block_tag
def cards(content: str) -> SafeString:
    """Show a table whose rows are cards on a phone: ``{% cards %}<table class="t">…</table>{% endcards %}``."""
    return as_cards(content)


@register.filter
def counted(listed: ChangeList) -> str:
    """Return how many rows a list has, with what one of them is called: “20 processes”."""
    noun = getattr(listed, "counted", None) or getattr(listed.model_admin, "counted", None)
    if noun is not None:
        return str(noun % {"number": listed.result_count})
    name = listed.opts.verbose_name if listed.result_count == 1 else listed.opts.verbose_name_plural
    return f"{presentation.count(listed.result_count)} {name}"


@register.filter
def labelled(text: object, label: object) -> str:
    """Return a text after what it is about, with the colon of the page's language."""
    return presentation.labelled(str(label), str(text))


@register.filter
def page_of(pk: int, model: str) -> str:
    """Return the address of a row's page: ``{{ finding.pk|page_of:"finding" }}``, where a list has many of them."""
    return addresses.page_of(model, pk)


@register.filter
def provision(label: str | None) -> str:
    return presentation.provision(label or "")


@register.filter
def cited_in(text: LawText) -> str:
    """Return the language in which a page cites a text: French has French citations for all of them."""
    return "fr" if presentation.language() == "fr" else text.language


@register.filter
def date_time_to_second(moment: datetime, casino: Casino | None) -> str:
    """Return day, time to the second, and zone."""
    return presentation.date_time(moment, casino, seconds=True)


@register.filter
def clock_of(moment: datetime, casino: Casino | None) -> str:
    return f"{presentation.local(moment, casino):%H:%M} {presentation.zone(moment, casino)}"


@register.filter
def today(moment: datetime, casino: Casino | None) -> str:
    """Return the day in full: “Monday 23 November”."""
    return capfirst(presentation.day_in_full(presentation.local(moment, casino).date()))


@register.filter
def initials(officer: Officer) -> str:
    return presentation.initials(presentation.officer_name(officer))


@register.filter
def letters(name: str) -> str:
    """Return the one or two letters of somebody as the directory writes them, “Name (id)”."""
    return presentation.initials(name.rsplit(" (", 1)[0])
