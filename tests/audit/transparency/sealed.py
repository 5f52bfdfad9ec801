"""A sealed log for tests: several streams in several batches, under several checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome
from audit.transparency.sequencer import Sequencer, catch_up
from audit.transparency.verify import verify
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant


def seal() -> Sequencer:
    """Seal pending batches, as the sequencer does."""
    sequencer = Sequencer(lambda left: None)
    sequencer.load()
    catch_up(sequencer)
    return sequencer


def several_streams(tenant: Tenant, *, sizes: Sequence[Sequence[int]]) -> list[str]:
    """Record a stream for each list of batch sizes, sealing after each round of batches. Return their names."""
    names = [unique_name() for _ in sizes]
    events = [tenant.session(name, sum(batches)) for name, batches in zip(names, sizes, strict=True)]
    for turn in range(max(map(len, sizes))):
        for name, batches, stream_events in zip(names, sizes, events, strict=True):
            if turn < len(batches):
                first = sum(batches[:turn])
                assert tenant.send(name, stream_events[first : first + batches[turn]]).status_code == 201
        seal()
    return names


def verified(**options: object) -> Outcome:
    """Verify the log under its own keys."""
    return verify(signing_keys.verifiers("checkpoint"), **options)  # type: ignore[arg-type]
