"""Two clocks that step: that of the processes, as far as the code under test reads it, and that of PostgreSQL.

The second is ``clock_timestamp()``, by which a batch is received. In a database of its own another function takes its
name, which adds a step from a table. A whole server under a clock that steps is in ``test_disks.py``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from typing import Any

import psycopg
import pytest

STEPPED_CLOCK = """
create schema faults;
create table faults.clock (step interval not null);
insert into faults.clock values ('0');
grant usage on schema faults to public;
grant select on faults.clock to public;
alter function pg_catalog.clock_timestamp() rename to clock_timestamp_unstepped;
create function pg_catalog.clock_timestamp() returns timestamptz language sql volatile parallel safe
    as 'select pg_catalog.clock_timestamp_unstepped() + (select step from faults.clock)';
"""


class Clocks:
    """The steps of both clocks against the true one, which none of them has at first."""

    def __init__(self, superuser: psycopg.Connection[Any]) -> None:
        self.superuser = superuser
        self.superuser.execute(STEPPED_CLOCK)
        self.of_processes = self.of_server = timedelta()

    def set(self, *, of_processes: timedelta, of_server: timedelta) -> None:
        self.of_processes = of_processes
        if of_server != self.of_server:
            self.superuser.execute("update faults.clock set step = %s", (of_server,))
        self.of_server = of_server

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """Have every module of the code under test that asks for the time be told that of ``of_processes``."""
        clocks = self

        class AnyDatetime(type):
            def __instancecheck__(cls, instance: object) -> bool:
                return isinstance(instance, datetime)

        class Stepped(datetime, metaclass=AnyDatetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return datetime.now(tz) + clocks.of_processes

        with pytest.MonkeyPatch.context() as patch:
            for name, module in list(sys.modules.items()):
                is_ours = name.startswith("audit.") or name == "django.utils.timezone"
                if is_ours and getattr(module, "datetime", None) is datetime and _asks(module):
                    patch.setattr(module, "datetime", Stepped)
            yield


def _asks(module: Any) -> bool:
    return re.search(r"\bdatetime\.now\(", inspect.getsource(module)) is not None
