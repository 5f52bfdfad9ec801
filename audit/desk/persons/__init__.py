"""Persons: the directory of names behind the ids of events."""
