"""The addresses of the API, below ``/api/v1/``."""

from django.urls import path, re_path

from audit.api.events import Events, StreamEvents
from audit.api.evidence import FindingBundle
from audit.api.feed import FindingsFeed
from audit.api.findings import Findings, OneFinding, Rules
from audit.api.keyed_view import NoSuchAddress
from audit.api.keys import OwnKey
from audit.api.reconciliations import NightCsv, NightDocuments, NightPdf, NightVersions, NightXlsx
from audit.api.streams import StreamAdjudication, StreamBatches, Streams, StreamStanding, StreamTable
from audit.api.transparency import Consistency, Inclusion, Keys, NewestCheckpoint

urlpatterns = [
    path("events", Events.as_view(), name="events"),
    path("streams/<str:stream>/events", StreamEvents.as_view(), name="stream-events"),
    path("streams/<str:stream>/batches", StreamBatches.as_view(), name="stream-batches"),
    path("streams/<str:stream>/adjudication", StreamAdjudication.as_view(), name="stream-adjudication"),
    path("streams/<str:stream>/table", StreamTable.as_view(), name="stream-table"),
    path("streams", Streams.as_view(), name="streams"),
    path("streams/<str:stream>", StreamStanding.as_view(), name="stream"),
    path("findings", Findings.as_view(), name="findings"),
    path("findings/feed", FindingsFeed.as_view(), name="findings-feed"),
    path("findings/<int:pk>", OneFinding.as_view(), name="finding"),
    path("findings/<int:pk>/bundle", FindingBundle.as_view(), name="finding-bundle"),
    path("reconciliations/<str:casino>/<str:gaming_day>.json", NightDocuments.as_view(), name="night-json"),
    path("reconciliations/<str:casino>/<str:gaming_day>.csv", NightCsv.as_view(), name="night-csv"),
    path("reconciliations/<str:casino>/<str:gaming_day>.xlsx", NightXlsx.as_view(), name="night-xlsx"),
    path("reconciliations/<str:casino>/<str:gaming_day>.pdf", NightPdf.as_view(), name="night-pdf"),
    path("reconciliations/<str:casino>/<str:gaming_day>/versions", NightVersions.as_view(), name="night-versions"),
    path("reconciliations/<str:casino>/<str:gaming_day>", NightDocuments.as_view(), name="night"),
    path("log/checkpoint", NewestCheckpoint.as_view(), name="log-checkpoint"),
    path("log/inclusion", Inclusion.as_view(), name="log-inclusion"),
    path("log/consistency", Consistency.as_view(), name="log-consistency"),
    path("log/key", Keys.as_view(), name="log-key"),
    path("key", OwnKey.as_view(), name="key"),
    path("rules", Rules.as_view(), name="rules"),
    re_path(r"^(?!schema/|docs/)", NoSuchAddress.as_view()),
]
