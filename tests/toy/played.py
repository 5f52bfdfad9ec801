"""A night of two coins, recorded, found and shown: what a fresh process does in which the package is installed.

``test_installed`` runs it with a database of its own. It prints what it saw, as JSON.
"""

from __future__ import annotations

import json
from datetime import date

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from audit.adjudication.replay import advance  # noqa: E402
from audit.models import Officer  # noqa: E402
from audit.presentation import bet_label  # noqa: E402
from audit.simulation import play  # noqa: E402
from casino.celery import app  # noqa: E402
from settlement.rulesets import RULESETS  # noqa: E402
from tests.audit.tables import Tenant  # noqa: E402


def show(ruleset: str, irregularity: str) -> dict[str, object]:
    """Play a table of ``ruleset`` with an irregularity, record it, and return the page of its finding."""
    tenant = Tenant()
    night = play(
        *(ruleset,),
        casino=tenant.code,
        code=tenant.tables[0],
        gaming_day=date(2026, 11, 19),
        seed=3,
        coups=30,
        irregularities=[irregularity],
    )
    answer = tenant.post(night.stream, night.events)
    assert answer.status_code == 201, answer.content
    stream = tenant.stream(night.stream)
    while (progress := advance(stream.pk)) is not None and progress.behind:
        pass
    finding = stream.findings.filter(rule=irregularity).first()
    assert finding is not None, [each.rule for each in stream.findings.all()]
    client = Client()
    client.force_login(Officer.objects.create_superuser(f"chief-{ruleset}", password="x"))
    page = client.get(f"/admin/audit/finding/{finding.pk}/change/")
    return {"rule": finding.rule, "status": page.status_code, "page": page.content.decode()}


if __name__ == "__main__":
    settings.ALLOWED_HOSTS = ["*"]
    call_command("logkey", "--make", "--quiet")
    app.conf.broker_url = app.conf.broker_write_url = app.conf.broker_read_url = "memory://"
    print(
        json.dumps(
            {
                "rulesets": list(RULESETS),
                "pair": {name: bet_label(name, "pair") for name in RULESETS if "pair" in RULESETS[name].kinds},
                "toy": show("toy-two-coins", "coins-tossed-before-call"),
                "roulette": show("fr-roulette", "payout-overpaid"),
            }
        )
    )
