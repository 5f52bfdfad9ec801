"""The transparency log: a Merkle tree over batches, signed checkpoints, proofs, and verification."""
