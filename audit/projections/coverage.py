"""What verification proves of every column of the database: the table of ``docs/columns.md`` is made from this.

    held         ``verify`` names a value that somebody alters: it follows from the log, or the log has its hash
    recomputed   ``verify --deep`` names it, because it reads the events again
    not held     no command names it: the line says why, and what a forged value changes

A column that is in the database and not here fails a test, and so does one that is here and not in the database. The
forger of the tests changes each column that is held, deletes and adds a row of each table, and demands a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from audit.projections.access import wrong_groups, wrong_keys, wrong_links, wrong_roles
from audit.projections.accounts import wrong_requests
from audit.projections.archived import wrong_months
from audit.projections.cases import wrong_cases
from audit.projections.casinos import wrong_casinos
from audit.projections.clock import wrong_clock
from audit.projections.complaints import wrong_complaints
from audit.projections.deadlines import wrong_deadlines
from audit.projections.deeds import wrong_ends, wrong_erasures, wrong_promotions
from audit.projections.epochs import wrong_epochs
from audit.projections.feed import wrong_contacts, wrong_counters, wrong_feed, wrong_webhooks
from audit.projections.figures import wrong_figures
from audit.projections.found import wrong_findings
from audit.projections.ledger import wrong_ledger
from audit.projections.nights import wrong_nights
from audit.projections.officers import wrong_officers
from audit.projections.receivers import wrong_subscribers, wrong_video_requests
from audit.projections.register import wrong_register
from audit.projections.runs import wrong_runs
from audit.projections.session_closings import wrong_closings
from audit.projections.signers import wrong_signers
from audit.projections.snapshots import wrong_snapshot
from audit.transparency.decisions import wrong_decisions
from audit.transparency.verify import verify
from audit.transparency.verify_tree import TreeVerification

State: TypeAlias = Literal["held", "recomputed", "not held"]


@dataclass(frozen=True, slots=True)
class Line:
    """Columns of a table, what is proved of them, and by which check, or why they are not held and what follows."""

    columns: tuple[str, ...]
    state: State
    why: str


def _held(by: Callable[..., object], columns: str) -> Line:
    return Line(tuple(columns.split()), "held", _name_of(by))


def _recomputed(by: Callable[..., object], columns: str, source: str = "the events") -> Line:
    return Line(tuple(columns.split()), "recomputed", f"{_name_of(by)}, from {source}")


def _not_held(why: str, columns: str) -> Line:
    return Line(tuple(columns.split()), "not held", why)


def _name_of(check: Callable[..., object]) -> str:
    return f"`{check.__module__.replace('.', '/')}.py: {check.__name__}`"


ROW_ID = "this number names the row in this database only; every reference to the row is held by name"
SECRET = "the log may not contain a secret; it records what somebody does with a stolen one under its owner’s name"
ADDRESS = (
    "the log may not contain a person’s address, and a hash of it would tell it to whoever guesses; no role of web"
    " server or worker writes it. A forged one has links mailed elsewhere, and another’s identity linked:"
    " `officer.link_used` and `officer.linked` say so"
)
NAME = "the log may not contain a person’s name or address; a forged one makes a page name the wrong person"
PROCESS = "one process keeps it for a time; `/health/ready` reports work that it did not do, and no evidence changes"
SENDING = (
    "it says how far a message has come; a forged one delays, repeats or drops it, and the desk still shows its content"
)
WHEN = "it says when this database wrote the row; lists are sorted by it, and no finding depends on it"
KEY_OF_SUMS = "it is the key of stored sums; the server ignores sums under another key and adds them up again"
CACHE_KEYS = "these are the log’s own keys; give `verify` the keys that you know with `--key`"
SANDBOX = "it belongs to a sandbox, and a sandbox proves nothing"
WHAT_IF = "it belongs to a what-if run; that run judges nothing until the log records its promotion"
REFUSED = "the server refused this request, so it is no part of the record"
WAITS = "it says since when the row waits and how often it failed; `verify` names a session that no run reads for a day"
NOT_RECORD = "it is no part of the record; a forged one changes what the desk shows or sends, and no evidence changes"
DJANGO = "it belongs to the framework; it gives no right at the desk"
SIGN_IN = (
    "it counts sign-ins; a forged one signs an officer out or allows more attempts, and the log records each sign-in"
)
UNUSED = "no code reads it; the schedule of tasks is code"
GUARD = "it belongs to the guard; a superuser can write it, and the roles of the application cannot"
DERIVED = "the database computes it from the other columns"

TABLES: Mapping[str, tuple[Line, ...]] = {
    # The log
    "log.batch": (
        _held(verify, "stream_id first_seq last_seq next_seq count root chain key_id received_at"),
        _held(wrong_signers, "signature"),
    ),
    "log.checkpoint": (_held(TreeVerification, "number size root note"),),
    "log.clock": (
        _held(wrong_clock, "since began_at"),
        _held(TreeVerification, "received_at"),
        _not_held("it is true in the only row", "is_the_only"),
    ),
    "log.emptied": (_not_held(SANDBOX, "number casino_id streams events last_number emptied_at transaction"),),
    "log.event": (_held(verify, "stream_id seq occurred_at envelope"),),
    "log.key": (_not_held(CACHE_KEYS, "key_id name purpose public_key valid_from reason"),),
    "log.leaf": (_held(TreeVerification, "log_index stream_id first_seq hash"),),
    "log.outbox": (
        _held(verify, "stream_id first_seq"),
        _not_held("it says since when a batch waits; the sealed date is the one of the batch", "received_at"),
    ),
    "log.stream": (
        _held(verify, "stream_id casino_id table_id name gaming_day game ruleset currency is_of_desk"),
        _not_held(WHEN, "opened_at"),
    ),
    "log.stream_head": (_held(verify, "stream_id next_seq chain received_at"),),
    "log.subtree": (_held(TreeVerification, "height index hash"),),
    "log_guard.maintenance": (_not_held(GUARD, "id reason opened_by opened_at closed_at transaction"),),
    # Adjudication
    "audit_adjudication": (
        _recomputed(
            wrong_snapshot,
            "stream_id engine_version what_if_id ruleset readings_digest run_id known_ids cursor next_seq events state"
            " memory closed",
        ),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "updated_at"),
    ),
    "audit_adjudicationrun": (
        _held(
            wrong_runs,
            "stream_id casino_id what_if_id number cause engine_version register_version corrections_through approved"
            " state",
        ),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "began_at completed_at ended_at"),
        _not_held(
            "they name the runs before and after; the numbers of the runs say the same", "replaces_id superseded_by_id"
        ),
        _not_held(WAITS, "tries failed_at next_try_at error_type error"),
    ),
    "audit_retiredwagers": (_recomputed(wrong_snapshot, "run_id through digests saved notes"),),
    "audit_finding": (
        _held(
            wrong_findings,
            "stream_id seq rule wager ruleset engine_version readings_digest casino_id table_id gaming_day occurred_at"
            " severity evidence expected recorded provision facts currency after_loss player croupier provisions causes"
            " difference owed put_right_by opened_at status run_id stood_at year number superseded_at"
            " superseded_by_run_id case_id",
        ),
        _held(wrong_cases, "heads_case"),
        _not_held(ROW_ID, "id"),
        _not_held(DERIVED, "content"),
    ),
    "audit_whatif": (
        _held(wrong_promotions, "promoted_at promoted_by"),
        _not_held(
            WHAT_IF, "id name casino_id readings selection engine_version started_at started_by ended_at streams"
        ),
    ),
    "audit_whatiffinding": (
        _not_held(
            WHAT_IF,
            "id stream_id seq rule wager ruleset engine_version readings_digest casino_id table_id gaming_day"
            " occurred_at severity evidence expected recorded provision facts currency after_loss player croupier"
            " provisions causes difference owed put_right_by opened_at what_if_id",
        ),
    ),
    "audit_waitingstream": (_not_held(WAITS, "stream_id casino_id since hints holder_pid holder_began"),),
    "audit_casinoturn": (_not_held(PROCESS, "casino_id last_turn_at"),),
    "audit_leafcursor": (_not_held(PROCESS, "id next_leaf"),),
    "audit_heartbeat": (_not_held(PROCESS, "name beat_at"),),
    "audit_taskrun": (_not_held(PROCESS, "name ran_at"),),
    "audit_taskfailure": (_not_held(PROCESS, "name failures failed_at error"),),
    "audit_job": (
        _not_held(
            PROCESS,
            "id kind params casino_id officer_id state done total requested_at started_at heartbeat_at ended_at runner"
            " tries stopped_by_id result error file file_name",
        ),
    ),
    # Casework
    "audit_case": (
        _held(wrong_findings, "stream_id seq rule wager casino_id weight opened_at deadline"),
        _held(wrong_cases, "state assigned_to_id outcome reason proposed_by_id approved_by_id closed_at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_caseaction": (
        _held(wrong_cases, "case_id at officer_id type reason about"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_casecontacts": (_held(wrong_contacts, "id casino_id video_room deputy_id"),),
    "audit_complaint": (
        _held(
            wrong_complaints,
            "id casino_id table_id stream_id seq clock wager player came words entered_by_id entered_at deadline",
        ),
    ),
    "audit_complaintanswer": (
        _held(wrong_complaints, "complaint_id outcome amount paid_seq words answered_by_id answered_at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_correctiondecision": (
        _held(
            wrong_decisions,
            "casino_id stream_id seq number verdict officer_id reason decided_at entry_stream entry_seq",
        ),
        _not_held(ROW_ID, "id"),
    ),
    "audit_sessionclosing": (
        _held(wrong_closings, "casino_id stream_id next_seq float_minor reason state proposed_by_id proposed_at"),
        _held(wrong_closings, "decided_by_id decided_at decision_reason"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_deadline": (_held(wrong_deadlines, "casino_id severity hours"), _not_held(ROW_ID, "id")),
    "audit_escalation": (_not_held(SENDING, "id case_id deadline at deputy_id"),),
    "audit_escalationnotice": (
        _not_held(SENDING, "id sent_at failures failing_since next_try_at given_up_at error escalation_id officer_id"),
    ),
    "audit_videorequest": (
        _held(
            wrong_video_requests,
            "id case_id finding_id requested_by_id requested_at address language begins_at ends_at kept_until",
        ),
        _not_held(SENDING, "sent_at failures failing_since next_try_at given_up_at error"),
    ),
    "audit_alert": (_not_held(SENDING, "id casino_id table_id kind since opened_at ended_at ended_by"),),
    "audit_alertmessage": (
        _not_held(
            SENDING,
            "id sent_at failures failing_since next_try_at given_up_at error alert_id webhook_id is_of_end",
        ),
    ),
    "audit_alertnotice": (
        _not_held(
            SENDING,
            "id sent_at failures failing_since next_try_at given_up_at error alert_id officer_id is_of_end",
        ),
    ),
    "audit_savedview": (_not_held(NOT_RECORD, "id officer_id name query is_shared"),),
    # Casinos, tables, keys, the register
    "audit_casino": (
        _held(
            wrong_casinos,
            "id code name time_zone cutoff priority_threshold false_questions reports_from reports_until"
            " silent_after_min is_sandbox",
        ),
    ),
    "audit_gamingtable": (_held(wrong_casinos, "id casino_id code name does_not_report"),),
    "audit_apikey": (
        _held(wrong_keys, "id casino_id name prefix scopes created_at expires_at revoked_at"),
        _held(wrong_signers, "public_key"),
        _not_held(SECRET, "digest"),
        _not_held(WHEN, "last_used_at"),
    ),
    "audit_apikey_tables": (_held(wrong_keys, "apikey_id gamingtable_id"), _not_held(ROW_ID, "id")),
    "audit_quarantined": (
        _not_held(REFUSED, "id casino_id key_id stream seq code detail body digest size received_at purged_at"),
    ),
    "audit_registerentry": (
        _held(
            wrong_register,
            "casino_id table_id ruleset reading value first_day last_day reason state version proposed_by_id"
            " proposed_at decided_by_id decided_at decision_reason",
        ),
        _not_held(ROW_ID, "id"),
    ),
    # Officers
    "audit_officer": (
        _held(wrong_officers, "username is_superuser is_active is_staff created_by_id"),
        _not_held(ROW_ID, "id"),
        _not_held(SECRET, "password"),
        _not_held(NAME, "first_name last_name"),
        _not_held(ADDRESS, "email"),
        _not_held(WHEN, "last_login date_joined"),
    ),
    "audit_officer_casinos": (_held(wrong_roles, "officer_id casino_id role"), _not_held(ROW_ID, "id")),
    "audit_accesslink": (
        _held(wrong_officers, "officer_id is_invitation issued_by_id issued_at expires_at is_shown used_at revoked_at"),
        _held(wrong_officers, "confirmed_at confirmed_by_id"),
        _not_held(SECRET, "token_sha256"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_accountrequest": (
        _held(
            wrong_requests,
            "kind officer_id casino_id role reason state proposed_by_id proposed_at decided_by_id decided_at is_first",
        ),
        _not_held(ADDRESS, "email"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_grouprole": (_held(wrong_groups, "casino_id role group"), _not_held(ROW_ID, "id")),
    "audit_provideraccount": (
        _held(wrong_links, "officer_id issuer"),
        _not_held(SECRET, "subject"),
        _not_held(WHEN, "linked_at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_erasedperson": (
        _held(wrong_erasures, "casino_id code kind reason erased_by_id erased_at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_person": (_not_held(NAME, "id casino_id code kind name card_or_licence note"),),
    "audit_signinrefusal": (_not_held(SIGN_IN, "id starts_at network refusals"),),
    # What is sent out
    "audit_findingchange": (
        _held(wrong_feed, "casino_id table_id finding_id kind position"),
        _not_held(WHEN, "at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_findingcounter": (_held(wrong_counters, "casino_id year last"),),
    "audit_publishedfeed": (_not_held(SENDING, "casino_id position"),),
    "audit_webhook": (
        _held(wrong_webhooks, "id casino_id name url severities receives_alerts is_active"),
        _not_held(
            SENDING,
            "created_at position failures failing_since next_try_at error delivered_at leased_until test_requested_at"
            " tested_at test_result",
        ),
    ),
    "audit_webhooksecret": (
        _not_held(SECRET, "secret"),
        _not_held(SENDING, "id webhook_id created_at expires_at"),
    ),
    "audit_deadletter": (_not_held(SENDING, "id webhook_id change_id error given_up_at again_at sent_at"),),
    # Nights and the ledger
    "audit_nightreport": (
        _held(
            wrong_nights,
            "casino_id gaming_day currency version state tree_size tree_root engine_version content digest through"
            " sheet made_at made_by reviewed_by_id reviewed_at closed_by_id closed_at",
        ),
        _not_held(ROW_ID, "id"),
    ),
    "audit_signoffexception": (
        _held(wrong_nights, "report_id code reason officer_id made_at"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_nightrun": (_not_held(PROCESS, "id casino_id gaming_day started_at started_by ended_at through error"),),
    "audit_nightsubscriber": (
        _held(wrong_subscribers, "id casino_id officer_id language receives_reports receives_alerts"),
    ),
    "audit_nightdelivery": (_not_held(SENDING, "id subscriber_id report_id sent_at"),),
    "audit_sessionfigures": (
        _recomputed(wrong_figures, "waiting figures win_line faults"),
        _not_held(KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "made_at"),
    ),
    "audit_streammoney": (
        _recomputed(wrong_figures, "money"),
        _not_held(KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "made_at"),
    ),
    "audit_streamevidence": (
        _recomputed(wrong_figures, "observations"),
        _not_held(KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "made_at"),
    ),
    "audit_slipuse": (
        _not_held(
            "a night reads the slips of earlier days here; a forged one adds or hides one finding of a later night",
            "id casino_id currency gaming_day stream_id seq slip series number",
        ),
    ),
    "audit_ledgerbatch": (
        _recomputed(wrong_ledger, "casino_id number year content error", "the batches in order, and the events"),
        _not_held(
            "they name the night or session of a batch, and its content does so too",
            "kind gaming_day currency stream_id last_seq log_index edition",
        ),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "engine_version fed_at"),
    ),
    "audit_ledgercursor": (
        _recomputed(wrong_ledger, "casino_id number year ranks expected", "the batches in order"),
        _not_held(WAITS, "next_leaf budget edition"),
    ),
    "audit_ledgerlevel": (
        _recomputed(wrong_ledger, "process_id year alpha opening", "the batches in order"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_ledgerpoint": (
        _recomputed(wrong_ledger, "process_id batch_id draws wealth counts", "the batches in order"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_ledgerprocess": (
        _recomputed(
            wrong_ledger,
            "kind subject variant state wealth highest opening year alpha sessions draws first_day",
            "the batches in order",
        ),
        _not_held(
            "they tell the processes of a subject apart; what each of them has read is held",
            "casino_id name generation null",
        ),
        _not_held(WHEN, "begun_at edition"),
        _held(wrong_ends, "ended_at ended_by ended_reason"),
        _not_held(ROW_ID, "id"),
    ),
    "audit_ledgerquestion": (
        _recomputed(wrong_ledger, "process_id batch_id year alpha draws evidence", "the batches in order"),
        _not_held("it names the finding that it raised, and that finding is held", "finding_id"),
        _not_held(ROW_ID, "id"),
        _not_held(WHEN, "raised_at"),
    ),
    "audit_ledgersetaside": (
        _not_held(
            WAITS,
            "id kind gaming_day currency last_seq log_index content error tries began_at next_try_at casino_id"
            " stream_id",
        ),
    ),
    "audit_ledgeryear": (
        _recomputed(wrong_ledger, "casino_id year budget expected edition", "the levels of its processes"),
        _not_held(ROW_ID, "id"),
    ),
    # The log as its processes keep it
    "audit_archivedmonth": (
        _held(
            wrong_months,
            "month low high state file digest batches events note archived_at entry_stream entry_seq"
            " destruction_note destroyed_at",
        ),
    ),
    "audit_cosignature": (
        _held(TreeVerification, "size root witness vkey line"),
        _not_held(ROW_ID, "id"),
        _not_held("the signed line contains the same time", "cosigned_at"),
        _not_held(WHEN, "received_at"),
    ),
    "audit_leftbatch": (_not_held(PROCESS, "id stream_id first_seq last_seq stream cause found_at"),),
    "audit_logepoch": (
        _held(wrong_epochs, "number origin kept forked_at signed_size note opened_at entry_stream entry_seq"),
    ),
    "audit_logfork": (_not_held(PROCESS, "id leaves signed_size found_at"),),
    "audit_witnessstate": (_not_held(PROCESS, "vkey size cosigned_at tried_at error refused_at"),),
    # Of Django and its apps
    "audit_officer_groups": (_not_held(DJANGO, "id officer_id group_id"),),
    "audit_officer_user_permissions": (_not_held(DJANGO, "id officer_id permission_id"),),
    "auth_group": (_not_held(DJANGO, "id name"),),
    "auth_group_permissions": (_not_held(DJANGO, "id group_id permission_id"),),
    "auth_permission": (_not_held(DJANGO, "id name content_type_id codename"),),
    "axes_accessattempt": (
        _not_held(
            SIGN_IN,
            "id user_agent ip_address username http_accept path_info attempt_time get_data post_data"
            " failures_since_start",
        ),
    ),
    "axes_accessattemptexpiration": (_not_held(SIGN_IN, "access_attempt_id expires_at"),),
    "axes_accessfailurelog": (
        _not_held(SIGN_IN, "id user_agent ip_address username http_accept path_info attempt_time locked_out"),
    ),
    "axes_accesslog": (
        _not_held(
            SIGN_IN, "id user_agent ip_address username http_accept path_info attempt_time logout_time session_hash"
        ),
    ),
    "django_admin_log": (
        _not_held(DJANGO, "id action_time object_id object_repr action_flag change_message content_type_id user_id"),
    ),
    "django_celery_beat_clockedschedule": (_not_held(UNUSED, "id clocked_time"),),
    "django_celery_beat_crontabschedule": (
        _not_held(UNUSED, "id minute hour day_of_week day_of_month month_of_year timezone"),
    ),
    "django_celery_beat_intervalschedule": (_not_held(UNUSED, "id every period"),),
    "django_celery_beat_periodictask": (
        _not_held(
            UNUSED,
            "id name task args kwargs queue exchange routing_key expires enabled last_run_at total_run_count"
            " date_changed description crontab_id interval_id solar_id one_off start_time priority headers clocked_id"
            " expire_seconds",
        ),
    ),
    "django_celery_beat_periodictasks": (_not_held(UNUSED, "ident last_update"),),
    "django_celery_beat_solarschedule": (_not_held(UNUSED, "id event latitude longitude"),),
    "django_content_type": (_not_held(DJANGO, "id app_label model"),),
    "django_migrations": (_not_held(DJANGO, "id app name applied"),),
    "django_session": (_not_held(SIGN_IN, "session_key session_data expire_date"),),
    "otp_static_staticdevice": (
        _not_held(
            SECRET,
            "id name confirmed user_id throttling_failure_count throttling_failure_timestamp created_at last_used_at",
        ),
    ),
    "otp_static_statictoken": (_not_held(SECRET, "id token device_id"),),
    "otp_totp_totpdevice": (
        _not_held(
            SECRET,
            "id name confirmed key step t0 digits tolerance drift last_t user_id throttling_failure_count"
            " throttling_failure_timestamp created_at last_used_at",
        ),
    ),
}
"""Every table, one of the schema ``public`` without its name, and every column of it, once."""

MADE_AGAIN = frozenset({"audit_sessionfigures", "audit_streammoney", "audit_streamevidence"})
"""Tables of sums: a row that is missing is made again, and one under another key serves nobody."""
