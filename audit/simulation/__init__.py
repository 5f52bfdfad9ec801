"""Nights that never were: realistic sessions of every ruleset, from a seed, orderly unless asked otherwise."""

from audit.simulation.irregularities import IRREGULARITIES, Irregularity
from audit.simulation.nights import RULESET_NAMES, Night, night, play, tables_for

__all__ = ["IRREGULARITIES", "RULESET_NAMES", "Irregularity", "Night", "night", "play", "tables_for"]
