"""Django's command line, for this project: ``manage.py`` of a checkout, ``cabochon-manage`` where it is installed."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run a command. A database that does not answer is one line, not a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        print(f"The database does not answer: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
