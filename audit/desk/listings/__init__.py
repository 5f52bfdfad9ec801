"""Watch and exclusion lists of players at the desk."""
