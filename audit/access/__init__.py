"""Access: what each role may do, and at which casinos."""
