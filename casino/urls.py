"""The URLs of the desk, the API and the health checks."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from audit.desk import sections  # noqa: F401  (registers the models of the desk with the admin site)
from casino import health, metrics

handler400 = "casino.errors.bad_request"
handler403 = "casino.errors.permission_denied"
handler404 = "casino.errors.not_found"
handler500 = "casino.errors.server_error"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("audit.api.urls")),
    path("api/v1/schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path(
        "api/v1/docs/",
        # its template has no answer to OPTIONS
        SpectacularSwaggerSplitView.as_view(url_name="schema", http_method_names=["get", "head"]),
        name="docs",
    ),
    path("health/live", health.live),
    path("health/accepts", health.accepts),
    path("health/ready", health.ready),
    path("metrics", metrics.metrics),
]
