"""What the tests of messages share: a receiver on this machine, and leave to send to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.audit.notifications.receivers import Receiver, receiving


@pytest.fixture
def this_machine_may_be_sent_to(settings: Any) -> None:
    settings.CABOCHON_WEBHOOK_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found
