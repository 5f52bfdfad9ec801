"""Complaints at the desk: the list, the form that enters one, and the page on which it is answered."""
