"""Reconciliation: every gaming day, the money explained to the minor unit, and signed by two officers.

sessions of a gaming day ─► figures of each ─┐
counts of the drop ──────────────────────────┼─► bridge ─► twelve checks ─► findings ─► a version of the report
standing findings ───────────────────────────┘                                               │
                                                     presentation ─► page, PDF, CSV, XLSX, month ◄─┘
"""
