"""What waits for a second officer, on one page: closings, corrections, entries of the register, accounts."""
