"""The tables that Django manages, and read-only views of the log, which it does not."""

from audit.models.adjudication import Adjudication, Finding, RetiredWagers, WhatIf, WhatIfFinding
from audit.models.api_keys import ApiKey, KeyScope
from audit.models.cases import Case, CaseAction, Deadline, SavedView
from audit.models.casinos import Casino, GamingTable
from audit.models.event_store import LoggedBatch, LoggedEvent, LoggedStream
from audit.models.jobs import Job, JobKind, JobState
from audit.models.nights import (
    NightDelivery,
    NightReport,
    NightRun,
    NightState,
    NightSubscriber,
    SessionFigures,
    SignoffException,
)
from audit.models.officers import Membership, Officer, Role
from audit.models.quarantine import Quarantined

__all__ = [
    "Adjudication",
    "ApiKey",
    "Case",
    "CaseAction",
    "Casino",
    "Deadline",
    "Finding",
    "GamingTable",
    "Job",
    "JobKind",
    "JobState",
    "KeyScope",
    "LoggedBatch",
    "LoggedEvent",
    "LoggedStream",
    "Membership",
    "NightDelivery",
    "NightReport",
    "NightRun",
    "NightState",
    "NightSubscriber",
    "Officer",
    "Quarantined",
    "RetiredWagers",
    "Role",
    "SavedView",
    "SessionFigures",
    "SignoffException",
    "WhatIf",
    "WhatIfFinding",
]
