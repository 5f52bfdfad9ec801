"""Background jobs: verifications, what-if runs and exports that officers start, follow and stop."""
