"""Addresses of pages that a list repeats in every row: put together from a part that is looked up once."""

from __future__ import annotations

from functools import lru_cache

from django.urls import get_script_prefix, reverse


def page_of(model: str, pk: int | str) -> str:
    """Return the address of the page of a row of ``model``, as ``admin:audit_<model>_change`` is."""
    return f"{fixed(f'audit_{model}_changelist')}{pk}/change/"


def page_of_stream(pk: int, page: str) -> str:
    """Return the address of a page of a stream, as ``admin:audit_loggedstream_<page>`` is: its "table" or "events"."""
    return f"{fixed('audit_loggedstream_changelist')}{pk}/{page}/"


def fixed(name: str, *args: str | int) -> str:
    """Return the address of a page of the desk by the name of its URL, with arguments that come again and again."""
    return _fixed(get_script_prefix(), name, args)


@lru_cache(maxsize=5_000)
def _fixed(script_prefix: str, name: str, args: tuple[str | int, ...]) -> str:
    address = reverse(f"admin:{name}", args=args)
    assert address.startswith(script_prefix), "what is kept is kept for a prefix"
    return address
