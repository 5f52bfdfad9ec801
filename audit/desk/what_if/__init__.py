"""What-if runs: what other readings or another engine version would find, and how that differs."""
