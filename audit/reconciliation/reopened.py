"""A night that was reopened: in a sentence what a later version changes and how much, and who had signed before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext, ngettext

from audit.models import NightReport, NightState, Officer
from audit.presentation import count, money_in_prose, officer_name, signed_money
from audit.reconciliation import wording

HEADLINES = ("W_acct", "accounting_variance", "payout_errors", "W_rec", "W_adj", "D", "K", "luck")
"""The totals that say most of a night: the first that changed is in the sentence."""


def change_in_words(report: NightReport) -> str:
    """Return what a version changes against the one before, with its reason; "" for a first version."""
    if report.version == 1:
        return ""
    totals = [row for row in report.sheet if not row["of"]]
    totals.sort(key=lambda row: HEADLINES.index(row["line"]) if row["line"] in HEADLINES else len(HEADLINES))
    facts = {"version": str(report.version - 1), "change": gettext("no total")}
    if totals:
        facts["change"] = _changed(totals[0], report.currency)
        others = len(totals) - 1
        if others:
            words = ngettext("%(number)s other line", "%(number)s other lines", others) % {"number": count(others)}
            facts["change"] += "; " + words
    sentence = gettext("Changed since version %(version)s: %(change)s.") % facts
    reasons = [wording.reason(code) for code in _reasons(totals or report.sheet)]
    return f"{sentence} " + gettext("Reason: %(reason)s.") % {"reason": reasons[0]} if reasons else sentence


def _changed(row: dict[str, Any], currency: str) -> str:
    """Return a row of the sheet in words: “Accounting win €100, now €120 (+€20)”."""
    was, now = row["was"], row["is"]
    facts = {
        "line": wording.restated_line(row["line"]),
        "was": wording.restated(was, currency),
        "now": wording.restated(now, currency),
    }
    if isinstance(was, int) and isinstance(now, int):
        facts |= {"was": money_in_prose(was, currency), "now": money_in_prose(now, currency)}
        facts["difference"] = signed_money(now - was, currency, money_in_prose)
        return gettext("%(line)s %(was)s, now %(now)s (%(difference)s)") % facts
    return gettext("%(line)s: %(was)s, now %(now)s") % facts


def _reasons(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(reason for row in rows for reason in row["reasons"]))


def signed_before(report: NightReport) -> str:
    """Return who had signed the newest signed version before ``report``, in a sentence; "" if nobody had."""
    earlier = _versions_of(report).filter(version__lt=report.version).exclude(reviewed_by=None)
    signed = earlier.select_related("reviewed_by", "closed_by").order_by("-version").first()
    if signed is None:
        return ""
    names = " · ".join(officer_name(each) for each in (signed.reviewed_by, signed.closed_by) if each is not None)
    facts = {"officers": names, "version": signed.version}
    return gettext("Version %(version)s was signed: %(officers)s. This version needs signatures of its own.") % facts


def signers_of(report: NightReport) -> QuerySet[Officer]:
    """Return the officers who signed an earlier version of a night; nobody where a version is not the newest, or is
    signed again."""
    if report.version == 1 or report.reviewed_by_id is not None or not report.is_newest():
        return Officer.objects.none()
    earlier = _versions_of(report).filter(version__lt=report.version)
    return Officer.objects.filter(Q(pk__in=earlier.values("reviewed_by")) | Q(pk__in=earlier.values("closed_by")))


def _versions_of(report: NightReport) -> QuerySet[NightReport]:
    night = {"casino": report.casino_id, "gaming_day": report.gaming_day, "currency": report.currency}
    return NightReport.objects.filter(**night)


def reopened_for(officer: Officer, reports: QuerySet[NightReport]) -> QuerySet[NightReport]:
    """Return those of ``reports`` that nobody has signed yet, and whose earlier version the officer signed."""
    same_night = NightReport.objects.filter(
        casino=OuterRef("casino"), gaming_day=OuterRef("gaming_day"), currency=OuterRef("currency")
    )
    signed = same_night.filter(Q(reviewed_by=officer) | Q(closed_by=officer), version__lt=OuterRef("version"))
    later = same_night.filter(version__gt=OuterRef("version"))
    unsigned = reports.filter(version__gt=1, reviewed_by=None).exclude(state=NightState.CLOSED)
    return unsigned.filter(Exists(signed), ~Exists(later)).defer("content").order_by("-gaming_day", "casino")
