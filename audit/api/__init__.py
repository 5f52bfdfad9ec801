"""The HTTP API (``/api/v1/``): table systems record events; systems read streams, findings, reports and proofs.

``fast_path`` answers the usual request to record events in front of Django; the views answer everything.
"""
