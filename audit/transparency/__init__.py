"""The transparency log over the event store: a tree of batches, its signed checkpoints, proofs and verification."""
