"""Interceptors: what is called in place of folding an event of some types, to look at the state before and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from settlement.events import Envelope
from settlement.ruleset import Handler
from settlement.state import Table

Fold: TypeAlias = Callable[[Any], object]
Interceptors: TypeAlias = Mapping[type[Envelope], Callable[[Any, Fold], object]]
"""By event type, what is called with an event and with what folds it. It has to call that, once, with the event."""

NOT_INTERCEPTED: Interceptors = {}


def around(handlers: Mapping[type, Handler], interceptors: Interceptors, table: Table) -> Mapping[type, Handler]:
    """Return the ``handlers`` of ``table`` by event type, those of intercepted types with their interceptor."""
    taken_over = handlers.keys() & interceptors.keys()
    return {**handlers, **{kind: _taken_over(interceptors[kind], handlers[kind], table) for kind in taken_over}}


def _taken_over(intercept: Callable[[Any, Fold], object], handler: Handler, table: Table) -> Handler:
    fold = partial(handler, table)
    return lambda _table, event: intercept(event, fold)
