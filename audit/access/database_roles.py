"""The roles of the database, and what each may do: one manifest, which every migrate applies and every check compares.

| role | who is a member | may |
|---|---|---|
| ``cabochon_owner`` | nobody; it signs in between nodes alone | owns every table and the functions below |
| ``cabochon_web`` | web servers | what the desk and the API need, in addition to reading and appending |
| ``cabochon_worker`` | workers | what replay, nights and jobs need, in addition to reading and appending |
| ``cabochon_beat`` | beat | its heartbeat; reads when tasks ran, and when the days of casinos end |
| ``cabochon_sequencer`` | the sequencer | seal batches, register keys, keep cosignatures, report tampering; reads |
| ``cabochon_operator`` | who runs commands | what the four above may, and make officers by a command |
| ``cabochon_writer`` | web and worker | append to the log, open its streams |
| ``cabochon_reader`` | web, worker, sequencer; auditors | read the record, without passwords, keys and sessions |

No role may rewrite a finding's identity, an action, a signature, an account, its role, link or password, a request
about it, the house register, or a decision on a correction: functions write these, each with its entry of the audit
trail (``audit/event_store/sql/entries.sql``). Add a line here for each new table or function; until then a test and
``manage.py check --deploy --database default`` name it.

``audit.access.applied_roles`` gives each role exactly this, and compares.
"""

from __future__ import annotations

from collections.abc import Mapping

OWNER, WEB, WORKER, BEAT, SEQUENCER, OPERATOR, WRITER, READER = ROLES = (
    "cabochon_owner",
    "cabochon_web",
    "cabochon_worker",
    "cabochon_beat",
    "cabochon_sequencer",
    "cabochon_operator",
    "cabochon_writer",
    "cabochon_reader",
)

EVERYBODY = "public"

MEMBERSHIPS: Mapping[str, tuple[str, ...]] = {
    WEB: (WRITER, READER),
    WORKER: (WRITER, READER),
    SEQUENCER: (READER,),
    OPERATOR: (WEB, WORKER, BEAT, SEQUENCER),
}
"""Of which roles each is a member."""

SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "public": dict.fromkeys((EVERYBODY, *ROLES), "usage"),
    "log": dict.fromkeys((OWNER, SEQUENCER, WRITER, READER), "usage"),
    "log_guard": {},
}

_READ = {READER: "select"}
_INSERTED = {READER: "select", WORKER: "insert"}
_KEPT = {READER: "select", WORKER: "insert, update, delete"}
_ALL, _DELIVERY = "select, insert, update, delete", "sent_at, failures, failing_since, next_try_at, given_up_at, error"

TABLES: Mapping[str, Mapping[str, str]] = {
    # The log: written by its functions alone.
    **{
        f"log.{name}": _READ
        for name in "stream stream_head event batch outbox leaf subtree checkpoint key clock emptied".split()
    },
    **{f"log_guard.{name}": {} for name in ("maintenance", "foreign_grant", "misplaced")},
    # Adjudication: workers compute it. A finding is never deleted, and what it is about never changes.
    "audit_adjudication": {**_READ, WORKER: "insert, update"},
    "audit_retiredwagers": {**_READ, WORKER: "insert, delete"},
    **{f"audit_{name}": _KEPT for name in ("waitingstream", "casinoturn", "leafcursor", "whatiffinding")},
    "audit_heartbeat": {
        **_READ,
        **dict.fromkeys((WEB, SEQUENCER), "insert, update"),
        WORKER: "insert, update, delete",
        BEAT: "select, insert, update",
    },
    "audit_taskrun": {**_KEPT, BEAT: "select"},  # a web server hides no task that no longer runs, nor one that fails
    "audit_taskfailure": {**_READ, **dict.fromkeys((WORKER, SEQUENCER), "insert, update")},
    "audit_cosignature": {**_READ, SEQUENCER: "insert"},  # never changed
    **{f"audit_{name}": {**_READ, SEQUENCER: "insert, update, delete"} for name in ("logfork", "leftbatch")},
    "audit_witnessstate": {**_READ, SEQUENCER: "insert, update"},
    "audit_finding": {
        **_READ,
        # What a finding of a run says never changes: a trigger. One of the night is amended where it is.
        WORKER: "insert, update (run_id, status, stood_at, superseded_at, superseded_by_run_id, severity, evidence,"
        " expected, recorded, provision, facts, currency, occurred_at, after_loss, player, croupier, provisions,"
        " causes, difference, owed, put_right_by, year, number)",
    },
    "audit_adjudicationrun": {**_READ, WEB: "update (next_try_at)", WORKER: "insert, update"},
    "audit_whatif": {
        **_READ,
        WEB: "insert, update (streams, promoted_at, promoted_by)",
        WORKER: "insert, update (streams, ended_at)",
    },
    # Casework: a case is opened by its finding and moves under its trigger; an action is never changed.
    "audit_case": {
        **_READ,
        WEB: "update (state, assigned_to_id, outcome, reason, proposed_by_id, approved_by_id, closed_at)",
    },
    **{
        f"audit_{name}": {**_READ, WEB: "insert"}
        for name in ("caseaction", "complaint", "complaintanswer", "informationsigning", "shiftnote")
    },
    # Files may name persons: no reader has them. A file is erased, and its hash stays.
    "audit_attachment": {
        READER: "select (id, case_id, officer_id, at, kind, size, sha256, erased_at, erased_by_id)",
        WEB: "select, insert, update (content, name, erased_at, erased_by_id)",
    },
    # A web server ends the pauses of messages that a receiver has refused, and nothing else of them.
    "audit_videorequest": {**_READ, WEB: "insert, update (next_try_at)", WORKER: f"update ({_DELIVERY})"},
    **{
        f"audit_{name}notice": {**_READ, WEB: "update (next_try_at)", WORKER: f"insert, update ({_DELIVERY})"}
        for name in ("escalation", "alert")
    },
    "audit_deadline": {**_READ, OPERATOR: "insert, update, delete"},  # the desk by functions
    # Alerts: a sweep opens and ends them; what one says never changes.
    "audit_alert": {**_READ, WORKER: "insert, update (ended_at, ended_by)"},
    "audit_alertmessage": {**_READ, WEB: "update (next_try_at)", WORKER: f"insert, update ({_DELIVERY})"},
    "audit_savedview": {**_READ, WEB: "insert, update, delete"},
    "audit_slipuse": {**_READ, WORKER: "insert, delete"},  # nights: a worker writes a version, signed by functions
    **{f"audit_{name}": _INSERTED for name in ("escalation", "sessionfigures", "streammoney", "streamevidence")},
    **{f"audit_ledger{name}": _INSERTED for name in ("batch", "level", "point", "question", "year")},
    "audit_ledgercursor": {**_READ, WORKER: "insert, update"},
    "audit_ledgersetaside": {**_READ, WEB: "update (next_try_at)", WORKER: "insert, update, delete"},
    "audit_ledgerprocess": {  # what was fed, and raised, never changes
        **_READ,
        WEB: "update (ended_at, ended_by, ended_reason)",
        WORKER: "insert, update (state, wealth, highest, opening, year, alpha, sessions, draws, first_day)",
    },
    "audit_nightrun": {**_READ, WEB: "insert", WORKER: "insert, update (ended_at, error)"},
    "audit_nightreport": {**_READ, WORKER: "insert"},
    "audit_signoffexception": _READ,
    "audit_nightsubscriber": {**_READ, WEB: "insert, update, delete"},
    **{f"audit_{name}": _INSERTED for name in ("inboxdigest", "reopenednotice")},
    "audit_sighting": {**_READ, WORKER: f"insert, update ({_DELIVERY})"},
    "audit_nightdelivery": {**_READ, WEB: "delete", WORKER: "insert"},  # deleted with its subscriber
    # Casinos, tables, keys, webhooks: written by functions. Commands do more. One reconciliation at a time locks the
    # casino's row, which takes a right to change it.
    "audit_casino": {
        **_READ,
        WORKER: "update (name)",
        BEAT: "select (id, code, cutoff, time_zone, is_sandbox)",
        OPERATOR: "insert, update",
    },
    "audit_gamingtable": {**_READ, OPERATOR: "insert, update"},
    "audit_casecontacts": {**_READ, WEB: "insert, update"},
    # Names are not of the record, and are erased by a function.
    "audit_person": {READER: "select (id, casino_id, code, kind)", WEB: "select, insert, update", WORKER: "select"},
    "audit_apikey": {
        READER: "select (id, casino_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at,"
        " public_key)",
        WEB: "select, update (last_used_at)",
        WORKER: "select",
        OPERATOR: "insert, update",
    },
    "audit_apikey_tables": {**_READ, OPERATOR: "insert, delete"},
    "audit_quarantined": {**_READ, WEB: "insert", WORKER: "update (body, purged_at)"},
    "audit_job": {  # whose it is, and what was asked, never changes: its file is for that officer alone
        **_READ,
        WEB: "insert, update (stopped_by_id)",
        WORKER: "update (state, runner, started_at, heartbeat_at, ended_at, tries, done, total, result, error, file,"
        " file_name)",
    },
    # The feed is written by triggers. A web server hands in the secrets of webhooks, and cannot read them.
    "audit_findingchange": _READ,
    "audit_publishedfeed": {**_READ, WORKER: "insert, update"},
    "audit_webhook": {
        **_READ,
        OPERATOR: "insert, update",
        WORKER: "update (position, failures, failing_since, next_try_at, error, delivered_at, leased_until, is_active,"
        " test_requested_at, tested_at, test_result)",
    },
    "audit_webhooksecret": {
        READER: "select (id, webhook_id, created_at, expires_at)",
        WORKER: "select",
        OPERATOR: "insert, update",
    },
    # So with what encrypts to a browser, and with the key that signs to push services. Rows are written by functions; a
    # worker ends those that a push service does not know any more.
    "audit_pushkey": {READER: "select (id, public, created_at)", WORKER: "select, insert"},
    "audit_pushsubscription": {
        READER: "select (id, officer_id, endpoint, public_key, language, browser, created_at)",
        WORKER: "select, delete",
    },
    "audit_pushmessage": {**_READ, WORKER: f"insert, delete, update ({_DELIVERY})"},
    "audit_deadletter": {**_READ, WEB: "update (again_at)", WORKER: "insert, update (error, again_at, sent_at)"},
    # Officers: accounts, passwords, roles, links and requests are written by functions. Commands do more.
    "audit_officer": {
        READER: "select (id, username, first_name, last_name, email, is_active, is_staff, is_superuser, date_joined,"
        " last_login, created_by_id)",
        WEB: "select, update (last_login)",
        WORKER: "select",
        OPERATOR: "update (username, first_name, last_name, email, is_active)",
    },
    "audit_officer_casinos": _READ,
    "audit_accesslink": {
        READER: "select (id, officer_id, is_invitation, issued_by_id, issued_at, expires_at, is_shown, used_at,"
        " revoked_at, confirmed_at, confirmed_by_id)",
        WEB: "select",
    },
    **{f"audit_{name}": _READ for name in ("accountrequest", "grouprole")},
    "audit_provideraccount": {READER: "select (id, officer_id, issuer, linked_at)", WEB: "select"},
    "audit_signinrefusal": {WEB: _ALL, WORKER: "select, update, delete"},
    # The house register, decisions on corrections, epochs and archived months of the log: written by functions.
    **{f"audit_{name}": _READ for name in ("registerentry", "correctiondecision", "logepoch", "archivedmonth")},
    **{f"audit_{name}": _READ for name in ("sessionclosing", "erasedperson", "findingcounter")},  # by functions, too
    **{f"audit_{name}": _READ for name in ("paymentorder", "listing")},  # by functions, too
    **{f"audit_officer_{name}": {WEB: "select"} for name in ("groups", "user_permissions")},
    # Of Django and its apps.
    **{f"auth_{name}": {WEB: "select"} for name in ("group", "group_permissions", "permission")},
    "django_content_type": {WEB: "select", WORKER: "select"},
    "django_admin_log": {WEB: "select, insert"},
    "django_session": {WEB: _ALL},
    "django_migrations": _READ,
    **{f"axes_accessattempt{suffix}": {WEB: _ALL, WORKER: "select, delete"} for suffix in ("", "expiration")},
    **{f"axes_access{name}": {WEB: _ALL} for name in ("failurelog", "log")},
    # A second factor is put into use and taken away by functions; a trigger keeps whose it is, and its secret.
    "otp_static_staticdevice": {WEB: "select, update", OPERATOR: "insert, delete"},
    "otp_static_statictoken": {WEB: "select, delete", OPERATOR: "insert"},  # a recovery code is good once
    "otp_totp_totpdevice": {WEB: "select, insert, update", OPERATOR: "delete"},
    # Periodic tasks are code. A landed migration depends on this app: its tables stay, and nobody uses them.
    **{
        f"django_celery_beat_{name}": {}
        for name in "clockedschedule crontabschedule intervalschedule periodictask periodictasks solarschedule".split()
    },
}
"""What each role may do to a table or view. A table of the schema public has no schema in its name."""

_ACCOUNT_ENTRIES = (
    *("invited", "link_issued", "link_used", "confirmed", "renamed", "deactivated", "second_factor"),
    *("role_narrowed", "role_removed", "role_by_groups", "first_administrator", "linked", "unlinked"),
)
_REQUEST_ENTRIES = tuple(
    f"{kind}_{verb}"
    for kind in ("role", "second_factor", "email", "reactivation")
    for verb in ("proposed", "approved", "declined", "withdrawn")
)
_OF_ACCOUNTS = (
    *("officer_of", "own_account", "casinos_of", "keeps", "keeps_at", "is_in_own_trail", "role_is_within"),
    *("demand_keeper", "demand_keeper_at", "demand_own_trail", "demand_command"),
    *("set_superuser", "set_role", "revoke_links", "propose_request", "decide_request", "carry_out_request"),
)

FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    # Of the log.
    "log.append": (WRITER,),
    "log.append_named": (WRITER,),
    **{f"log.{name}": (WRITER,) for name in ("open_stream", "open_sandbox_stream")},
    "log.open_desk": (WRITER,),
    "log.hold": (WRITER,),
    "log.seal": (SEQUENCER,),
    "log.register_key": (SEQUENCER,),
    **{f"log.{name}": (OWNER,) for name in ("ensure_month", "is_being_emptied")},
    **{f"log.{name}": () for name in ("leave_unsealed", "demand_space", "empty_sandbox")},
    # Nobody is granted what takes a partition away: months go into the archive by the account that owns the log.
    **{f"log.{name}": () for name in ("protect", "refuse", "refuse_step_back", "refuse_earlier")},
    **{f"log.{name}": () for name in ("month_range", "refuse_archived", "stage_month", "swap_month")},
    # Doors: what they do is in the functions after them, which nobody calls in another way.
    "audit_perform_act": (WEB,),
    "audit_perform_command": (OPERATOR,),
    "audit_perform": (),
    **{f"audit_act_officer_{verb}": () for verb in ("added", "made_superuser", "unmade_superuser", "password_changed")},
    **{f"audit_act_{of}_{verb}": () for of in ("membership", "group") for verb in ("given", "removed")},
    **{f"audit_act_officer_{verb}": () for verb in (*_ACCOUNT_ENTRIES, *_REQUEST_ENTRIES)},
    **{f"audit_act_deadline_{verb}": () for verb in ("added", "changed", "deleted")},
    **{f"audit_{name}": () for name in ("set_deadline", "demand_deadline_keeper")},
    **{f"audit_act_key_{verb}": () for verb in ("made", "rotated", "revoked")},
    **{f"audit_{name}": () for name in ("begin_key", "demand_key_keeper")},
    **{f"audit_act_{of}_{verb}": () for of in ("casino", "gamingtable") for verb in ("added", "changed")},
    **{f"audit_{name}": () for name in ("set_casino", "set_table", "settings_of", "demand_next_id")},
    "audit_next_id": (WEB,),
    "audit_free_reference_code": (WEB,),
    "audit_give_reference_code": (),
    **{f"audit_act_webhook_{verb}": () for verb in ("created", "changed", "rotated", "tested")},
    **{f"audit_{name}": () for name in ("set_webhook", "sign_webhook_with", "demand_webhook")},
    **{f"audit_act_push_{verb}": () for verb in ("subscribed", "ended")},
    **{f"audit_{name}_push": () for name in ("demand_own", "delete", "end")},
    **{f"audit_act_night_{verb}": () for verb in ("reviewed", "closed", "reserved")},
    "audit_active_officer": (),
    **{f"audit_{name}": () for name in _OF_ACCOUNTS},
    **{f"audit_act_register_{verb}": () for verb in ("proposed", "approved", "declined", "withdrawn")},
    **{f"audit_{name}": () for name in ("keeps_register", "decide_register_entry", "guard_register_entry")},
    **{f"audit_{name}": () for name in ("is_integer", "reading_is_readable")},
    **{f"audit_act_correction_{verb}": () for verb in ("countersigned", "refused")},
    **{f"audit_{name}": () for name in ("decides_corrections", "decide_correction", "guard_correction_decision")},
    **{f"audit_act_session_closing_{verb}": () for verb in ("proposed", "approved", "declined", "withdrawn")},
    **{f"audit_{name}": () for name in ("session_to_close", "decide_session_closing", "guard_session_closing")},
    **{f"audit_act_payment_{verb}": () for verb in ("ordered", "approved", "paid", "cancelled")},
    **{f"audit_act_waiver_{verb}": () for verb in ("proposed", "approved", "cancelled")},
    **{f"audit_act_not_found_{verb}": () for verb in ("stated", "approved", "handed_over", "cancelled")},
    **{f"audit_{name}": () for name in ("begin_order", "go_on_with_order", "guard_payment_order", "minor_units")},
    **{f"audit_{name}": () for name in ("may_order", "clear_claim", "clear_found", "keep_cleared")},
    **{f"audit_act_listing_{verb}": () for verb in ("proposed", "approved", "declined", "dismissed")},
    **{f"audit_act_listing_removal_{verb}": () for verb in ("proposed", "approved", "declined")},
    **{f"audit_{name}_listing": () for name in ("go_on_with", "guard")},
    **{f"audit_act_log_{verb}": () for verb in ("recovered", "archived", "attached", "detached", "destroyed")},
    **{f"audit_{name}": () for name in ("report_of", "demand_log_owner", "demand_nothing_open", "move_archived")},
    **{f"audit_{name}": () for name in ("act_person_erased", "as_ascii", "as_json_ascii", "keep_public_key")},
    **{f"audit_{name}": () for name in ("act_sandbox_emptied", "keep_sandbox")},
    "audit_report_to_sign": (),
    "audit_report_integrity": (WEB, SEQUENCER),
    # What is active, and which run judges, is so for who acts and for who checks.
    "audit_key_is_active": (READER,),
    "audit_account_is_active": (READER,),
    "audit_role_is_active": (),
    "audit_judging_run": (READER,),
    # Four eyes are of two people.
    "audit_same_hands": (WEB,),
    "audit_same_hands_at": (READER,),  # of a decision that is verified
    **{f"audit_{name}": () for name in ("hands_of", "hands_since", "last_link")},
    "audit_cannot_confirm": (WEB,),
    "audit_may_decide": (WEB,),
    # Numbers the changes of findings that are committed.
    "audit_number_changes": (WEB, WORKER),
    # Of a generated column.
    "audit_finding_content": (WORKER,),
    **{f"audit_{name}": (WORKER,) for name in ("number_findings", "number_run")},
    # Of triggers.
    "audit_case_of": (),
    "audit_case_of_person": (),
    "audit_before_video_ends": (),
    "audit_video_days": (),
    "audit_deadline_of": (),
    "audit_incident_case": (),
    "audit_head_of_case": (),
    "audit_open_case": (),
    "audit_opens_case": (),
    **{f"audit_{name}_finding": () for name in ("guard", "keep", "number", "publish")},
    "audit_publish_case": (),
    "audit_note_change": (),
    "audit_guard_run": (),
    "audit_guard_heartbeat": (),
    "audit_guard_night_run": (),
    "audit_guard_case_hands": (),
    "audit_guard_night_hands": (),
    "audit_guard_account_request": (),
    "audit_guard_access_link": (),
    "audit_guard_officer": (),
    "audit_guard_second_factor": (),
    "audit_guard_case": (),
    "audit_guard_attachment": (),
    "audit_hashed_file": (READER,),
    "audit_keep_night": (),
    "audit_keep_reservation": (),
}
"""Who may call a function, beyond its owner. Functions of ``log_guard`` run by triggers alone."""

ON_A_CLUSTER: Mapping[str, tuple[str, ...]] = {f"log.{name}": (OWNER,) for name in ("protect", "swap_month")}
"""Who may call a function where the log is distributed: there the owner changes months, as ``citus.sql`` says."""

KEPT_BY_THE_MIGRATOR = (
    *("log.ensure_month", "log.protect", "log.refuse", "log.refuse_step_back", "log.refuse_earlier"),
    *("log.refuse_archived", "log.stage_month", "log.swap_month", "log.is_being_emptied"),
)
"""What makes, protects and takes away partitions stays with the account that migrates: the owner cannot change it."""
