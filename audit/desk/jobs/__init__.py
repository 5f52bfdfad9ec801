"""Background jobs that officers start: progress, stopping, results."""
