"""In whose name a command decides: an account of the desk, proved by its password and its second factor.

The password is read from the terminal or from standard input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError
from django_otp import match_token, user_has_device

from audit.access.capabilities import Capability
from audit.access.keepers import same_hands
from audit.access.scope import Scope
from audit.models import Officer
from audit.models.officers import is_active_account


def add_officer(parser: Any, *, is_required: bool = True) -> None:
    """Add the arguments that ``proved`` reads."""
    parser.add_argument("--officer", required=is_required, metavar="NAME", help="the account in whose name it is done")
    parser.add_argument("--code", default="", help="the code of its second factor")


def proved(options: dict[str, Any]) -> Officer:
    """Return the officer, who has given the password, and the code where there is a second factor."""
    return proved_officer(options["officer"], options["code"])


def two_officers(names: Sequence[str], codes: Sequence[str], capability: Capability) -> list[Officer]:
    """Return two officers who are two people, have ``capability`` somewhere, and have given password and code."""
    if len(set(names)) != 2 or len(names) != 2:
        raise CommandError("Name two officers: --officer NAME --officer NAME.")
    officers = [proved_officer(name, code) for name, code in zip(names, [*codes, "", ""], strict=False)]
    for officer in officers:
        if not Scope.of(officer, capability):
            what = str(capability).replace("_", " ")
            raise CommandError(f"{officer.get_username()} may not {what} at any casino.")
    if same_hands(*officers):
        raise CommandError(
            "One of the two created the account of the other or reset its password, or one person could have chosen"
            " both passwords: another officer must decide."
        )
    return officers


def proved_officer(name: str, code: str) -> Officer:
    """Return the officer of a name, who has given the password, and ``code`` where there is a second factor."""
    officer = Officer.objects.filter(is_active_account(), username=name).first()
    password = getpass(f"Password of {name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if officer is None or not officer.check_password(password):
        raise CommandError("The account or the password is wrong.")
    if user_has_device(officer):
        code = code.replace(" ", "")
        if not code or match_token(officer, code) is None:
            raise CommandError("Give the code of the second factor with --code.")
    return officer
