"""Evidence bundles: a finding as one file that a regulator verifies without us."""
