"""Persons: the names behind the opaque ids of events, for whoever may see them.

directory        names for the ids of a page, in one query
directory_file   the directory as a CSV file: reading one in, with a report of what was refused
choosing         a player by an id or a part of a name
play             what the nights kept of a player's play
erasure          erasing somebody: the act stays, the name goes
subject          all that the record holds of one id, as a file
"""
