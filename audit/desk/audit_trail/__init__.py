"""The audit trail: what officers did at the desk."""
