"""What the overview writes without a template: names and words from outside stand in it as text."""

from __future__ import annotations

import re

import pytest
from django.utils.safestring import SafeString

from audit.casework.stakes import Stake
from audit.desk import parts
from audit.desk.overview.feed import Feed
from audit.desk.overview.waits import Incident
from audit.models import Finding
from audit.presentation import TimeLeft

HOSTILE = '<b title="x">&'
SHOWN = "&lt;b title=&quot;x&quot;&gt;&amp;"


def hostile_in(written: str) -> int:
    """Return how often the hostile text stands in markup as text; none of it is markup."""
    assert not re.search(r"<b\b", written)
    return written.count(SHOWN)


def test_an_incident_is_text_in_its_row_and_in_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "priority_bars", lambda finding: SafeString(""))
    stake, left = Stake("", HOSTILE, HOSTILE), TimeLeft(HOSTILE, 0.5, "")
    incident = Incident(Finding(pk=7), HOSTILE, "", stake, left, "", subject=HOSTILE)
    assert hostile_in(incident.as_row) == len(("title", "amount", "words", "time left"))
    assert hostile_in(incident.as_item) == len(("title", "amount", "subject", "time left"))


def test_a_feed_is_text_but_for_its_drawing() -> None:
    feed = Feed(HOSTILE, HOSTILE, HOSTILE, "/table/", SafeString("<svg></svg>"), HOSTILE, "silent")
    assert hostile_in(feed.link) == len(("table", "game", "casino", "words"))
    assert "<svg></svg>" in feed.link
