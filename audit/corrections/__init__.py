"""Corrections that came after money moved: they have no effect until two officers approve them.

decisions ─► countersign, refuse: each an entry of the audit trail; which corrections of a stream are approved
waiting   ─► which corrections wait, from the findings that say so
"""
