"""The tables that Django manages, and read-only views of the log, which it does not."""

from audit.models.adjudications import Adjudication, Beside, BesideFinding, Finding, RetiredWagers
from audit.models.houses import Casino, GamingTable
from audit.models.keys import ApiKey, Scope
from audit.models.log import LoggedBatch, LoggedEvent, LoggedStream
from audit.models.officers import Officer
from audit.models.quarantine import Quarantined

__all__ = [
    "Adjudication",
    "ApiKey",
    "Beside",
    "BesideFinding",
    "Casino",
    "Finding",
    "GamingTable",
    "LoggedBatch",
    "LoggedEvent",
    "LoggedStream",
    "Officer",
    "Quarantined",
    "RetiredWagers",
    "Scope",
]
