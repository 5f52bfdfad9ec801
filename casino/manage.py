"""Django's command line, for this project: ``manage.py`` of a checkout, ``cabochon-manage`` where it is installed."""

from __future__ import annotations

import gc
import os
import signal
import sys


def main() -> int:
    """Run a command. An error of the database, or Ctrl-C, is one line, not a traceback."""
    if sys.argv[1:2] == ["migrate"]:
        # It makes every model anew at each step: looking for garbage was a quarter of its time. A command that reads
        # sessions leaves garbage with each of them, and would keep that of many.
        gc.set_threshold(200_000, 10, 1_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import InterfaceError, OperationalError, ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except (OperationalError, InterfaceError) as error:
        print(_not_running() or f"The database does not answer: {_line(error)}", file=sys.stderr)
        return 1
    except ProgrammingError as error:
        advice = _advice(error)
        if not advice:
            raise
        print(f"{advice}: {_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _not_running() -> str:
    """Return how to start the embedded database, where it is the one to use and does not run; "" otherwise."""
    from django.conf import settings

    from casino.embedded.postgres import EmbeddedPostgres

    sockets = EmbeddedPostgres(settings.DATA_DIR).sockets
    if settings.DATABASES["default"].get("HOST") != str(sockets) or any(sockets.glob(".s.PGSQL.*[0-9]")):
        return ""
    return "Cabochon is not running on this machine. Start it (make run, or cabochon-up), and try again."


def _line(error: Exception) -> str:
    from audit.evidence.verify import printable

    return printable(" ".join(str(error).split()))


def _advice(error: Exception) -> str:
    """Return what to do about a statement that the database refuses; "" if that is a fault of the program."""
    from psycopg import errors

    match error.__cause__:
        case (
            errors.UndefinedTable() | errors.UndefinedColumn() | errors.UndefinedFunction() | errors.InvalidSchemaName()
        ):
            return "The database is not migrated (manage.py migrate)"
        case errors.InsufficientPrivilege():
            return "The account of DATABASE_URL may not do this (docs/deployment.md, roles of the database)"
        case _:
            return ""


if __name__ == "__main__":
    sys.exit(main())
