"""The tables that Django manages, and read-only views of the log, which it does not."""

from audit.models.adjudications import Adjudication, Beside, BesideFinding, Finding, RetiredWagers
from audit.models.cases import Case, CaseAct, Deadline, SavedView
from audit.models.houses import Casino, GamingTable
from audit.models.keys import ApiKey, Scope
from audit.models.log import LoggedBatch, LoggedEvent, LoggedStream
from audit.models.nights import (
    NightDelivery,
    NightReport,
    NightRun,
    NightState,
    NightSubscriber,
    Reservation,
    SessionFigures,
)
from audit.models.officers import Membership, Officer, Role
from audit.models.quarantine import Quarantined
from audit.models.works import Work, WorkKind, WorkState

__all__ = [
    "Adjudication",
    "ApiKey",
    "Beside",
    "BesideFinding",
    "Case",
    "CaseAct",
    "Casino",
    "Deadline",
    "Finding",
    "GamingTable",
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
    "Reservation",
    "RetiredWagers",
    "Role",
    "SavedView",
    "Scope",
    "SessionFigures",
    "Work",
    "WorkKind",
    "WorkState",
]
