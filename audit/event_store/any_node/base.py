"""A process is given the address of one node of a Citus cluster, any of them, and works.

Django's tables are on the coordinator. So whoever is given a worker asks it, whenever it connects, who that is: every
node has the metadata of its cluster. The connection goes there, with the same account and options; the connection to
the node that was given stays, as the node nearby (``nearby``).

A server without Citus is asked once by a process, and the coordinator whenever somebody connects to it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from copy import copy
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import psycopg
from django.conf import settings
from django.db import OperationalError
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator

NEAR = "near"
"""Django's name of the database that ``CABOCHON_NEAR_URL`` gives: the same one, by another node of its cluster."""

_HAS_CITUS = "select to_regclass('pg_catalog.pg_dist_local_group') is not null"

_COORDINATOR = """
select n.nodename, n.nodeport
from pg_dist_local_group here left join pg_dist_node n on n.groupid = 0 and n.noderole = 'primary'
where here.groupid <> 0
"""
"""No row on the coordinator; on a worker, the coordinator's host and port, null if it has none."""

_UNSET = (
    "This node is a worker of a cluster, and its metadata has no coordinator. On the coordinator, as a superuser: "
    "select citus_set_coordinator_host('HOST')"
)
_LOOPBACK = (
    "This node is a worker of a cluster, and its metadata has {host} as the coordinator's host, which from here is "
    "another machine. On the coordinator, as a superuser: select citus_set_coordinator_host('HOST')"
)
_NO_ANSWER = "This node is a worker of a cluster, whose coordinator {host}:{port} cannot be connected to: {error}"
_ANOTHER = (
    "This node is a worker of a cluster, whose metadata has {host}:{port} as the coordinator, which it is not. On the "
    "coordinator, as a superuser: select citus_set_coordinator_host('HOST')"
)


class NoCoordinator(OperationalError):
    """The node that was given is a worker, and leads to no coordinator. The text says why, and what to do."""


def coordinator_to_follow(found: tuple[str | None, int | None] | None, *, reached: str) -> tuple[str, int] | None:
    """Return host and port of the coordinator, None if the node that was asked is no worker.

    ``found`` is its answer; ``reached`` the IP address by which it was reached, '' for a socket of this machine.
    Raise ``NoCoordinator``.
    """
    if found is None:
        return None
    host, port = found
    if not host or not port:
        raise NoCoordinator(_UNSET)
    if _is_this_machine(host) and not _is_this_machine(reached):
        raise NoCoordinator(_LOOPBACK.format(host=host))
    return host, port


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in {"", "localhost"}


_has_citus: dict[tuple[object, ...], bool] = {}
"""Each database that a process has connected to: whether it has Citus."""


_LOST = re.compile(
    "server closed the connection unexpectedly|no connection to the server|connection not open"
    "|could not (receive data from|send data to) server"
)
"""What libpq says on the node that was asked when another dies. Source: PostgreSQL 15, fe-misc.c and fe-exec.c."""


class _ErrorsOfNodes(DatabaseErrorWrapper):
    """Django's, but for a worker that died: Citus has an internal error for that, which is a database that is down."""

    wrapper: base.DatabaseWrapper

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if isinstance(exc_value, psycopg.errors.InternalError_) and _LOST.search(str(exc_value)):
            self.wrapper.errors_occurred = True
            raise OperationalError(*exc_value.args).with_traceback(traceback) from exc_value
        if exc_type is not None:
            super().__exit__(exc_type, exc_value, traceback)


class _OfNodes(base.DatabaseWrapper):
    binary_cursor: psycopg.Cursor[Any] | None = None  # what ``binary_copy`` keeps of the connection

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        """Return Django's context manager, which has its errors raised."""
        return _ErrorsOfNodes(self)


class DatabaseWrapper(_OfNodes):
    """Django's connection: to the node that was given, or to the coordinator that it names.

    ``CABOCHON_NEAR_URL`` has the node nearby: by its name, the connection stays with the node that was given.
    """

    _near: base.DatabaseWrapper | None = None

    def nearby(self) -> base.DatabaseWrapper:
        """Return the connection to the node that was given, which is this one unless that node is a worker."""
        if self._near is None:
            self.ensure_connection()
        return self._near or self

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        """Connect. Raise ``NoCoordinator``, or what psycopg raises."""
        self._leave_near()
        given: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        if self.alias == NEAR:
            return given
        with _closed_if_it_fails(given):
            at = coordinator_to_follow(self._ask(given), reached=given.info.hostaddr)
            if at is None:
                return given
            coordinator = self._connect_to_coordinator(*at, conn_params)
        if NEAR in settings.DATABASES:
            given.close()
        else:
            self._near = _Near(copy(self.settings_dict), self.alias, given)
        return coordinator

    def _ask(self, node: psycopg.Connection[Any]) -> tuple[str | None, int | None] | None:
        database = (self.settings_dict["HOST"], self.settings_dict["PORT"], self.settings_dict["NAME"])
        if _has_citus.get(database) is False:
            return None
        node.autocommit = True  # no transaction that Django does not know of; it sets this anew
        if database not in _has_citus:
            _has_citus[database] = node.execute(_HAS_CITUS).fetchone() == (True,)
        return node.execute(_COORDINATOR).fetchone() if _has_citus[database] else None

    def _connect_to_coordinator(self, host: str, port: int, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        others = {name: value for name, value in conn_params.items() if name != "hostaddr"}
        try:
            coordinator: psycopg.Connection[Any] = super().get_new_connection({**others, "host": host, "port": port})
        except psycopg.OperationalError as error:
            raise NoCoordinator(_NO_ANSWER.format(host=host, port=port, error=error)) from error
        with _closed_if_it_fails(coordinator):
            coordinator.autocommit = True
            if coordinator.execute(_HAS_CITUS).fetchone() != (True,) or coordinator.execute(_COORDINATOR).fetchone():
                raise NoCoordinator(_ANOTHER.format(host=host, port=port))
        return coordinator

    def _leave_near(self) -> None:
        near, self._near = self._near, None
        if near is not None:
            near.close()

    def close(self) -> None:
        """Close the connection, and that to the node nearby."""
        super().close()
        if self._near is not None:
            self._near.close()

    def close_if_unusable_or_obsolete(self) -> None:
        """Close what is to be opened anew by the next request: see Django."""
        super().close_if_unusable_or_obsolete()
        if self._near is not None:
            self._near.close_if_unusable_or_obsolete()


class _Near(_OfNodes):
    """The node nearby: at first by the connection that is there, and by new ones after it was closed."""

    def __init__(self, settings_dict: dict[str, Any], alias: str, given: psycopg.Connection[Any]) -> None:
        super().__init__(settings_dict, alias)
        self._given: psycopg.Connection[Any] | None = given

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        given, self._given = self._given, None
        if given is not None:
            return given
        new: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        return new

    def close(self) -> None:
        super().close()
        given, self._given = self._given, None
        if given is not None:
            given.close()


@contextmanager
def _closed_if_it_fails(connection: psycopg.Connection[Any]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
