"""Notifications: what is sent to people outside the desk."""
