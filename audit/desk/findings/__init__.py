"""Findings: the queue, one finding's page, casework on it, saved views."""
