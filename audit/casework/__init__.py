"""Casework: from a finding to a closed case, by two officers.

    state_machine   the states of a case and the transitions between them, as a table; the diagram is generated from it
    video           what is asked of the video room
    escalation      cases that are late, and who is told
    actions         what an officer does to a case: checked, done and recorded in the audit trail, in one transaction

The database opens a case with the first finding of its identity that is more than information. The case stays with it
when a later replay finds the same again, or no longer finds it.
"""
