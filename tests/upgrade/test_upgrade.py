"""A record of each release, migrated to the head: same answers, same proofs, and it can be continued."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from settlement import ENGINE_VERSION
from tests.databases import database_once_a_run, new_database, server_url
from tests.settings import MIGRATED
from tests.upgrade.files import RELEASES, answered_by, ask, bundle_of, lay_out, load_migrated

Answers = dict[str, Any]

CHANGED_BY_RULE: dict[str, dict[str, Answers]] = {"1.0": {}}
"""What the engine of the head says otherwise about the findings of a release, by their rule."""

MORE_FACTS: dict[str, dict[str, frozenset[str]]] = {
    "1.0": {
        "entry-corrected": frozenset({"announced_by", "annulled", "changed", "entry_type", "grave"}),
        "payout-missing": frozenset({"ending"}),
        "payout-overpaid": frozenset({"part"}),
        "payout-underpaid": frozenset({"part"}),
        "wager-after-no-more-bets": frozenset({"analogy"}),
    }
}
"""The facts that it has beside those of a release, by the rule of the finding: no difference to an officer."""

ADDED: dict[str, dict[tuple[str, int, str, str], str]] = {"1.0": {}}
"""What the head finds and a release did not, with its severity."""

APART = ("deauville-sandbox.", "honfleur.R1.2026-08")
"""The sessions that no what-if run reads: those of a sandbox, and those of the month in the archive."""


def identified(findings: list[Answers]) -> dict[tuple[str, int, str, str], Answers]:
    """Return findings by their identity, without the digest of the readings: the head may have more readings."""
    by_identity = {}
    for row in findings:
        content = {name: value for name, value in row.items() if name != "readings_digest"}
        by_identity[row["stream"], row["seq"], row["rule"], row["wager"]] = content
    assert len(by_identity) == len(findings)
    return by_identity


@contextmanager
def database(*, template: str = "template0") -> Iterator[str]:
    """Create a database on the server of this run, yield its URL, and drop it."""
    yield from new_database(server_url(), template=template)


@pytest.fixture(scope="module", params=RELEASES)
def version(request: pytest.FixtureRequest) -> str:
    """A release of which there is a record."""
    return str(request.param)


@pytest.fixture(scope="module")
def before(version: str) -> Answers:
    """The answers of the release."""
    return answered_by(version)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    """The data folder for the record, with the checkpoints that the release exported."""
    folder = tmp_path_factory.mktemp("record")
    lay_out(folder, version)
    return folder


@pytest.fixture(scope="module")
def template(data: Path, version: str) -> str:
    """The name of the record's database, migrated to the head."""

    def fill(url: str) -> None:
        load_migrated(url, version, data)

    return database_once_a_run(f"{MIGRATED}_from_{version}", fill)


@pytest.fixture(scope="module")
def migrated(template: str) -> Iterator[str]:
    """The URL of the migrated record. Tests that write to it use ``copy``."""
    with database(template=template) as url:
        yield url


@pytest.fixture(scope="module")
def after(migrated: str, data: Path, version: str) -> Answers:
    """The head's answers about the migrated record, and the output of its verifiers."""
    bundles = (f"check={bundle_of(version)}", f"evidence={data / 'evidence.zip'}")
    return ask("record", "verify", "deploy", "tasks", *bundles, database_url=migrated, data=data)


@pytest.fixture
def copy(template: str) -> Iterator[str]:
    """The URL of a copy of the migrated record, to write to."""
    with database(template=template) as url:
        yield url


def test_the_record_has_what_an_upgrade_could_lose(before: Answers) -> None:
    record = before["record"]
    assert {row["code"] for row in record["casinos"]} == {"deauville", "honfleur", "deauville-sandbox"}
    assert {row["code"]: row["is_sandbox"] for row in record["settings_of_casinos"]}["deauville-sandbox"]
    assert {row["state"] for row in record["cases"]} == {"new", "investigating", "second", "closed"}
    assert {row["outcome"] for row in record["cases"]} == {"", "confirmed", "explained"}
    assert {"case.held", "case.reopened", "case.closed"} <= {row["type"] for row in record["case_acts"]}
    assert {row["state"] for row in record["nights"]} >= {"closed", "reviewed"}
    assert {row["state"] for row in record["register"]} == {"approved", "declined", "waiting"}
    assert {row["verdict"] for row in record["corrections"]} == {"countersigned", "refused"}
    assert {row["state"] for row in record["archived"]} == {"archived"}
    assert {row["kind"] for row in record["feed"]} >= {"opened", "superseded", "closed", "reopened"}
    assert sum(row["public_key"] is not None for row in record["signing_keys"]) == 1
    assert len(record["webhook_secrets"]) == 2
    assert [row["name"] for row in record["persons"]] == ["Anna Roche"]
    assert any(row["number"] for row in record["references"])
    assert any(row["superseded_at"] for row in record["findings"])
    assert len(record["proofs"]["checkpoints"]) > 5
    assert record["log"]["waiting"] == 0
    for table in (
        *("complaints", "erased", "groups", "ledger", "webhooks", "what_ifs", "jobs", "memberships", "quarantined"),
        *("saved_views", "night_subscribers", "api_keys", "session_figures", "cursors", "deadlines"),
    ):
        assert record[table], table
    assert before["verify"]["holds"]


def test_the_migrated_record_answers_as_the_release_did(before: Answers, after: Answers) -> None:
    assert after["record"].keys() == before["record"].keys()
    for part, answer in before["record"].items():
        assert after["record"][part] == answer, part


def test_the_log_verifies_and_is_protected(after: Answers) -> None:
    assert after["verify"]["holds"], after["verify"]["lines"]
    assert after["deploy"] == []


@pytest.mark.faults
def test_a_month_in_the_archive_is_proved_and_can_be_opened_again(copy: str, data: Path) -> None:
    prove, attach = f"command=verify --archive {data / 'archive'}", "command=archive --attach 2026-08"
    answers = ask(prove, attach, "verify", database_url=copy, data=data)
    assert "2026-08 is archived" in answers[prove]
    assert "; read and proved" in answers[prove]
    assert "2026-08" in answers[attach]
    assert answers["verify"]["holds"], answers["verify"]["lines"]


def test_every_scheduled_task_has_a_worker_that_knows_it(after: Answers) -> None:
    assert after["tasks"]["scheduled"] >= 1
    assert after["tasks"]["unknown"] == []


def test_evidence_exported_before_and_after_verifies_under_the_same_checkpoint(after: Answers) -> None:
    exported_before, exported_after = after["check"], after["evidence"]["lines"]
    assert len(exported_before) == len(exported_after) > 5
    assert exported_before[1:4] == exported_after[1:4]  # the checkpoint and its key, the events, the batches


@pytest.mark.faults
def test_every_stream_replayed_from_its_first_event_has_its_standing_findings(
    copy: str, data: Path, before: Answers, version: str
) -> None:
    changed_by_rule, added = CHANGED_BY_RULE[version], ADDED[version]
    replayed = ask("replay", database_url=copy, data=data)["replay"]
    stands = identified([row for row in replayed["standing"] if not row["stream"].startswith(APART)])
    assert {rule for _stream, _seq, rule, _wager in stands} >= changed_by_rule.keys()
    found = identified(replayed["found"])
    assert {identity: found.pop(identity)["severity"] for identity in added} == added
    for content in found.values():
        new = MORE_FACTS[version].get(content["rule"], frozenset())
        assert content["facts"].keys() >= new - {"analogy"}  # which only some rulesets have
        content["facts"] = {name: fact for name, fact in content["facts"].items() if name not in new}
    assert found == {
        identity: content | changed_by_rule.get(content["rule"], {}) for identity, content in stands.items()
    }
    changed = sum(content["rule"] in changed_by_rule for content in stands.values())
    assert replayed["differences"] == changed + len(added)
    standing = [row for row in before["record"]["findings"] if row["run"] > 0 and row["superseded_at"] is None]
    assert len(found) == sum(not row["stream"].startswith(APART) for row in standing) + len(added) > 10


@pytest.mark.faults
def test_what_the_release_found_stands_until_a_what_if_is_promoted(
    copy: str, data: Path, before: Answers, version: str
) -> None:
    answer = ask("promote", database_url=copy, data=data)["promote"]
    assert answer["waits"] == 0, "an upgrade reads nothing again by itself"
    assert answer["stood_until_then"]
    assert {(row["kind"], row["rule"]) for row in answer["changes"]} == {
        ("changed", rule) for rule in CHANGED_BY_RULE[version]
    } | {("appeared", rule) for _stream, _seq, rule, _wager in ADDED[version]}
    stood = [row for row in before["record"]["findings"] if row["run"] > 0 and row["superseded_at"] is None]
    is_of_another_engine = any(row["engine_version"] != ENGINE_VERSION for row in stood)
    assert (answer["released"] > 0) == is_of_another_engine
    assert answer["left"] == 0
    assert identified(answer["standing"]).keys() == identified(stood).keys() | ADDED[version].keys()


@pytest.mark.faults
def test_the_record_can_be_continued_by_a_key_of_the_release(
    copy: str, tmp_path: Path, before: Answers, version: str
) -> None:
    lay_out(tmp_path, version)  # new checkpoints extend the exported ones
    answers = ask(f"append={before['secret']}", "verify", "record", database_url=copy, data=tmp_path)
    assert answers["append"]["proof"]["event"]
    assert [each["rule"] for each in answers["append"]["findings"]] == ["wager-not-permitted"]
    assert answers["verify"]["holds"], answers["verify"]["lines"]
    assert answers["record"]["proofs"]["size"] > before["record"]["proofs"]["size"]
    assert answers["record"]["proofs"]["checkpoints"].items() > before["record"]["proofs"]["checkpoints"].items()


def test_one_altered_event_is_detected(copy: str, data: Path, before: Answers) -> None:
    with psycopg.connect(copy) as connection:
        for guard in ("log_no_change", "log_no_drop"):
            connection.execute(f"alter event trigger {guard} disable")
        connection.execute("alter table log.event disable trigger user")
        changed = connection.execute(
            "update log.event set envelope = replace(envelope::text, '\"winnings\":', '\"winnings\":1')::json"
            " where (stream_id, seq) = (select stream_id, max(seq) from log.event"
            "   where envelope ->> 'type' = 'payout.made' and stream_id < 1::bigint << 51"  # nothing proves a sandbox
            "   group by stream_id order by stream_id desc limit 1)"
        )
        assert changed.rowcount == 1
    answers = ask("verify", "log", database_url=copy, data=data)
    assert not answers["verify"]["holds"]
    altered = answers["log"]
    assert altered != before["record"]["log"]
    assert altered["batches"] == before["record"]["log"]["batches"]
