"""Reconciliation: every night, the money explained to the minor unit, and signed.

sessions of a gaming day ─► figures, each by itself ─┐
counts of the drop ──────────────────────────────────┼─► bridge ─► twelve lines ─► findings ─► a version, signed
findings that stand ─────────────────────────────────┘
"""
