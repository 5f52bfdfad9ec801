"""How passwords are hashed: by Argon2id in one lane."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher

_EIGHT_LANES, _ONE_LANE = ",p=8$", ",p=1$"


class OneLane(Argon2PasswordHasher):
    """Argon2id as Django has it, in one lane in place of eight.

    The memory and work of a guess are the same. Eight lanes are eight threads, which would have every core from other
    requests, and of whose time the budget of the request (``audit.api.processor_budget``) sees an eighth at most.
    """

    parallelism = 1

    def must_update(self, encoded: str) -> bool:
        """Return whether a hash is weaker than those made now; one in eight lanes is not."""
        return bool(super().must_update(encoded.replace(_EIGHT_LANES, _ONE_LANE)))
