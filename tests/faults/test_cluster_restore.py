"""A whole cluster is lost, and restored to a restore point: nothing from before it is, and the rest is sent again.

base backups ─► load ─► in doubt: a seal, an opening ─► *the point* ─► load ─► all nodes are gone
    ─► each restored to the point ─► what was in doubt is decided ─► verify, recover, sent again, verify
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connections

from audit.event_store import read
from audit.models import Role
from audit.transparency import epochs
from audit.transparency.sequencer import Forked
from tests.audit.casework.test_actions import hired
from tests.audit.event_store.cluster_nodes import attempted
from tests.faults.own_cluster import Cluster, Node
from tests.faults.test_disks import Table, recover, verified

pytestmark = pytest.mark.faults

POINT = "before the loss"
NAMES = "abcdefgh"


def stored(table: Table) -> dict[str, int]:
    """Return how many events of each stream are there."""
    heads = {name: read.head_of(table.tenant.casino.pk, name) for name in table.events}
    return {name: len(list(read.whole(head.stream_id))) if head else 0 for name, head in heads.items()}


def sealed(cluster: Cluster) -> int:
    [(count,)] = cluster.coordinator.ask("select count(*) from log.leaf")
    return int(count)


def leave_a_seal_in_doubt(cluster: Cluster, table: Table, worker: Node) -> None:
    """Have the coordinator commit a seal of which a worker does not know any more what has become of it."""
    cluster.coordinator.hold_commits()
    attempt = attempted(table.seal)
    cluster.coordinator.wait_until_held()
    worker.cut_power()
    cluster.coordinator.let_commits_go()
    attempt.join()
    worker.start()


def leave_an_opening_in_doubt(cluster: Cluster, table: Table, worker: Node) -> None:
    """Have the workers prepare an opening that the coordinator never decides."""
    worker.hold_commits()
    attempt = attempted(lambda: table.send("new"))
    worker.wait_until_held()
    cluster.coordinator.cut_power()
    attempt.join()
    cluster.coordinator.start()
    worker.let_commits_go()
    connections.close_all()


def test_restored_to_a_restore_point_a_cluster_has_all_from_before_it_and_takes_the_rest_again(
    own_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = own_cluster
    table = Table(*NAMES, "new", "later")
    officers = [hired(table.tenant, Role.DIRECTOR, "dora"), hired(table.tenant, Role.SECOND, "sam")]
    assert [table.send(name) for name in NAMES] == [201] * len(NAMES)
    assert {cluster.worker_of(table.tenant.stream(name).stream_id) for name in NAMES} == {*cluster.workers}
    table.seal()
    for node in cluster.nodes:
        node.back_up()
        assert table.send(NAMES[0], 1) == 201, "tables report meanwhile"
        node.leave_undecided()

    assert [table.send(name) for name in NAMES] == [201] * len(NAMES)
    before = sealed(cluster)
    first, second = cluster.workers
    leave_a_seal_in_doubt(cluster, table, first)
    whole = sealed(cluster)
    assert whole > before, "the coordinator has committed it"
    of_the_seal = cluster.prepared()
    assert of_the_seal == first.prepared() > 0, "one by each connection that took part"
    leave_an_opening_in_doubt(cluster, table, second)
    assert first.prepared() > of_the_seal
    assert second.prepared() > 0
    in_doubt = cluster.prepared()
    cluster.coordinator.ask(f"select citus_create_restore_point('{POINT}')")
    at_the_point = stored(table)

    cluster.decide()
    assert [table.send(name, 3) for name in NAMES] == [201] * len(NAMES)
    assert table.send("later") == 201
    table.seal()
    for node in cluster.nodes:
        node.archive_all()
    connections.close_all()
    cluster.destroy()

    for node in cluster.nodes:
        node.restore(POINT)
    assert cluster.prepared() == in_doubt
    cluster.decide()
    assert stored(table) == at_the_point, "nothing from before the point is missing, and nothing after it is there"
    assert sealed(cluster) == whole, "the seal that was decided is there, whole"
    assert verified() == "Everything holds."

    with pytest.raises(Forked):
        table.seal()
    with pytest.raises(CommandError, match="checkpoint"):
        verified("--against", str(tmp_path / "checkpoints"))
    recover(monkeypatch, [officer.username for officer in officers])
    assert epochs.current().number == 2
    for name in NAMES:
        assert table.send(name) == 409
        answer = table.history.requests[-1].answer
        assert (answer["code"], answer["next_seq"], answer["epoch"]) == ("gap", at_the_point[name] + 1, 2)
    table.acknowledged = at_the_point  # from which each sends again, the two that are not there from their beginning
    table.finish()
    assert stored(table) == {name: len(events) for name, events in table.events.items()}
    assert verified("--deep", "--against", str(tmp_path / "checkpoints")) == "Everything holds."
    # What was signed, said and given receipts before is of what was lost; what is here is right.
    assert table.broken_rules() <= {"checkpoint-root", "next-seq", "receipt-changed", "receipt-unsealed"}
