"""Quarantine: requests that were refused, byte for byte."""
