"""The log. Nothing else touches its tables: events are appended here, read here, and changed nowhere."""
