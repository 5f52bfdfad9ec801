"""Who may do what, held against the audit trail: roles at casinos, what groups stand for, linked accounts, API keys.

    membership.given, officer.role_approved, … in order ─► the role of each officer at each casino
    group.given, group.removed ────────────────────────► what a group of the provider stands for
    officer.linked, officer.unlinked ──────────────────► whose account at the provider an officer's is
    key.made, key.rotated, key.revoked ────────────────► scopes, tables and end of a key, and that it is revoked

A role that nobody gave lets its holder sign a night; a key that is no longer revoked lets its holder send. Both are
named. Entries of 0.1.0 do not say every role: ``manage.py keep`` enters those that stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from audit.access.keys import MADE, REVOKED, ROTATED
from audit.event_store.audit_trail import INSTALLATION
from audit.models import ApiKey, Casino, GamingTable, GroupRole, Membership, Officer, ProviderAccount
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.entries import Entry, entries, is_same_instant
from audit.projections.faults import WrongRow
from audit.projections.found import Figures

ROLE_KEPT = "membership.kept"
"""The entry of ``manage.py keep`` about a role of which no entry of an earlier version says that it was given."""

KEY_KEPT = "key.kept"
"""The entry of ``manage.py keep`` about a key of which no entry says what it may do."""

_GIVING = (
    *("membership.added", "membership.changed", "membership.given", ROLE_KEPT),
    *("officer.role_approved", "officer.role_narrowed", "officer.role_by_groups", "officer.first_administrator"),
)
_TAKING = ("membership.removed", "officer.role_removed")
_GROUPS = ("group.given", "group.removed")
_LINKS = ("officer.linked", "officer.unlinked")


def roles_stated(casino_id: int | None) -> dict[tuple[int, str], tuple[str, Entry]]:
    """Return the role of each officer at each casino as the entries leave it, "" for none, with the newest entry."""
    stated: dict[tuple[int, str], tuple[str, Entry]] = {}
    for entry in entries(casino_id, (*_GIVING, *_TAKING)):
        role = "" if entry.type in _TAKING else entry.text("role")
        stated[entry.casino_id, entry.text("officer")] = (role, entry)
    return stated


def wrong_roles(casino_id: int | None, figures: Figures) -> Iterator[WrongRow]:
    """Yield what does not hold about the roles at a casino, at every one for None."""
    is_kept = any(entries(INSTALLATION, (SETTINGS_KEPT,)))
    stated = roles_stated(casino_id)
    named = Membership.objects.select_related("officer", "casino").only("role", "officer__username", "casino__code")
    rows = named.order_by("pk")  # who verifies may not read the digests of passwords
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        name = row.officer.get_username()
        role, entry = stated.pop((row.casino_id, name), ("", None))
        if role == row.role:
            continue
        if entry is None and not is_kept:
            figures.unstated += 1
        elif entry is None:
            yield WrongRow("role", f"{name} is {row.role} at {row.casino.code}, and no entry says so")
        else:
            what = f"{name} is {row.role} at {row.casino.code}, and {entry.name} says {role or 'nothing any more'}"
            yield WrongRow("role", what)
    names = set(Officer.objects.values_list("username", flat=True))
    codes = dict(Casino.objects.values_list("pk", "code"))
    for (of_casino, name), (role, entry) in stated.items():
        if role and name in names and of_casino in codes:
            yield WrongRow("role", f"{name} has no role at {codes[of_casino]}, and {entry.name} says {role}")


def wrong_groups(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about what groups of the provider stand for at a casino, at every one for None."""
    stated: dict[tuple[int, str, str], Entry] = {}
    for entry in entries(casino_id, _GROUPS):
        key = (entry.casino_id, entry.text("role"), entry.text("group"))
        if entry.type == "group.given":
            stated[key] = entry
        else:
            stated.pop(key, None)
    rows = GroupRole.objects.order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        if stated.pop((row.casino_id, row.role, row.group), None) is None:
            yield WrongRow(
                "group", f"{row.group} stands for {row.role} at casino {row.casino_id}, and no entry says so"
            )
    for (of_casino, role, group), entry in stated.items():
        what = f"{group} does not stand for {role} at casino {of_casino}, and {entry.name} says that it does"
        yield WrongRow("group", what)


def wrong_links() -> Iterator[WrongRow]:
    """Yield what does not hold about the accounts at the provider. Their names there are in no entry."""
    by_time = sorted(entries(None, _LINKS), key=lambda each: each.at)
    newest = {entry.text("officer") or entry.text("named"): entry for entry in by_time}
    for officer, issuer in ProviderAccount.objects.order_by("pk").values_list("officer__username", "issuer"):
        entry = newest.pop(officer, None)
        if entry is None or entry.type == "officer.unlinked" or entry.text("issuer") != issuer:
            yield WrongRow("link", f"{officer} is linked to an account at {issuer}, and no entry says so")
    names = set(Officer.objects.values_list("username", flat=True))
    for officer, entry in newest.items():
        if entry.type == "officer.linked" and officer in names:
            yield WrongRow("link", f"{officer} is linked to no account at the provider, and {entry.name} says to one")


def keys_stated(casino_id: int | None) -> dict[int, Entry]:
    """Return the entry that says the scopes and tables of each key, by the key's id."""
    stated = entries(casino_id, (MADE, ROTATED, KEY_KEPT))
    return {entry.number("id"): entry for entry in stated if "scopes" in entry.data}


def wrong_keys(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about what the API keys of a casino may do, of every one for None.

    Entries of 0.2.0 and before say neither scopes nor tables, until ``manage.py keep``, nor when a key expires; those
    of 0.1.0 not each that was revoked; those before 1.0 not its name. The digest of a secret is in no entry.
    """
    is_kept = any(entries(INSTALLATION, (SETTINGS_KEPT,)))
    begun = keys_stated(casino_id)
    stating = entries(casino_id, (REVOKED, KEY_KEPT))
    revoked = {entry.number("id"): entry for entry in stating if entry.type == REVOKED or entry.number("revoked")}
    until = {(entry.casino_id, entry.text("follows")): entry.text("until") for entry in entries(casino_id, (ROTATED,))}
    codes: dict[int, list[str]] = {}
    through = ApiKey.tables.through.objects.all()
    tables = {pk: (casino, code) for pk, casino, code in GamingTable.objects.values_list("pk", "casino_id", "code")}
    of_key = dict(ApiKey.objects.values_list("pk", "casino_id"))
    for key_id, table_id in through.values_list("apikey_id", "gamingtable_id"):
        of_casino, code = tables.get(table_id, (0, ""))
        own = code if of_casino == of_key.get(key_id) else f"{code} of casino {of_casino}"
        codes.setdefault(key_id, []).append(own)
    keys = ApiKey.objects.defer("digest").order_by("pk")
    for key in keys if casino_id is None else keys.filter(casino=casino_id):
        entry = begun.pop(key.pk, None)
        if entry is not None:
            expires = until.get((entry.casino_id, entry.text("prefix")), entry.data.get("expires"))
            altered = _altered(key, sorted(codes.get(key.pk, [])), entry, expires)
            if altered:
                yield WrongRow("key", f"API key {key.prefix} has not the {altered} that {entry.name} says")
        elif is_kept:
            yield WrongRow("key", f"API key {key.prefix} is stored, and no entry says what it may do")
        if key.pk in revoked and key.revoked_at is None:
            yield WrongRow("key", f"API key {key.prefix} is not revoked, and {revoked[key.pk].name} says so")
        elif (
            (ending := revoked.get(key.pk))
            and ending.type == REVOKED
            and not is_same_instant(key.revoked_at, ending.at)
        ):
            yield WrongRow("key", f"API key {key.prefix} is not revoked when {ending.name} says")
        elif is_kept and key.pk not in revoked and key.revoked_at is not None:
            yield WrongRow("key", f"API key {key.prefix} is revoked, and no entry says so")
    for pk, entry in begun.items():
        yield WrongRow("key", f"API key {pk} ({entry.text('prefix')}) is missing, of which {entry.name} says something")


def _is_of_date(key: ApiKey, entry: Entry) -> bool:
    """Whether a key was created when its entry says: the entry itself, before 1.0, but not where it was kept later."""
    if "created" in entry.data:
        return bool(key.created_at.astimezone(UTC).isoformat() == entry.data["created"])
    return entry.type == KEY_KEPT or is_same_instant(key.created_at, entry.at)


def _altered(key: ApiKey, tables: list[str], entry: Entry, expires: Any) -> str:
    """Return what of a key is not as its entry says; ``expires`` is None where none says it."""
    stated = entry.data
    holds = {
        "casino": key.casino_id == entry.casino_id,
        "prefix": key.prefix == stated.get("prefix"),
        "scopes and tables": (sorted(key.scopes), tables) == (sorted(stated.get("scopes", ())), stated.get("tables")),
        "name": "named" not in stated or key.name == stated["named"],
        "date": _is_of_date(key, entry),
        "expiry": expires is None or (key.expires_at.astimezone(UTC).isoformat() if key.expires_at else "") == expires,
    }
    return ", ".join(name for name, is_right in holds.items() if not is_right)
