"""The house register of readings: what a casino decides where the law leaves it open, above what its tables declare.

readings ─► which readings there are, their values, and what the law allows
entries  ─► propose, approve, decline, withdraw: each an entry of the audit trail
in_force ─► what the register says of a stream, by casino, table, ruleset and gaming day
touched  ─► which streams and nights an entry concerns
shifts   ─► into which shifts the register divides a day
"""
