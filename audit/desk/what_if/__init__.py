"""What-if runs: how far each is, and what it finds that the standing adjudication does not."""
