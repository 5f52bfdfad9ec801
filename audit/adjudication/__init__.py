"""Adjudication: streams of the event store folded through the law, and the projections of it.

stream_reader    a stream as decoded events, with its corrections
replay           fold a stream from its cursor on: findings, wagers, snapshot, cursor
fairness         which stream a worker replays next, so that no casino delays another
findings         store findings by their identity, promote those of a complete run
noted            what a step notes of a session for its figures, and the projection that this gives
retired_wagers   settled wagers outside the snapshot, found again by their id
results          the adjudication of a stream, put together from the tables
what_if          what-if runs: other readings or another engine version, and the difference
terminal_report  an adjudication as a person reads it at a terminal
"""
