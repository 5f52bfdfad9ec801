"""Casework: from "something is wrong" to "proved, explained, closed", by two officers.

    machine   the states and what leads from one to another, as a table; its diagram is made from it
    work      what an officer does to a case: checked, recorded as an event of the log, done, in one transaction

A case is opened with the first finding of its identity, by the database, and stays with it when a later replay finds
the same again or finds it no more.
"""
