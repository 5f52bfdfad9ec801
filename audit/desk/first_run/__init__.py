"""The page that a newcomer reads first."""
