"""The record itself: its state, and quarantine, requests that were refused, byte for byte."""
