"""The words of the audit trail: what each type of entry says that its actor did, what its data are called.

The log keeps short fixed words for machines; an officer reads these. A word that is not here is shown as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.consumers import REGISTRY
from audit.desk.audit_trail import case_words, message_words
from audit.desk.information import words as information
from audit.desk.listings import words as listings
from audit.desk.payment_orders import words as payment_orders
from audit.models import (
    AlertEnd,
    AlertKind,
    JobKind,
    JobState,
    KeyScope,
    ListKind,
    NightState,
    PersonKind,
    RequestState,
    Role,
    RunCause,
    SightingOutcome,
    Verdict,
)
from audit.models.adjudication import Severity
from audit.models.cases import Outcome
from audit.models.complaints import Answer, Came
from audit.presentation import finding_title, ruleset_label
from audit.reconciliation.wording import NEEDS, REFUSALS
from audit.register.readings import KINDS
from settlement.catalogue import RULES
from settlement.rulesets import RULESETS

ACTIONS: Mapping[str, Promise] = MappingProxyType(
    {
        "alert.ended": _("ended the alert on a table"),
        "alert.not_mailed": _("could not e-mail an alert"),
        "alert.opened": _("opened an alert on a table"),
        "apikey.added": _("added an API key"),
        "apikey.changed": _("changed an API key"),
        "apikey.deleted": _("deleted an API key"),
        **case_words.ACTIONS,
        "casecontacts.added": _("added case contacts"),
        "casecontacts.changed": _("changed case contacts"),
        "casecontacts.deleted": _("deleted case contacts"),
        "casecontacts.tried": _("sent a test mail"),
        "casino.added": _("added a casino"),
        "casino.changed": _("changed a casino"),
        "casino.kept": _("added to the trail the casino settings that predate it"),
        "complaint.answered": _("answered a complaint"),
        "complaint.entered": _("entered a complaint"),
        "complaint.viewed": _("looked at a complaint"),
        "consumer.tried_again": _("had everything that was set aside tried again"),
        "correction.attempt_refused": _("tried to decide on a correction and was refused"),
        "correction.countersigned": _("countersigned a correction"),
        "correction.refused": _("refused a correction"),
        "correction.viewed": _("looked at a correction"),
        "deadline.added": _("added a deadline"),
        "deadline.changed": _("changed a deadline"),
        "deadline.deleted": _("deleted a deadline"),
        "difference.exported": _("downloaded the comparison of a what-if run"),
        "equipment.inspection_ordered": _("made an inspection order"),
        "equipment.taken_apart": _("ended the tests of a piece of equipment"),
        "events.viewed": _("looked at events"),
        "evidence.exported": _("downloaded the evidence of a finding"),
        "exchanges.exported": _("downloaded an exchange register"),
        "exchanges.viewed": _("looked at an exchange register"),
        "export.taken": _("downloaded an export"),
        "finding.viewed": _("looked at a finding"),
        "findings.exported": _("downloaded a list of findings"),
        "findings.kept": _("entered findings"),
        "gamingtable.added": _("added a table"),
        "gamingtable.changed": _("changed a table"),
        "gamingtable.kept": _("added to the trail the table settings that predate it"),
        "group.given": _("linked a group of the sign-in provider to a role"),
        "group.removed": _("unlinked a group of the sign-in provider from a role"),
        "key.kept": _("added to the trail an API key that predates it"),
        "key.made": _("created an API key"),
        "key.revoked": _("revoked an API key"),
        "key.rotated": _("replaced an API key"),
        "law.exported": _("downloaded a legal text as applied to a session"),
        "ledger.expected": _("said how many the ledger is to expect in a year"),
        "ledger.exported": _("downloaded questions"),
        "ledger.viewed": _("looked at a question"),
        "log.archived": _("archived a month"),
        "log.attached": _("opened an archived month again"),
        "log.destroyed": _("destroyed an archived month"),
        "log.detached": _("closed an archived month again"),
        "log.recovered": _("recovered the log after a restore"),
        "membership.added": _("gave a role"),
        "membership.changed": _("changed a role"),
        "membership.given": _("gave a role at the terminal"),
        "membership.kept": _("added to the trail a role that predates it"),
        "membership.removed": _("took a role away at the terminal"),
        "money.exported": _("downloaded the record of a player’s money"),
        "money.viewed": _("looked at a player’s money"),
        "month.exported": _("downloaded a month of nights"),
        "month.viewed": _("looked at a month of nights"),
        "night.closed": _("signed a night as the second officer"),
        "night.ended": _("finished reconciling a night"),
        "night.exported": _("downloaded a night"),
        "night.mailed": _("e-mailed a night"),
        "night.reopened_mailed": _("e-mailed the reopening of a night"),
        "night.reported": _("reconciled a night"),
        "night.reserved": _("signed a sign-off exception for a night"),
        "night.reviewed": _("signed a night as the first officer"),
        "night.signature_refused": _("tried to sign a night and was refused"),
        "night.started": _("began to reconcile a night"),
        "night.viewed": _("looked at a night"),
        "nightsubscriber.added": _("added a subscriber"),
        "nightsubscriber.changed": _("changed a subscriber"),
        "nightsubscriber.deleted": _("deleted a subscriber"),
        "officer.added": _("added an officer at the terminal"),
        "officer.confirmed": _("confirmed whose account it is"),
        "officer.deactivated": _("deactivated an officer"),
        "officer.email_approved": _("approved an officer’s new e-mail address"),
        "officer.email_declined": _("declined an officer’s new e-mail address"),
        "officer.email_proposed": _("proposed a new e-mail address for an officer"),
        "officer.email_withdrawn": _("withdrew the new e-mail address proposed for an officer"),
        "officer.first_administrator": _("gave a casino its first administrator"),
        "officer.invited": _("invited an officer"),
        "officer.kept": _("added to the trail a superuser who predates it"),
        "officer.link_issued": _("issued a link to choose a password"),
        "officer.link_used": _("chose a password with a link"),
        "officer.linked": _("linked the account to the sign-in provider"),
        "officer.made_superuser": _("made an officer a superuser"),
        "officer.password_changed": _("changed a password"),
        "officer.reactivation_approved": _("approved the reactivation of an officer"),
        "officer.reactivation_declined": _("declined the reactivation of an officer"),
        "officer.reactivation_proposed": _("proposed the reactivation of an officer"),
        "officer.reactivation_withdrawn": _("withdrew the reactivation of an officer"),
        "officer.refused": _("refused sign-ins"),
        "officer.renamed": _("renamed an officer"),
        "officer.request_refused": _("tried to decide on a request about an officer and was refused"),
        "officer.role_approved": _("approved a role for an officer"),
        "officer.role_by_groups": _("was given the role that goes with their groups"),
        "officer.role_declined": _("declined a role for an officer"),
        "officer.role_narrowed": _("narrowed the role of an officer"),
        "officer.role_proposed": _("proposed a role for an officer"),
        "officer.role_removed": _("took away an officer’s role"),
        "officer.role_withdrawn": _("withdrew the role proposed for an officer"),
        "officer.second_factor": _("set up a second factor"),
        "officer.second_factor_approved": _("approved the reset of a second factor"),
        "officer.second_factor_declined": _("declined the reset of a second factor"),
        "officer.second_factor_proposed": _("proposed the reset of a second factor"),
        "officer.second_factor_withdrawn": _("withdrew the reset of a second factor"),
        "officer.signed_in": _("signed in"),
        "officer.signed_out": _("signed out"),
        "officer.unlinked": _("unlinked an account from the sign-in provider"),
        "officer.unmade_superuser": _("made a superuser an ordinary officer"),
        "pattern.opened": _("opened one case for a pattern"),
        "person.added": _("added a person"),
        "person.changed": _("changed a person"),
        "person.deleted": _("deleted a person"),
        "person.erased": _("erased a person"),
        "person.exported": _("downloaded a person’s page"),
        "person.viewed": _("looked at a person’s page"),
        "persons.exported": _("downloaded a list of people"),
        "persons.listed": _("looked at a list of people"),
        "proof.exported": _("downloaded the proof of an event"),
        "push.ended": _("ended the notifications of a browser"),
        "push.subscribed": _("had a browser show notifications"),
        "quarantine.exported": _("downloaded a refused request"),
        "quarantine.viewed": _("looked at a refused request"),
        "register.approved": _("approved an entry in the register"),
        "register.declined": _("declined an entry in the register"),
        "register.proposed": _("proposed an entry in the register"),
        "register.refused": _("tried to decide on an entry in the register and was refused"),
        "register.withdrawn": _("withdrew an entry in the register"),
        "replay.started": _("began a what-if run"),
        "run.tried_again": _("had a failed run tried again"),
        "sandbox.emptied": _("emptied a sandbox"),
        "session.adjudicated": _("adjudicated a session"),
        "session.closing_approved": _("approved the closing of a session and so closed it"),
        "session.closing_declined": _("declined to close a session"),
        "session.closing_proposed": _("proposed to close a session"),
        "session.closing_refused": _("tried to close a session and was refused"),
        "session.closing_withdrawn": _("withdrew the proposal to close a session"),
        "settings.taken_over": _("added to the trail the settings that predate it"),
        "table.viewed": _("looked at a table at a given moment"),
        "trail.exported": _("downloaded the officers’ trail"),
        "trail.viewed": _("looked at the officers’ trail"),
        "wagers.viewed": _("looked at the wagers of a session"),
        "webhook.added": _("added a webhook"),
        "webhook.changed": _("changed a webhook"),
        "webhook.created": _("created a webhook"),
        "webhook.deactivated": _("deactivated a webhook whose receiver is gone"),
        "webhook.deleted": _("deleted a webhook"),
        "webhook.rotated": _("gave a webhook a new secret"),
        "webhook.sent_again": _("had failed deliveries sent again"),
        "webhook.tested": _("sent a test message to a webhook"),
        "what_if.promoted": _("promoted a what-if run"),
        "what_if.promotion_refused": _("tried to promote a what-if run and was refused"),
        "work.asked": _("requested a background job"),
        "work.ended": _("had a background job finish"),
        "work.stopped": _("stopped a background job"),
        **information.ACTIONS,
        **payment_orders.ACTIONS,
        **listings.ACTIONS,
    }
)
"""What the actor of an entry did, by its type. Those of a role without a proposal stand in old records alone."""

SUBJECTS: Mapping[str, Promise] = MappingProxyType(
    {
        "case.": _("Cases"),
        "finding": _("Findings"),
        "complaint.": _("Complaints"),
        **information.SUBJECTS,
        **payment_orders.SUBJECTS,
        **listings.SUBJECTS,
        "correction.": _("Corrections"),
        "pattern.": _("Patterns"),
        "night.": _("Nights"),
        "register.": _("House register"),
        "evidence.": _("Evidence"),
        "person": _("People"),
        "officer.": _("Officers"),
        "membership.": _("Roles given at the terminal"),
        "key.": _("API keys"),
        "webhook.": _("Webhooks"),
        "casino.": _("Casinos"),
        "gamingtable.": _("Gaming tables"),
        "alert.": _("Table alerts"),
        "quarantine.": _("Quarantine"),
        "replay.": _("What-if runs"),
        "work.": _("Background jobs"),
        "log.": _("Archive and recovery"),
        "trail.": _("Officers’ trail"),
    }
)
"""What a day's entries can be narrowed to: the beginning of their types, and its words, the most frequent first."""

ACTORS: Mapping[str, Promise] = MappingProxyType(
    {"beat": _("the schedule"), "sign-in": _("the sign-in page"), "system": _("the system")}
)
"""Who acts where nobody does. A command acts in the name of the account of its machine."""

OFFICERS = ("officer", "officers", "proposed_by", "issued_by", "to", "deputy")
"""Data that are user names of officers; ``to`` may be an address, too."""

NUMBERS = ("priority_threshold", "false_questions")
"""Data that are decimal numbers."""

IDENTIFIES = ("named", "officer", "prefix")
"""Data by which an officer knows what an entry is about: beside one of them the number of its row says nothing."""

NAMES: Mapping[str, Promise] = MappingProxyType(
    {
        "named": _("named"),
        "person.named": _("person"),
        "officer": _("officer"),
        "officers": _("officers"),
        "deputy": _("deputy for late cases"),
        "role": _("role"),
        "before": _("before"),
        "group": _("group"),
        "table": _("table"),
        "tables": _("tables"),
        "gaming_day": _("gaming day"),
        "day": _("day"),
        "month": _("month"),
        "currency": _("currency"),
        "version": _("version"),
        "state": _("state"),
        "night.code": _("shortcoming"),
        "code": _("code"),
        "name": _("name"),
        "kind": _("kind"),
        "case": _("case"),
        "pattern": _("pattern"),
        "cases": _("cases"),
        "croupier": _("croupier"),
        "complaint": _("complaint"),
        **information.NAMES,
        **payment_orders.NAMES,
        **listings.NAMES,
        "correction": _("correction"),
        "rule": _("rule"),
        "rules": _("rules"),
        "stream": _("stream"),
        "session": _("session"),
        "seq": _("event"),
        "seqs": _("events"),
        "last_seq": _("last event"),
        "next_seq": _("event that closes it"),
        "float_minor": _("float counted, in minor units"),
        "event": _("event as recorded"),
        "wager": _("wager"),
        "player": _("player"),
        "clock": _("at what time"),
        "came": _("how it came in"),
        "case.assigned.about": _("to"),
        "about": _("outcome"),
        "decision": _("decision"),
        "amount": _("amount"),
        "paid": _("paid by event"),
        "to": _("to"),
        "request": _("request"),
        "proposed_by": _("proposed by"),
        "issued_by": _("issued by"),
        "delivery": _("delivery"),
        "issuer": _("provider"),
        "fields": _("fields"),
        "by": _("by means of"),
        "reading": _("reading"),
        "readings": _("readings"),
        "value": _("value"),
        "ruleset": _("ruleset"),
        "first_day": _("first day"),
        "last_day": _("last day"),
        "scopes": _("rights"),
        "prefix": _("prefix"),
        "follows": _("follows"),
        "expires": _("expires"),
        "revoked": _("revoked"),
        "public_key": _("public key"),
        **message_words.NAMES,
        "webhooks": _("webhooks"),
        "alert": _("alert"),
        "since": _("since"),
        "ended_by": _("reason it ended"),
        "began_at": _("began"),
        "from": _("from"),
        "until": _("until"),
        "at": _("time"),
        "deadline": _("deadline"),
        "refusals": _("refusals"),
        "addresses": _("addresses"),
        "error": _("error"),
        "form": _("format"),
        "filter": _("filter"),
        "rows": _("rows"),
        "everybody": _("everybody"),
        "text": _("text of the law"),
        "process": _("test"),
        "processes": _("tests"),
        "family": _("kind of person"),
        "report": _("report"),
        "digest": _("digest"),
        "kept": _("kept"),
        "sha256": _("SHA-256"),
        "file": _("file"),
        "batches": _("batches"),
        "events": _("number of events"),
        "note": _("note"),
        "shift_note": _("hand-over note"),
        "attachment": _("file"),
        "size": _("size"),
        "retention_years": _("years of retention"),
        "epoch": _("epoch"),
        "origin": _("origin"),
        "forked_at": _("leaves kept"),
        "signed_size": _("leaves signed"),
        "findings": _("number of findings"),
        "root": _("root"),
        "consumer": _("queue of the record"),
        "items": _("items"),
        "run": _("run"),
        "through": _("events read"),
        "tries": _("attempts"),
        "cause": _("cause"),
        "engine": _("engine"),
        "engine_version": _("engine"),
        "register": _("version of the register"),
        "approved": _("approved corrections"),
        "severity": _("severity"),
        "hours": _("hours"),
        "created": _("created"),
        "corrections_through": _("corrections up to"),
        "sessions": _("sessions"),
        "streams": _("streams"),
        "time_zone": _("time zone"),
        "cutoff": _("end of the gaming day"),
        "priority_threshold": _("amount that raises the priority"),
        "false_questions": _("false questions a year"),
        "unclaimed_days": _("days that the sum of a person not found is kept"),
        "reference_code": _("code of the references"),
        "reports_from": _("reports from"),
        "reports_until": _("reports until"),
        "silent_after_min": _("silent after (minutes)"),
        "is_sandbox": _("sandbox"),
        "does_not_report": _("does not report"),
        "year": _("year"),
        "subject": _("subject"),
        "subjects": _("how many"),
        "id": _("id"),
    }
)
"""What the data of an entry are called, in the order in which the page writes them; under the beginning of a type, what
those of such entries alone are called."""

_FILE = {"en": _("in English"), "fr": _("in French"), "all": _("every sheet"), "croupiers": _("croupiers")}
_EQUIPMENT = {"dice": _("dice"), "wheel": _("wheel")}
_YES_OR_NO = {"0": _("no"), "1": _("yes")}

CODES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "about": {**dict(Outcome.choices), **dict(Answer.choices)},
        "active": _YES_OR_NO,
        "alerts": _YES_OR_NO,
        "reports": _YES_OR_NO,
        "before": dict(Role.choices),
        "by": {"file": _("a file")},
        "came": dict(Came.choices),
        "cause": dict(RunCause.choices),
        "consumer": {each.name: each.label for each in REGISTRY},
        "debtor": payment_orders.DEBTORS,
        "decision": {**dict(Verdict.choices), **dict(RequestState.choices)},
        "delivery": {"mailed": _("by e-mail"), "shown": _("shown to the administrator")},
        "does_not_report": _YES_OR_NO,
        "ended_by": dict(AlertEnd.choices),
        "family": {**dict(PersonKind.choices), "staff": _("staff")},
        "is_sandbox": _YES_OR_NO,
        "list": dict(ListKind.choices),
        "outcome": dict(SightingOutcome.choices),
        "kind": {**dict(JobKind.choices), **dict(PersonKind.choices), **dict(AlertKind.choices), **_EQUIPMENT},
        "night.code": {**NEEDS, **REFUSALS},
        "night.name": _FILE,
        "reading": {name: kind.title for name, kind in KINDS.items()},
        "readings": {name: kind.title for name, kind in KINDS.items()},
        "revoked": _YES_OR_NO,
        "role": dict(Role.choices),
        "scopes": dict(KeyScope.choices),
        "severities": dict(Severity.choices),
        "state": {**dict(NightState.choices), **dict(JobState.choices)},
    }
)
"""Words for codes, by the name of the datum; that of some types alone by the beginning of the type, too."""


def action(type: str) -> str:
    """Return what the actor of an entry of this type did; the type itself where an older version wrote another."""
    return str(ACTIONS.get(type, type))


def actor_name(actor: str, names: Mapping[str, str]) -> str:
    """Return who acted: an officer, called as ``names`` has the user name, or in words what acted by itself."""
    return str(ACTORS.get(actor) or names.get(actor, actor))


def names_officers(type: str, datum: str) -> bool:
    """Return whether a datum of an entry of this type is the user name of an officer, or several."""
    return datum in OFFICERS or (datum == "named" and _subject(type) == "officer")


def name(type: str, datum: str) -> str:
    """Return what a datum of an entry of this type is called."""
    words = NAMES.get(f"{type}.{datum}") or NAMES.get(f"{_subject(type)}.{datum}") or NAMES.get(datum)
    return str(words or datum.replace("_", " "))


def in_order(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the data of an entry in the order in which they are written; empty ones are left out."""
    known = {name: index for index, name in enumerate(NAMES)}
    named = ((name, value) for name, value in data.items() if value not in ("", [], {}))
    return sorted(named, key=lambda each: (known.get(each[0], len(known)), each[0]))


def code(type: str, datum: str, text: str) -> str:
    """Return the words of a code: a rule's title, a role, a field of a setting. Anything else is returned as it is."""
    subject = _subject(type)
    codes = CODES.get(f"{subject}.{datum}") or CODES.get(datum) or {}
    if text in codes:
        return str(codes[text])
    match datum:
        case "rule" | "rules" if text in RULES:
            return finding_title(text)
        case "ruleset" if text in RULESETS:
            return ruleset_label(text)
        case "fields":
            return _field(subject, text)
        case "form":
            return text.upper()
    return text


def _subject(type: str) -> str:
    return type.partition(".")[0]


def _field(model: str, field: str) -> str:
    try:
        found = apps.get_model("audit", model)._meta.get_field(field)
    except (LookupError, FieldDoesNotExist):
        return field.replace("_", " ")
    return str(getattr(found, "verbose_name", field))
