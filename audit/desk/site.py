"""The admin site of the desk: its first page, its sign-in, and the pages that belong to no model.

Django imports this module to create ``admin.site``. Nothing it imports may register a model, ``auth.admin`` included.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from audit.desk.audit_trail import page as audit_trail
from audit.desk.navigation import navigation
from audit.desk.overview.page import overview_context
from audit.desk.record import state_page
from audit.desk.sign_in import access_link, own_password, second_factor


class DeskSite(admin.AdminSite):
    login_form = second_factor.SignInForm
    site_url = None  # there is no other site to view
    enable_nav_sidebar = False  # Django's own list of all models: ours is ``navigation``

    def get_urls(self) -> list[URLPattern | URLResolver]:
        view = self.admin_view
        return [
            path("audit-trail/", view(audit_trail.day_view), name="audit_trail"),
            path("audit-trail/export/<slug:format>/", view(audit_trail.export_view), name="audit_trail_export"),
            path("link/<str:token>/", access_link.access_link_view, name="access_link"),
            path("state/", view(state_page.state_view), name="record_state"),
            path("second-factor/", view(second_factor.second_factor_view), name="second_factor"),
            # There is no other site on which to view an object.
            *(each for each in super().get_urls() if getattr(each, "name", None) != "view_on_site"),
        ]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page has, with the navigation: it is put together where a page shows it."""
        return {**super().each_context(request), "navigation": SimpleLazyObject(lambda: navigation(request))}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show what waits for the officer, in the place of Django's list of all models."""
        return super().index(
            request, {"title": _("Overview"), "overview": overview_context(request), **(extra_context or {})}
        )

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Change the officer's own password, which is an entry of the audit trail."""
        context = {**self.each_context(request), **(extra_context or {})}
        view = own_password.OwnPasswordView.as_view(
            success_url=reverse("admin:password_change_done"), extra_context=context
        )
        return view(request)
