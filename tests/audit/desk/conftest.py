"""What the tests of a module of the desk share: a casino with findings, and a simulated night.

Each is made once a module and rolled back after it. A test has a copy: what it does to an object is not rolled back
with its rows.
"""

from __future__ import annotations

from copy import deepcopy

import pytest
from django.test import Client

from tests import citus
from tests.audit.casework.conftest import desk, shared_desk
from tests.audit.desk.persons.test_names_on_pages import NamedNight

__all__ = ["desk", "shared_desk"]


@pytest.fixture(scope=citus.MODULE)
def shared_night(module_db: None) -> NamedNight:
    night = NamedNight()
    night.tenant.client = Client()
    return night


@pytest.fixture
def night(shared_night: NamedNight, db: None) -> NamedNight:
    return deepcopy(shared_night)
