"""The HTTP API (``/api/v1/``): table systems record events; systems read streams, findings, reports and proofs.

``recording`` stores plain requests to record events without Django; the views answer everything.
"""
