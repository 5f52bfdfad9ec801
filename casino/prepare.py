"""``python -m casino.prepare``: check the project, migrate the database, create the signing keys, collect static files.

They are four commands of ``manage.py``, run in one process because Django takes most of a second to start. A record
that is new keeps from its first casino on what each is set to.
"""

from __future__ import annotations

import os
import sys

import django
from django.core.management import CommandError, call_command
from django.db.utils import OperationalError

from audit.evidence.verify import printable


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    os.environ.setdefault("CABOCHON_PROCESS", "migrate")  # as the superuser of the embedded PostgreSQL
    django.setup()
    try:
        call_command("check")
        call_command("migrate", verbosity=0)
        call_command("logkey", make=True, quiet=True)
        _keep_settings()
        call_command("collectstatic", interactive=False, verbosity=0)
    except (CommandError, OperationalError) as error:
        print(" ".join(map(printable, str(error).split("\n"))), file=sys.stderr)
        return 1
    return 0


def _keep_settings() -> None:
    from audit.models import Casino
    from audit.projections.takeover import keep_settings

    if not Casino.objects.exists():
        keep_settings()


if __name__ == "__main__":
    sys.exit(main())
