"""The calendar that every page can show."""

from __future__ import annotations

from datetime import UTC, datetime

CALENDAR = (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC))
"""The first and the last instant that every page can show, in whatever time zone. PostgreSQL has later ones."""
