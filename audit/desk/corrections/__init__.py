"""Corrections that wait for two officers, at the desk."""
