"""What the tables say, held against the log: findings, cases and actions, the house register, nights and signatures."""
