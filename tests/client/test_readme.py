"""The README for integrators: what it names exists. ``test_record`` runs what it shows."""

from __future__ import annotations

import re

from tests.client.record import ROOT, command

README = ROOT / "client" / "README.md"


def test_every_command_of_the_readme_exists() -> None:
    named = set(re.findall(r"`?cabochon (check|send|status|lost|retry|receipts|[a-z]+)\b", README.read_text()))
    help_text = command("--help").stdout
    assert named
    assert {name for name in named if f"\n    {name}" not in help_text} == set()


def test_the_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", README.read_text())
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
