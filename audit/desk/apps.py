"""Puts the desk in the place of Django's own admin site."""

from django.contrib.admin.apps import SimpleAdminConfig


class DeskConfig(SimpleAdminConfig):
    """The desk is loaded with the addresses of its pages: a process that serves none of them starts without it."""

    default_site = "audit.desk.site.DeskSite"
