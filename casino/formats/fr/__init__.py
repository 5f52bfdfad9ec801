"""The formats of one language."""
