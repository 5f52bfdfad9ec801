"""Icons in templates: ``{% icon "nights" %}``."""

from django import template
from django.utils.safestring import SafeString

from audit.desk import icons

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    return icons.icon(name)


@register.simple_tag
def small_icon(name: str) -> SafeString:
    return icons.icon(name, is_small=True)
