"""Faults by schedule: processes that die at every step between receive and commit, and what holds afterwards."""
