"""Each module verifies a database of its own: what other tests have committed is no fault of these, and takes no time.

The rows that the tests of a module share are in one transaction, ``module_db``. A cluster's database cannot be copied:
there, what is known before a test is left out.
"""

from __future__ import annotations

import pytest

from tests import citus
from tests.audit.projections.record import note_committed


@pytest.fixture(scope=citus.MODULE, autouse=True)
def _committed_before(own_database: None, module_db: None) -> None:
    if citus.COORDINATOR:
        note_committed()
