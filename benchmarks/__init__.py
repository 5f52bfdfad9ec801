"""Benchmarks. Each compares figures taken in one run, because machines differ and are shared."""

EVENTS_A_COUP = {"fr-craps": 9, "qc-craps": 7, "fr-roulette": 17, "fr-american-roulette": 22, "fr-boule": 18}
"""Events of one coup of the simulator, about, by ruleset: they turn a number of events into a number of coups."""
