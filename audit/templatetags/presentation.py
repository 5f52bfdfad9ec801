"""Template filters over ``audit.presentation``: times in a casino's zone, officers. ``{% load presentation %}``."""

from __future__ import annotations

from datetime import datetime

from django import template

from audit import presentation
from audit.models import Casino, Officer

register = template.Library()


@register.filter
def clock(moment: datetime, casino: Casino | None) -> str:
    return presentation.clock(moment, casino)


@register.filter
def date_time(moment: datetime, casino: Casino | None) -> str:
    return presentation.date_time(moment, casino)


@register.filter
def short_date_time(moment: datetime, casino: Casino | None) -> str:
    return presentation.date_time(moment, casino, "SHORT_DATETIME_FORMAT")


@register.filter
def officer_name(officer: Officer | None) -> str:
    return presentation.officer_name(officer)
