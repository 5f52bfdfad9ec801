"""What verification proves of every column of the database: the table of ``docs/columns.md`` is made from this.

    held         ``verify`` names a value that somebody alters: it follows from the log, or the log has its hash
    recomputed   ``verify --deep`` names it, because it reads the events again
    not held     no command names it: the line says why, and what a forged value changes

A column that is in the database and not here fails a test, and so does one that is here and not in the database. The
forger of the tests changes each column that is held, deletes and adds a row of each table, and demands a fault.
"""

from __future__ import annotations

from collections.abc import Mapping

from audit.projections import coverage_reasons as why
from audit.projections.access import wrong_groups, wrong_keys, wrong_links, wrong_roles
from audit.projections.accounts import wrong_requests
from audit.projections.archived import wrong_months
from audit.projections.attachments import wrong_attachments
from audit.projections.cases import wrong_cases
from audit.projections.casinos import wrong_casinos
from audit.projections.clock import wrong_clock
from audit.projections.complaints import wrong_complaints
from audit.projections.coverage_lines import Line, held, not_held, recomputed
from audit.projections.coverage_of_django import TABLES_OF_DJANGO
from audit.projections.deadlines import wrong_deadlines
from audit.projections.deeds import wrong_ends, wrong_erasures, wrong_promotions
from audit.projections.epochs import wrong_epochs
from audit.projections.feed import wrong_contacts, wrong_counters, wrong_feed, wrong_webhooks
from audit.projections.figures import wrong_figures
from audit.projections.found import wrong_findings
from audit.projections.information import wrong_information
from audit.projections.ledger import wrong_ledger
from audit.projections.ledger_origins import Origins
from audit.projections.listings import wrong_listings
from audit.projections.night_runs import wrong_night_runs
from audit.projections.nights import wrong_nights
from audit.projections.officers import wrong_officers
from audit.projections.payment_orders import wrong_orders
from audit.projections.push import wrong_push
from audit.projections.receivers import wrong_subscribers, wrong_video_requests
from audit.projections.register import wrong_register
from audit.projections.runs import wrong_runs
from audit.projections.session_closings import wrong_closings
from audit.projections.sightings import wrong_sightings
from audit.projections.signers import wrong_signers
from audit.projections.slip_uses import wrong_slip_uses
from audit.projections.snapshots import wrong_snapshot
from audit.transparency.decisions import wrong_decisions
from audit.transparency.verify import verify
from audit.transparency.verify_tree import TreeVerification

_DELIVERY = "sent_at failures failing_since next_try_at given_up_at error"

TABLES: Mapping[str, tuple[Line, ...]] = {
    # The log
    "log.batch": (
        held(verify, "stream_id first_seq last_seq next_seq count root chain key_id received_at"),
        held(wrong_signers, "signature"),
    ),
    "log.checkpoint": (held(TreeVerification, "number size root note"),),
    "log.clock": (
        held(wrong_clock, "since began_at"),
        held(TreeVerification, "received_at"),
        not_held("it is true in the only row", "is_the_only"),
    ),
    "log.emptied": (not_held(why.SANDBOX, "number casino_id streams events last_number emptied_at transaction"),),
    "log.event": (held(verify, "stream_id seq occurred_at envelope"),),
    "log.key": (not_held(why.CACHE_KEYS, "key_id name purpose public_key valid_from reason"),),
    "log.leaf": (held(TreeVerification, "log_index stream_id first_seq hash"),),
    "log.outbox": (
        held(verify, "stream_id first_seq"),
        not_held("it says since when a batch waits; the sealed date is the one of the batch", "received_at"),
    ),
    "log.stream": (
        held(verify, "stream_id casino_id table_id name gaming_day game ruleset currency is_of_desk"),
        not_held(why.WHEN, "opened_at"),
    ),
    "log.stream_head": (held(verify, "stream_id next_seq chain received_at"),),
    "log.subtree": (held(TreeVerification, "height index hash"),),
    "log_guard.maintenance": (not_held(why.GUARD, "id reason opened_by opened_at closed_at transaction"),),
    # Adjudication
    "audit_adjudication": (
        recomputed(
            wrong_snapshot,
            "stream_id engine_version what_if_id ruleset readings_digest run_id known_ids cursor next_seq events state"
            " memory closed",
        ),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "updated_at"),
    ),
    "audit_adjudicationrun": (
        held(
            wrong_runs,
            "stream_id casino_id what_if_id number cause engine_version register_version corrections_through approved"
            " state",
        ),
        not_held(why.ROW_ID, "id"),
        not_held(why.COMPLETED, "completed_at"),
        not_held(why.WHEN, "began_at ended_at"),
        not_held(
            "they name the runs before and after; the numbers of the runs say the same", "replaces_id superseded_by_id"
        ),
        not_held(why.WAITS, "tries failed_at next_try_at error_type error"),
    ),
    "audit_retiredwagers": (recomputed(wrong_snapshot, "run_id through digests saved notes"),),
    "audit_finding": (
        held(
            wrong_findings,
            "stream_id seq rule wager ruleset engine_version readings_digest casino_id table_id gaming_day occurred_at"
            " severity evidence expected recorded provision facts currency after_loss player croupier provisions causes"
            " difference owed put_right_by opened_at status run_id stood_at year number superseded_at"
            " superseded_by_run_id case_id reference_code",
        ),
        held(wrong_cases, "heads_case"),
        held(wrong_orders, "cleared"),
        not_held(why.ROW_ID, "id"),
        not_held(why.DERIVED, "content"),
    ),
    "audit_whatif": (
        held(wrong_promotions, "promoted_at promoted_by"),
        not_held(
            why.WHAT_IF, "id name casino_id readings selection engine_version started_at started_by ended_at streams"
        ),
    ),
    "audit_whatiffinding": (
        not_held(
            why.WHAT_IF,
            "id stream_id seq rule wager ruleset engine_version readings_digest casino_id table_id gaming_day"
            " occurred_at severity evidence expected recorded provision facts currency after_loss player croupier"
            " provisions causes difference owed put_right_by opened_at what_if_id",
        ),
    ),
    "audit_waitingstream": (not_held(why.WAITS, "stream_id casino_id since hints holder_pid holder_began"),),
    "audit_casinoturn": (not_held(why.PROCESS, "casino_id last_turn_at"),),
    "audit_leafcursor": (not_held(why.PROCESS, "id next_leaf"),),
    "audit_heartbeat": (not_held(why.HEARTBEAT, "name beat_at"),),
    "audit_taskrun": (not_held(why.PROCESS, "name ran_at"),),
    "audit_taskfailure": (not_held(why.PROCESS, "name failures failed_at error"),),
    "audit_job": (
        not_held(
            why.PROCESS,
            "id kind params casino_id officer_id state done total requested_at started_at heartbeat_at ended_at runner"
            " tries stopped_by_id result error file file_name",
        ),
    ),
    # Casework
    "audit_case": (
        held(wrong_findings, "stream_id seq rule wager casino_id weight opened_at deadline"),
        held(wrong_cases, "state assigned_to_id outcome reason proposed_by_id approved_by_id closed_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_caseaction": (
        held(wrong_cases, "case_id at officer_id type reason about"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_casecontacts": (held(wrong_contacts, "id casino_id video_room deputy_id"),),
    "audit_complaint": (
        held(
            wrong_complaints,
            "id casino_id table_id stream_id seq clock wager player came words entered_by_id entered_at deadline",
        ),
    ),
    "audit_complaintanswer": (
        held(wrong_complaints, "complaint_id outcome amount paid_seq words answered_by_id answered_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_informationsigning": (
        held(wrong_information, "id casino_id gaming_day findings digest signed_by_id signed_at"),
    ),
    "audit_correctiondecision": (
        held(
            wrong_decisions,
            "casino_id stream_id seq number verdict officer_id reason decided_at entry_stream entry_seq",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_sessionclosing": (
        held(wrong_closings, "casino_id stream_id next_seq float_minor reason state proposed_by_id proposed_at"),
        held(wrong_closings, "decided_by_id decided_at decision_reason"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_paymentorder": (
        held(
            wrong_orders,
            "casino_id case_id kind reference debtor player amount currency reason state ordered_by_id ordered_at"
            " approved_by_id approved_at ended_by_id ended_at end_reason receipt cage paid_on not_found_on kept_until",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_listing": (
        held(
            wrong_listings,
            "casino_id number kind code last_day reason state proposed_by_id proposed_at approved_by_id approved_at"
            " removal_by_id removal_at removal_reason ended_by_id ended_at end_reason",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_sighting": (
        held(wrong_sightings, "listing_id stream_id gaming_day outcome dismissal dismissed_by_id dismissed_at"),
        not_held(why.SENDING, f"id seen_at {_DELIVERY}"),
    ),
    "audit_deadline": (held(wrong_deadlines, "casino_id severity hours"), not_held(why.ROW_ID, "id")),
    "audit_escalation": (not_held(why.SENDING, "id case_id deadline at deputy_id"),),
    "audit_escalationnotice": (not_held(why.SENDING, f"id {_DELIVERY} escalation_id officer_id"),),
    "audit_videorequest": (
        held(
            wrong_video_requests,
            "id case_id finding_id requested_by_id requested_at address language begins_at ends_at kept_until",
        ),
        not_held(why.SENDING, _DELIVERY),
    ),
    "audit_alert": (not_held(why.SENDING, "id casino_id table_id kind since opened_at ended_at ended_by"),),
    "audit_alertmessage": (not_held(why.SENDING, f"id {_DELIVERY} alert_id webhook_id is_of_end"),),
    "audit_alertnotice": (not_held(why.SENDING, f"id {_DELIVERY} alert_id officer_id is_of_end"),),
    "audit_savedview": (not_held(why.NOT_RECORD, "id officer_id name query is_shared"),),
    "audit_attachment": (
        held(wrong_attachments, "id case_id officer_id at name kind size sha256 content erased_at erased_by_id"),
    ),
    "audit_shiftnote": (not_held(why.NOT_RECORD, "id casino_id officer_id at text"),),
    "audit_inboxdigest": (not_held(why.SENDING, "id casino_id officer_id gaming_day"),),
    # Casinos, tables, keys, the register
    "audit_casino": (
        held(
            wrong_casinos,
            "id code name time_zone cutoff priority_threshold false_questions reports_from reports_until"
            " silent_after_min is_sandbox unclaimed_days reference_code",
        ),
    ),
    "audit_gamingtable": (held(wrong_casinos, "id casino_id code name does_not_report"),),
    "audit_apikey": (
        held(wrong_keys, "id casino_id name prefix scopes created_at expires_at revoked_at"),
        held(wrong_signers, "public_key"),
        not_held(why.SECRET, "digest"),
        not_held(why.WHEN, "last_used_at"),
    ),
    "audit_apikey_tables": (held(wrong_keys, "apikey_id gamingtable_id"), not_held(why.ROW_ID, "id")),
    "audit_quarantined": (
        not_held(why.REFUSED, "id casino_id key_id stream seq code detail body digest size received_at purged_at"),
    ),
    "audit_registerentry": (
        held(
            wrong_register,
            "casino_id table_id ruleset reading value first_day last_day reason state version proposed_by_id"
            " proposed_at decided_by_id decided_at decision_reason",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    # Officers
    "audit_officer": (
        held(wrong_officers, "username is_superuser is_active is_staff created_by_id"),
        not_held(why.ROW_ID, "id"),
        not_held(why.SECRET, "password"),
        not_held(why.NAME, "first_name last_name"),
        not_held(why.ADDRESS, "email"),
        not_held(why.WHEN, "last_login date_joined"),
    ),
    "audit_officer_casinos": (held(wrong_roles, "officer_id casino_id role"), not_held(why.ROW_ID, "id")),
    "audit_accesslink": (
        held(wrong_officers, "officer_id is_invitation issued_by_id issued_at expires_at is_shown used_at revoked_at"),
        held(wrong_officers, "confirmed_at confirmed_by_id"),
        not_held(why.SECRET, "token_sha256"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_accountrequest": (
        held(
            wrong_requests,
            "kind officer_id casino_id role reason state proposed_by_id proposed_at decided_by_id decided_at is_first",
        ),
        not_held(why.ADDRESS, "email"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_grouprole": (held(wrong_groups, "casino_id role group"), not_held(why.ROW_ID, "id")),
    "audit_provideraccount": (
        held(wrong_links, "officer_id issuer"),
        not_held(why.SECRET, "subject"),
        not_held(why.WHEN, "linked_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_erasedperson": (
        held(wrong_erasures, "casino_id code kind reason erased_by_id erased_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_person": (not_held(why.NAME, "id casino_id code kind name card_or_licence note"),),
    "audit_signinrefusal": (not_held(why.SIGN_IN, "id starts_at network refusals"),),
    # What is sent out
    "audit_findingchange": (
        held(wrong_feed, "casino_id table_id finding_id kind position"),
        not_held(why.WHEN, "at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_findingcounter": (held(wrong_counters, "casino_id year last"),),
    "audit_publishedfeed": (not_held(why.SENDING, "casino_id position"),),
    "audit_webhook": (
        held(wrong_webhooks, "id casino_id name url severities receives_alerts is_active"),
        not_held(
            why.SENDING,
            "created_at position failures failing_since next_try_at error delivered_at leased_until test_requested_at"
            " tested_at test_result",
        ),
    ),
    "audit_webhooksecret": (
        not_held(why.SECRET, "secret"),
        not_held(why.SENDING, "id webhook_id created_at expires_at"),
    ),
    "audit_pushkey": (
        not_held(why.SECRET, "private"),
        not_held("a browser refuses what another key signs: a forged one stops notifications", "id public created_at"),
    ),
    "audit_pushsubscription": (
        held(wrong_push, "officer_id endpoint public_key"),
        not_held(why.SECRET, "auth"),
        not_held(why.NOT_RECORD, "language browser"),
        not_held(why.WHEN, "created_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_pushmessage": (not_held(why.SENDING, f"id {_DELIVERY} subscription_id kind about"),),
    "audit_deadletter": (not_held(why.SENDING, "id webhook_id change_id error given_up_at again_at sent_at"),),
    # Nights and the ledger
    "audit_nightreport": (
        held(
            wrong_nights,
            "casino_id gaming_day currency version state tree_size tree_root engine_version content digest through"
            " sheet made_at made_by reviewed_by_id reviewed_at closed_by_id closed_at",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_signoffexception": (
        held(wrong_nights, "report_id code reason officer_id made_at"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_nightrun": (
        held(wrong_night_runs, "id casino_id gaming_day started_at started_by ended_at through"),
        not_held("it says why the run has not ended; whoever reads the night’s page sees it", "error"),
    ),
    "audit_nightsubscriber": (
        held(wrong_subscribers, "id casino_id officer_id language receives_reports receives_alerts"),
    ),
    "audit_reopenednotice": (not_held(why.SENDING, "id report_id officer_id"),),
    "audit_nightdelivery": (not_held(why.SENDING, "id subscriber_id report_id sent_at"),),
    "audit_sessionfigures": (
        recomputed(wrong_figures, "waiting figures win_line faults"),
        not_held(why.KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "made_at"),
    ),
    "audit_streammoney": (
        recomputed(wrong_figures, "money"),
        not_held(why.KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "made_at"),
    ),
    "audit_streamevidence": (
        recomputed(wrong_figures, "observations"),
        not_held(why.KEY_OF_SUMS, "stream_id last_seq engine_version readings corrections"),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "made_at"),
    ),
    "audit_slipuse": (
        recomputed(
            wrong_slip_uses,
            "casino_id currency gaming_day stream_id seq slip series number",
            "figures, as far as the newest run of the night has read",
        ),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_ledgerbatch": (
        recomputed(wrong_ledger, "casino_id number year content error edition", "the batches in order, and the events"),
        recomputed(
            Origins, "kind gaming_day currency stream_id last_seq log_index", "the log, and the first counted reports"
        ),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "engine_version fed_at"),
    ),
    "audit_ledgercursor": (
        recomputed(wrong_ledger, "casino_id number year ranks expected edition budget", "the batches in order"),
        not_held(
            "one too far on keeps sessions from being fed; `verify --deep` names each that it passed", "next_leaf"
        ),
    ),
    "audit_ledgerlevel": (
        recomputed(wrong_ledger, "process_id year alpha opening", "the batches in order"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_ledgerpoint": (
        recomputed(wrong_ledger, "process_id batch_id draws wealth counts", "the batches in order"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_ledgerprocess": (
        recomputed(
            wrong_ledger,
            "kind subject variant state wealth highest opening year alpha sessions draws first_day",
            "the batches in order",
        ),
        recomputed(wrong_ledger, "casino_id name edition", "the batches in order"),
        not_held("it counts the processes of a subject; what each of them has read is held", "generation"),
        not_held("it is a sentence that pages show; the kind says which null hypothesis was tried", "null"),
        not_held(why.WHEN, "begun_at"),
        held(wrong_ends, "ended_at ended_by ended_reason"),
        not_held(why.ROW_ID, "id"),
    ),
    "audit_ledgerquestion": (
        recomputed(wrong_ledger, "process_id batch_id year alpha draws evidence", "the batches in order"),
        not_held("it names the finding that it raised, and that finding is held", "finding_id"),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "raised_at"),
    ),
    "audit_ledgersetaside": (
        recomputed(
            Origins,
            "casino_id kind gaming_day currency stream_id last_seq log_index next_try_at",
            "the log, and the first counted reports",
        ),
        not_held("it is fed within a day, and what is fed is recomputed", "content"),
        not_held("they say how often it failed and why; `/health/ready` names what is set aside", "error tries"),
        not_held(why.ROW_ID, "id"),
        not_held(why.WHEN, "began_at"),
    ),
    "audit_ledgeryear": (
        recomputed(wrong_ledger, "casino_id year budget expected edition", "the levels of its processes"),
        not_held(why.ROW_ID, "id"),
    ),
    # The log as its processes keep it
    "audit_archivedmonth": (
        held(
            wrong_months,
            "month low high state file digest batches events note archived_at entry_stream entry_seq"
            " destruction_note destroyed_at",
        ),
    ),
    "audit_cosignature": (
        held(TreeVerification, "size root witness vkey line"),
        not_held(why.ROW_ID, "id"),
        not_held("the signed line contains the same time", "cosigned_at"),
        not_held(why.WHEN, "received_at"),
    ),
    "audit_leftbatch": (not_held(why.PROCESS, "id stream_id first_seq last_seq stream cause found_at"),),
    "audit_logepoch": (
        held(wrong_epochs, "number origin kept forked_at signed_size note opened_at entry_stream entry_seq"),
    ),
    "audit_logfork": (not_held(why.PROCESS, "id leaves signed_size found_at"),),
    "audit_witnessstate": (not_held(why.PROCESS, "vkey size cosigned_at tried_at error refused_at"),),
    **TABLES_OF_DJANGO,
}
"""Every table, one of the schema ``public`` without its name, and every column of it, once."""

MADE_AGAIN = frozenset({"audit_sessionfigures", "audit_streammoney", "audit_streamevidence"})
"""Tables of sums: a row that is missing is made again, and one under another key serves nobody."""
