"""The mathematics of the night: what the money should have done, and how far chance explains what it did.

Pure, exact, and derived from the engine's own tables: ``edges`` prices every bet, ``value`` follows what stands,
``bridge`` takes a session's money apart, ``variance`` says how far luck goes, ``fairness`` watches dice and wheels,
``croupiers`` counts errors. ``docs/night-mathematics.md`` explains each figure.
"""
