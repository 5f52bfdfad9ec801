"""Dates in French. An instant is in UTC here: Django knows of no casino."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j N Y"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j N Y, H:i T"
TIME_FORMAT = "H:i"
