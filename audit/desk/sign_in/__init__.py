"""Signing in, with a second factor."""
