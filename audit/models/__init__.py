"""The tables that Django manages, and read-only views of the log, which it does not."""

from audit.models.accounts import AccessLink, AccountRequest, RequestKind, RequestState, SignInRefusal
from audit.models.adjudication import Adjudication, Finding, FindingCounter, FindingStatus, RetiredWagers, WhatIfFinding
from audit.models.alerts import Alert, AlertEnd, AlertKind, AlertMessage, AlertNotice
from audit.models.api_keys import DEFAULT_SCOPES, ApiKey, KeyScope
from audit.models.archive import ArchivedMonth, ArchiveState
from audit.models.attachments import Attachment, FileKind
from audit.models.case_messages import CaseContacts, Escalation, EscalationNotice, VideoRequest
from audit.models.cases import Case, CaseAction, Deadline, SavedView
from audit.models.casinos import Casino, GamingTable
from audit.models.complaints import Complaint, ComplaintAnswer
from audit.models.corrections import (
    CORRECTION_RULES,
    Correction,
    CorrectionDecision,
    CorrectionState,
    Verdict,
)
from audit.models.epochs import LeftBatch, LogEpoch, LogFork
from audit.models.event_store import FIRST_SANDBOX_ID, LoggedBatch, LoggedEvent, LoggedStream
from audit.models.feed import ChangeKind, FindingChange, PublishedFeed
from audit.models.information import InformationSigning
from audit.models.jobs import Job, JobKind, JobState
from audit.models.ledger import (
    BatchKind,
    LedgerBatch,
    LedgerCursor,
    LedgerLevel,
    LedgerPoint,
    LedgerProcess,
    LedgerQuestion,
    LedgerSetAside,
    LedgerYear,
    StreamEvidence,
)
from audit.models.listings import IN_FORCE, UNDECIDED, Listing, ListKind, ListState, Sighting, SightingOutcome
from audit.models.money import StreamMoney
from audit.models.nights import (
    NightDelivery,
    NightReport,
    NightRun,
    NightState,
    NightSubscriber,
    ReopenedNotice,
    SessionFigures,
    SignoffException,
)
from audit.models.officers import Membership, Officer, Role
from audit.models.payment_orders import CLEARED, OPEN_ORDERS, OrderKind, OrderState, PaymentOrder
from audit.models.persons import ErasedPerson, Person, PersonKind
from audit.models.push import PushKey, PushKind, PushMessage, PushSubscription
from audit.models.quarantine import Quarantined
from audit.models.register import RegisterEntry
from audit.models.replay_queue import CasinoTurn, Heartbeat, LeafCursor, TaskFailure, TaskRun, WaitingStream
from audit.models.runs import AdjudicationRun, FailedRun, RunCause, RunState, WhatIf
from audit.models.session_closing import SessionClosing
from audit.models.shift_notes import InboxDigest, ShiftNote
from audit.models.sign_on import GroupRole, ProviderAccount
from audit.models.slips import SlipUse
from audit.models.webhooks import DeadLetter, Webhook, WebhookSecret
from audit.models.witnesses import Cosignature, WitnessState
