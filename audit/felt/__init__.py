"""The felt: any table at any instant, as data and as a drawing.

    stream, seq ─► moments ─► what stood, what was thrown, the point         the engine's own state
                                 │
                                 ▼
                              drawing ─► SVG of the layout, chips where players put them

One drawing for page, print and PDF. The page flips states of chips that are drawn once; nothing else draws.
"""

from audit.felt.drawing import draw, standalone
from audit.felt.moments import Moment, Replay, Stake, replay_of, table_at

__all__ = ["Moment", "Replay", "Stake", "draw", "replay_of", "standalone", "table_at"]
