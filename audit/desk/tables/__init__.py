"""Tables: streams, their events as sentences, and the felt at any instant."""
