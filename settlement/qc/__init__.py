"""Québec law: the By-law respecting casino games, section by section."""
