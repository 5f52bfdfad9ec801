"""Access: what each role may see and do, and at which casinos."""
