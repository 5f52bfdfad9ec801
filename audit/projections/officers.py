"""Accounts of officers, held against the audit trail: what gives one power, and what shows that two are one person's.

    officer.made_superuser, officer.unmade_superuser ──► who may do everything at every casino
    officer.deactivated, officer.reactivation_approved ─► who may sign in, and who no more
    officer.invited, officer.added ─────────────────────► which accounts there are, and who opened one for whom
    officer.link_issued, officer.link_used ─────────────► which links there are, and with whose a password was chosen

The last two decide whether two accounts are in the same hands, and so whether they are four eyes: whoever takes such a
row away signs twice. Names of persons and mail addresses are in no entry. An entry about an account is in the trail
of each of its casinos.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from audit.event_store.audit_trail import INSTALLATION
from audit.models import AccessLink, Officer
from audit.models.officers import is_active_account
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow
from audit.projections.found import Figures

SUPERUSER_KEPT = "officer.kept"
"""The entry of ``manage.py keep`` about an account that may do everything, of which no entry of 0.1.0 says so."""

MADE, UNMADE = "officer.made_superuser", "officer.unmade_superuser"
DEACTIVATED, REACTIVATED = "officer.deactivated", "officer.reactivation_approved"
INVITED, ADDED = "officer.invited", "officer.added"
ISSUED, USED = "officer.link_issued", "officer.link_used"

TYPES = (
    MADE,
    UNMADE,
    SUPERUSER_KEPT,
    DEACTIVATED,
    REACTIVATED,
    INVITED,
    ADDED,
    ISSUED,
    USED,
    "officer.password_changed",
    "officer.email_approved",
    "officer.confirmed",
)

LINK_LIFE = timedelta(hours=72)
"""How long a link is good after its entry; less by as much as the clock of the database is behind."""

CLOCKS_APART = timedelta(hours=1)
"""How far the clock of the database, which dates the use of a link, may be from that of the entry."""


@dataclass(frozen=True, slots=True)
class Use:
    """That an officer chose a password with a link: whose, when, and whether it was shown and to choose another.

    ``trail`` is the casino in whose trail the entry is, 0 of a row.
    """

    issuer: str
    at: datetime
    is_shown: bool
    is_reset: bool
    trail: int = 0


@dataclass(slots=True, eq=False)
class Issue:
    """That a link was issued: by whom, when, whether it was shown to them, and whether it chooses a first password.

    ``trail`` is as in ``Use``. ``confirmed_by`` said whose it was, "" for a command. It is open until it is used,
    or revoked: by the next, or by what is done to the account.
    """

    issuer: str
    at: datetime
    is_shown: bool
    is_invitation: bool
    revoked_at: datetime | None = None
    is_used: bool = False
    trail: int = 0
    confirmed_at: datetime | None = None
    confirmed_by: str = ""

    def revoke(self, at: datetime) -> None:
        """Have the link good for nothing, if it is open."""
        if not self.is_used and self.revoked_at is None:
            self.revoked_at = at


@dataclass(slots=True)
class _Account:
    """An account as its entries leave it. ``invited_by`` is "" if a command has opened it."""

    invited_by: str = ""
    is_superuser: bool = False
    is_active: bool = True
    is_begun: bool = False
    has_password: bool = False
    is_shown: bool = False
    uses: list[Use] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    def apply(self, entry: Entry) -> None:
        """Do what an entry says."""
        match entry.type:
            case "officer.made_superuser" | "officer.unmade_superuser" | "officer.kept":
                self.is_superuser = entry.type != UNMADE
            case "officer.deactivated" | "officer.reactivation_approved":
                self.is_active = entry.type == REACTIVATED
                if not self.is_active:
                    self._revoke(entry.at)
            case "officer.invited":
                self.invited_by = entry.actor
            case "officer.link_issued" if not self._is_issued(entry):
                self.is_shown = entry.text("delivery") == "shown"
                self._revoke(entry.at)
                issue = Issue(entry.actor, entry.at, self.is_shown, not self.has_password, trail=entry.casino_id)
                self.issues.append(issue)
            case "officer.link_used" if not self._is_copy(entry):
                self.uses.append(
                    Use(entry.text("issued_by"), entry.at, self.is_shown, self.has_password, entry.casino_id)
                )
                self.has_password = True
                for issue in self.issues:
                    issue.is_used |= issue.revoked_at is None
            case "officer.confirmed":
                used = next((each for each in reversed(self.issues) if each.is_used), None)
                if used is not None and used.confirmed_at is None:  # in each trail of the officer's casinos
                    used.confirmed_at = entry.at
                    used.confirmed_by = entry.actor if entry.text("officer") else ""
            case "officer.password_changed":
                self.has_password = True
                self._revoke(entry.at)
            case "officer.email_approved":
                self._revoke(entry.at)

    def _revoke(self, at: datetime) -> None:
        for issue in self.issues:
            issue.revoke(at)

    def _is_issued(self, entry: Entry) -> bool:
        """Whether an entry is that of the link before it, in the trail of another of the officer's casinos."""
        last = self.issues[-1] if self.issues else None
        return (
            last is not None
            and (last.issuer, last.trail != entry.casino_id) == (entry.actor, True)
            and is_same_instant(last.at, entry.at)
        )

    def _is_copy(self, entry: Entry) -> bool:
        """Whether an entry is that of the use before it, in the trail of another of the officer's casinos."""
        last = self.uses[-1] if self.uses else None
        return (
            last is not None
            and last.trail != entry.casino_id
            and last.issuer == entry.text("issued_by")
            and is_same_instant(last.at, entry.at)
        )


def superusers_stated() -> list[str]:
    """Return the names of the accounts of which entries say that they may do everything."""
    return [name for name, account in _stated().items() if account.is_superuser]


def wrong_officers(figures: Figures) -> Iterator[WrongRow]:
    """Yield what does not hold about the accounts of officers, of every casino: accounts belong to several."""
    is_kept = any(entries(INSTALLATION, (SETTINGS_KEPT,)))
    accounts = _stated()
    names = officer_names()
    rows = Officer.objects.annotate(may_sign_in=is_active_account()).order_by("pk")
    columns = ("username", "is_superuser", "may_sign_in", "created_by")
    for name, is_superuser, may_sign_in, created_by in rows.values_list(*columns):
        account = accounts.get(name, _Account())
        if is_kept and name not in accounts:
            yield WrongRow("officer", f"{name} has an account, and no entry says so")
        if is_superuser and not account.is_superuser and not is_kept:
            figures.unstated += 1
        elif is_superuser and not account.is_superuser:
            yield WrongRow("officer", f"{name} may do everything at every casino, and no entry says so")
        elif account.is_superuser and not is_superuser:
            yield WrongRow("officer", f"{name} may no longer do everything, and no entry says so")
        if may_sign_in and not account.is_active:
            yield WrongRow("officer", f"{name} may sign in, and was deactivated")
        elif name in accounts and account.is_active and not may_sign_in:
            yield WrongRow("officer", f"{name} may not sign in, and no entry says so")
        if name in accounts and not account.invited_by and created_by is not None:
            what = f"{name} was invited by nobody, and {names.get(created_by, 'somebody who is gone')} is stored"
            yield WrongRow("officer", what)
        if account.invited_by and names.get(created_by or 0) != account.invited_by:
            what = f"{name} was invited by {account.invited_by}, and {names.get(created_by or 0, 'nobody')} is stored"
            yield WrongRow("officer", what)
    stored = Counter(names.values())
    for name, account in accounts.items():
        if stored[name] > 1 or (account.is_begun and not stored[name]):
            yield WrongRow("officer", f"{name} has {stored[name]} accounts, and the entries say one")
    yield from _wrong_links(accounts, names)
    yield from _wrong_issues(accounts, names)


def _wrong_issues(accounts: dict[str, _Account], names: dict[int, str]) -> Iterator[WrongRow]:
    """Yield what does not hold about the links that there are: one that nobody issued sets another's password.

    Each row is one that an entry says, and no two are the same.
    """
    left = {name: list(account.issues) for name, account in accounts.items()}
    columns = (
        *("officer", "issued_by", "issued_at", "is_shown", "expires_at", "is_invitation"),
        *("revoked_at", "used_at", "confirmed_at", "confirmed_by"),
    )
    for officer, issuer, at, is_shown, expires_at, *more in AccessLink.objects.order_by("pk").values_list(*columns):
        is_invitation, revoked_at, used_at, confirmed_at, confirmed_by = more
        name = names.get(officer, "")
        issue = Issue(
            names.get(issuer, ""), at, is_shown, is_invitation, revoked_at, used_at is not None,
            confirmed_at=confirmed_at, confirmed_by=names.get(confirmed_by or 0, ""),
        )  # fmt: skip
        alike = [each for each in left.get(name, []) if _is_same_issue(issue, each)]
        if not alike:
            yield WrongRow("officer", f"a link of {issue.issuer} for {name} is stored, and no entry says so")
            continue
        is_invited = bool(accounts[name].invited_by)
        stated = next((each for each in alike if _is_as_good(issue, each, is_invited)), None)
        left[name].remove(stated or alike[0])
        if not LINK_LIFE - CLOCKS_APART <= expires_at - at <= LINK_LIFE:
            yield WrongRow("officer", f"a link of {issue.issuer} for {name} is not good for {LINK_LIFE}")
        elif stated is None:
            what = (
                f"a link of {issue.issuer} for {name} is not of the kind, used, revoked or confirmed as its entries say"
            )
            yield WrongRow("officer", what)
    for name in sorted({*names.values()} & left.keys()):
        for issue in left[name]:
            yield WrongRow("officer", f"the link of {issue.issuer} for {name} of {issue.at} is missing or altered")


def _is_same_issue(stored: Issue, stated: Issue) -> bool:
    """Whether a row is the link that an entry says, or its copy in the trail of another of the officer's casinos."""
    is_alike = (stored.issuer, stored.is_shown) == (stated.issuer, stated.is_shown)
    return is_alike and is_same_instant(stored.at, stated.at)


def _is_as_good(stored: Issue, stated: Issue, is_invited: bool) -> bool:
    """Whether a link is as good as its entries leave it; which kind it is, they say of who was invited alone."""
    return (
        stored.is_used == stated.is_used
        and is_same_instant(stored.revoked_at, stated.revoked_at)
        and is_same_instant(stored.confirmed_at, stated.confirmed_at)
        and stored.confirmed_by == stated.confirmed_by
        and (not is_invited or stored.is_invitation == stated.is_invitation)
    )


def _stated() -> dict[str, _Account]:
    """Return the accounts by name, as their entries leave them in the order of time."""
    accounts: dict[str, _Account] = {}
    for entry in sorted(entries(None, TYPES), key=lambda each: each.at):
        name = entry.text("officer") or entry.text("named")
        if entry.type in (INVITED, ADDED):  # a name is given again where the first was never an officer's
            accounts[name] = _Account(is_begun=True)
        accounts.setdefault(name, _Account()).apply(entry)
        if entry.type == DEACTIVATED:  # and the links that they have issued
            for issue in (each for account in accounts.values() for each in account.issues if each.issuer == name):
                issue.revoke(entry.at)
    return accounts


def _wrong_links(accounts: dict[str, _Account], names: dict[int, str]) -> Iterator[WrongRow]:
    """Yield what does not hold about the links with which passwords were chosen."""
    rows = AccessLink.objects.exclude(used_at=None).order_by("pk")
    used: dict[str, list[Use]] = {}
    for officer, issuer, at, is_shown, is_invitation in rows.values_list(
        "officer", "issued_by", "used_at", "is_shown", "is_invitation"
    ):
        assert at is not None, "those that were not used are left out"
        used.setdefault(names.get(officer, ""), []).append(Use(names.get(issuer, ""), at, is_shown, not is_invitation))
    for name in sorted({*names.values()}):
        stated = accounts[name].uses if name in accounts else []
        stored = used.get(name, [])
        for use in stored:
            if not any(_is_same(use, each) for each in stated):
                yield WrongRow("officer", f"a link of {use.issuer} is said to be used by {name}, and no entry says so")
        for use in stated:
            if not any(_is_same(each, use) for each in stored):
                yield WrongRow("officer", f"the link of {use.issuer} that {name} used is missing or altered")


def _is_same(stored: Use, stated: Use) -> bool:
    """Whether a row is the use that an entry says; what the entries of before do not say is not compared."""
    return (
        stored.issuer == stated.issuer
        and stored.is_shown == stated.is_shown
        and (stored.is_reset or not stated.is_reset)
        and abs(stored.at - stated.at) <= CLOCKS_APART
    )
