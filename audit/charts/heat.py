"""The heat of a table of counts: five tints, from the rarest to the most frequent. The count itself is in the cell."""

from __future__ import annotations

TINTS = 5


def tint(count: int, most: int) -> int:
    """Return the tint of a count, 0 for none at all. ``most`` is the largest count of the table."""
    if count <= 0:
        return 0
    return min(TINTS, 1 + (count - 1) * TINTS // max(most, TINTS))
