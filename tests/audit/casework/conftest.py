"""A casino with findings that the tests of a module share: made once, and rolled back after the last of them.

A test has a copy: what it does to an object is not rolled back with its rows.
"""

from __future__ import annotations

from copy import deepcopy

import pytest
from django.test import Client

from tests import citus
from tests.audit.casework.test_actions import Desk


@pytest.fixture(scope=citus.MODULE)
def shared_desk(module_db: None) -> Desk:
    desk = Desk()
    desk.tenant.client = Client()  # one that has answered nothing can be copied
    return desk


@pytest.fixture
def desk(shared_desk: Desk, db: None) -> Desk:
    return deepcopy(shared_desk)
