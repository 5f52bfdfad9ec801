"""The HTTP interface of table systems and of those who read."""
