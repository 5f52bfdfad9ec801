"""Simulation: realistic sessions of every ruleset, generated from a seed, with irregularities only on request."""

from audit.simulation.irregularities import IRREGULARITIES, Irregularity
from audit.simulation.nights import Night, night, play, tables_for
from settlement.catalogue.rule import RULESET_NAMES

__all__ = ["IRREGULARITIES", "RULESET_NAMES", "Irregularity", "Night", "night", "play", "tables_for"]
