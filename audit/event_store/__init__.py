"""The event store: append-only streams of events, written and read here and by ``audit.transparency`` alone."""
