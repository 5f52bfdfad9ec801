"""Benchmarks. Each compares figures taken in one run, because machines differ and are shared."""
