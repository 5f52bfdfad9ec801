"""The record: what was refused and quarantined."""
