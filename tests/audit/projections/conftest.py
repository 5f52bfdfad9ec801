"""What other tests have committed is no fault of these."""

from __future__ import annotations

import pytest

from tests.audit.projections.record import note_committed


@pytest.fixture(autouse=True)
def _committed_before(db: None) -> None:
    note_committed()
