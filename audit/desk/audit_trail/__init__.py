"""The audit trail: what officers did, day by day."""
