"""The admin site of the desk: its first page, its sign-in, and the pages that belong to no model.

Django imports this module to create ``admin.site``. Nothing it imports may register a model, ``auth.admin`` included.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk import kept_words
from audit.desk.approve import batch_page, closing_page
from audit.desk.approve import page as approve
from audit.desk.audit_trail import page as audit_trail
from audit.desk.chosen_casino import choose_casino_view
from audit.desk.first_run import page as first_run
from audit.desk.inbox import page as inbox
from audit.desk.navigation import navigation
from audit.desk.notifications import page as notifications
from audit.desk.overview.page import overview_context
from audit.desk.palette import page as palette
from audit.desk.record import proof_page, state_page
from audit.desk.remembered_messages import remember
from audit.desk.rules import law_page
from audit.desk.rules import page as rules
from audit.desk.scoped_admin import scope_of
from audit.desk.settings import connections
from audit.desk.settings.page import settings_context
from audit.desk.sign_in import access_link, own_password, pages, second_factor, single_sign_on
from audit.presentation import MISSING


class DeskSite(admin.AdminSite):
    site_url = None  # there is no other site to view
    empty_value_display = MISSING
    enable_nav_sidebar = False  # Django's own list of all models: ours is ``navigation``

    def get_urls(self) -> list[URLPattern | URLResolver]:
        remember()  # a process that has the addresses of the desk serves its pages
        view = self.admin_view
        return [
            path("approve/", view(approve.approve_view), name="approve"),
            path("approve/closing/<int:pk>/", view(closing_page.closing_view), name="approve_closing"),
            path("approve/batch/<int:pk>/", view(batch_page.batch_view), name="approve_batch"),
            path("audit-trail/", view(audit_trail.day_view), name="audit_trail"),
            path("audit-trail/export/<slug:format>/", view(audit_trail.export_view), name="audit_trail_export"),
            path("inbox/", view(inbox.inbox_view), name="inbox"),
            path("notifications/", view(notifications.notifications_view), name="notifications"),
            path("push-worker.js", notifications.worker_view, name="push_worker"),
            path("login/code/", pages.code_view, name="sign_in_code"),
            path("login/provider/", single_sign_on.begin_view, name="single_sign_on"),
            path("login/provider/callback/", single_sign_on.callback_view, name="single_sign_on_callback"),
            path("link/<str:token>/", access_link.access_link_view, name="access_link"),
            path("casino/", view(choose_casino_view), name="choose_casino"),
            path("first-run/", view(first_run.first_run_view), name="first_run"),
            path("first-run/progress/", view(first_run.progress_view), name="first_run_progress"),
            path("first-run/dismiss/", view(first_run.dismiss_view), name="first_run_dismiss"),
            path("state/", view(state_page.state_view), name="record_state"),
            path("state/<slug:name>/try-again/", view(state_page.try_again_view), name="record_try_again"),
            path("state/proof/", view(proof_page.proof_view), name="record_proof"),
            path("connections/", view(connections.connections_view), name="connections"),
            path("connections/<slug:name>/try/", view(connections.try_view), name="connections_try"),
            path("search/", view(palette.palette_view), name="palette"),
            path("rules/", view(rules.rules_view), name="rules"),
            path("rules/law/<str:text_id>/", view(law_page.law_view), name="law"),
            path("rules/<slug:name>/", view(rules.rule_view), name="rule"),
            path("second-factor/", view(second_factor.second_factor_view), name="second_factor"),
            # There is no other site on which to view an object.
            *(each for each in super().get_urls() if getattr(each, "name", None) != "view_on_site"),
        ]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Guard a page as Django does, and keep for its officer the text that a form sends without a session."""
        guarded = super().admin_view(view, cacheable)

        @wraps(guarded)
        def keeping(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.method == "POST":
                if not self.has_permission(request):
                    return kept_words.sign_in_again(request) or guarded(request, *args, **kwargs)
                kept_words.forget(request)
            return guarded(request, *args, **kwargs)

        return keeping

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page has, with the navigation: it is put together where a page shows it."""
        return {**super().each_context(request), "navigation": SimpleLazyObject(lambda: navigation(request))}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return no models: no page shows Django's own list of them, which would be put together for every page."""
        return []

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Ask for name and password, on a page of its own."""
        return pages.login_view(request)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        """Show what waits for the officer, not Django's list of models; on a first run, what is loaded."""
        if first_run.is_shown_first(request):
            return first_run.shown_once(request, redirect("admin:first_run"))
        context = {
            "title": _("Overview"),
            "overview": overview_context(request),
            "reads_record": bool(scope_of(request, Capability.SEE_RECORD)),
        }
        return super().index(request, {**context, **(extra_context or {})})

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the settings, in the place of Django's list of the models of an app."""
        found = settings_context(request) if app_label == "audit" else None
        if not found:
            raise Http404
        context = {**self.each_context(request), "title": _("Settings"), **found, **(extra_context or {})}
        return TemplateResponse(request, "admin/audit/settings/settings.html", context)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Change the officer's own password, which is an entry of the audit trail."""
        context = {**self.each_context(request), **(extra_context or {})}
        view = own_password.OwnPasswordView.as_view(
            success_url=reverse("admin:password_change_done"), extra_context=context
        )
        return view(request)
