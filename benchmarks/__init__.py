"""What is measured: ratios in one run, because machines differ and are shared."""
