"""Nights: the report of a gaming day, its sessions, its signatures, the month."""
