"""Fault schedules: processes are killed at every step between receive and commit; invariants are checked afterwards."""
