"""System checks: every page of the desk demands a capability, and what writes an account a fresh proof.

A page that is added without the one is open to everybody who signs in, without the other to whoever finds an open
session; so the project does not start with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.contrib import admin
from django.core.checks import CheckMessage, Error
from django.urls import URLPattern, URLResolver

from audit.desk import sections  # noqa: F401  (registers the models of the desk with the admin site)
from audit.desk.scoped_admin import ScopedAdmin

OPEN_TO_EVERY_OFFICER = frozenset(
    {
        *("index", "login", "logout", "password_change", "password_change_done", "jsi18n", "app_list", "second_factor"),
        "sign_in_code",  # asks for what one has before one is signed in
        *("single_sign_on", "single_sign_on_callback"),  # lead to the provider and back, before one is signed in
        "access_link",  # holds its own: the token, and no session
        "push_worker",  # a script that is the same for everybody
        "autocomplete",  # asks the ScopedAdmin of the model for its rows
    }
)
"""The pages of the site that show the officer's own things, or nothing of a casino."""


PROVES_ITSELF = frozenset({"change_own_password", "link_of", "choose_password"})
"""Functions of ``audit.access.accounts`` whose caller has asked for the present password, or the token of a link."""

DESK = Path(__file__).parent


def check_pages(*, app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Report admins without a scope, pages without a capability, and writers of accounts without a fresh proof."""
    return [*_admins(), *_pages(), *_writers()]


def _admins() -> Iterator[CheckMessage]:
    for model, model_admin in admin.site._registry.items():
        if not isinstance(model_admin, ScopedAdmin):
            yield Error(
                f"The admin of {model._meta.label} is no ScopedAdmin: its rows are not held to an officer's casinos.",
                hint="Let it inherit from audit.desk.scoped_admin.ScopedAdmin, or unregister it.",
                id="audit.E021",
            )


def _pages() -> Iterator[CheckMessage]:
    for name, view in _named_views(admin.site.get_urls()):
        if name not in OPEN_TO_EVERY_OFFICER and not _is_scoped(view) and not getattr(view, "demanded", ()):
            yield Error(
                f"The page {name or view} of the desk demands no capability.",
                hint="Decorate its view with audit.desk.scoped_admin.demands.",
                id="audit.E022",
            )


def _writers() -> Iterator[CheckMessage]:
    for file in sorted(DESK.rglob("*.py")):
        text = file.read_text()
        if "accounts" not in text:  # parsing every file would take longer than all other checks of a starting process
            continue
        tree = ast.parse(text)
        for call in ast.walk(tree) if _imports_accounts(tree) else ():
            if (name := _writer(call)) is not None and name not in PROVES_ITSELF:
                yield Error(
                    f"{file.relative_to(DESK)} calls accounts.{name} for an officer whose proof may be stale.",
                    hint="Let its first argument be audit.desk.sign_in.proof.proved(request).",
                    id="audit.E023",
                )


def _imports_accounts(tree: ast.Module) -> bool:
    imports = (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.module == "audit.access")
    return any(name.name == "accounts" for each in imports for name in each.names)


def _writer(call: ast.AST) -> str | None:
    """Return the function of ``accounts`` that is called for an officer who need not have proved who he is."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="accounts"), attr=name), args=arguments):
            by = ast.unparse(arguments[0]) if arguments else ""
            return None if by in ("proved(request)", "proof.proved(request)") else name
    return None


def _is_scoped(view: Any) -> bool:
    """Return whether a view is one of Django's own of every ``ModelAdmin``, overridden or not: such a view asks the
    admin for its permissions and rows, which are scoped. Or the one that only adds a slash to an address."""
    return isinstance(getattr(view, "model_admin", None), ScopedAdmin) or view.__name__ == "catch_all_view"


def _named_views(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _named_views(pattern.url_patterns)
        else:
            yield pattern.name or "", pattern.callback
