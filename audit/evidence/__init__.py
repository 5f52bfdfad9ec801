"""Evidence: what of a finding a regulator checks without us."""
