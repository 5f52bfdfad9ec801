"""The felt: a table at any event, as data and as an SVG drawing.

    stream, seq ─► frames ─► wagers, point, last result           from the engine's own state
                     │
                     ▼
                  drawing ─► SVG of the layout (geometry, shapes), with chips where players put them

Page, print and PDF share one drawing. The page switches the states of chips that are drawn once.
"""

from audit.felt.drawing import draw, standalone
from audit.felt.frames import Frame, Playback, Stake, playback_of, playback_of_events, table_at

__all__ = ["Frame", "Playback", "Stake", "draw", "playback_of", "playback_of_events", "standalone", "table_at"]
