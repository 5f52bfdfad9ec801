"""The entries of desks that the checks of one verification read."""

from __future__ import annotations

import pytest

from audit.projections.entries import _desks, desks_read_once
from tests.audit.casework.test_actions import Desk

pytestmark = pytest.mark.django_db


def test_what_is_read_once_is_kept_for_each_casino_and_no_longer_than_the_block() -> None:
    one, other = Desk().tenant.casino.pk, Desk().tenant.casino.pk
    expected = [_desks(one), _desks(other)]
    assert all(expected)
    assert expected[0] != expected[1]
    for _ in range(2):
        with desks_read_once():
            assert [_desks(one), _desks(other)] == expected
            assert _desks(one) is _desks(one), "read once"
    assert _desks(one) is not _desks(one)
