"""What entries of the audit trail say of orders, waivers, persons not found: see ``audit.desk.audit_trail.words``."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: Mapping[str, Promise] = {
    "case.payment_ordered": _("made a payment order"),  # in earlier versions
    "not_found.approved": _("approved that a sum is kept for a person not found"),
    "not_found.cancelled": _("recorded that a person is found, or cancelled that they are not"),
    "not_found.handed_over": _("recorded that the cash desk has the sum of a person not found"),
    "not_found.stated": _("stated that a person is not found"),
    "payment.approved": _("approved a payment order"),
    "payment.cancelled": _("cancelled a payment order"),
    "payment.exported": _("downloaded a payment order"),
    "payment.ordered": _("ordered a payment"),
    "payment.paid": _("recorded a payment of the cage"),
    "payment.refused": _("tried an action on a payment order and was refused"),
    "payment.viewed": _("looked at a payment order"),
    "waiver.approved": _("approved the waiver of a claim"),
    "waiver.cancelled": _("cancelled the waiver of a claim"),
    "waiver.proposed": _("proposed to waive a claim"),
}
"""What the actor did, by the type of the entry."""

SUBJECTS: Mapping[str, Promise] = {
    "payment.": _("Payment orders"),
    "waiver.": _("Waivers"),
    "not_found.": _("Persons not found"),
}
"""What a day's entries can be narrowed to."""

NAMES: Mapping[str, Promise] = {
    "order": _("payment order"),
    "debtor": _("debtor"),
    "signatures": _("signatures needed"),
    "receipt": _("receipt"),
    "cage": _("cage"),
    "paid_on": _("paid on"),
    "not_found_on": _("not found on"),
    "kept_until": _("kept until"),
}
"""What the data are called."""

DEBTORS: Mapping[str, Promise] = {"house": _("the house"), "player": _("player")}
"""Who owes a claim."""
