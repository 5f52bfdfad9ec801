"""The recorded win so far: in the order in which wagers were decided, whatever that of their placement."""

from __future__ import annotations

from settlement.night.wins import won_so_far


def test_wins_add_up_in_the_order_of_the_events_that_decided_them() -> None:
    assert won_so_far([(9, 100), (4, -250), (0, -7), (12, 5)]) == [-7, -257, -157, -152]


def test_what_one_event_decided_stays_in_the_order_of_placement() -> None:
    assert won_so_far([(4, 10), (4, -30), (2, 1)]) == [1, 11, -19]
    assert won_so_far([]) == []
