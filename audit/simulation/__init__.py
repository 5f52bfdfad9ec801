"""Simulation: realistic sessions of every ruleset, generated from a seed, with irregularities only on request."""

from audit.simulation.irregularities import IRREGULARITIES, Irregularity
from audit.simulation.nights import RULESET_NAMES, Night, night, play, tables_for

__all__ = ["IRREGULARITIES", "RULESET_NAMES", "Irregularity", "Night", "night", "play", "tables_for"]
