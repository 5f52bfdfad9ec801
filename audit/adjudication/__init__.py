"""Replay: streams of the log through the law, and what came of it."""
