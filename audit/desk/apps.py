"""Puts the desk in the place of Django's own admin site."""

from django.contrib.admin.apps import AdminConfig


class DeskConfig(AdminConfig):
    default_site = "audit.desk.site.DeskSite"
