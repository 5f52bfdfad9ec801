"""A record of each release, migrated to the head: same answers, same proofs, and it can be continued."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from settlement import ENGINE_VERSION
from tests.databases import address_of, database_once_a_run, server_url
from tests.settings import MIGRATED
from tests.upgrade.files import RELEASES, answered_by, ask, bundle_of, lay_out, load, run

Answers = dict[str, Any]

of_0_1_0 = pytest.mark.parametrize("version", ["0.1.0"], indirect=True)
of_0_2_0 = pytest.mark.parametrize("version", ["0.2.0"], indirect=True)

DICE_CHANGED = "dice-changed-during-point-series"

CHANGED_BY_RULE: dict[str, dict[str, Answers]] = {
    "0.1.0": {DICE_CHANGED: {"severity": "major"}, "payout-duplicated": {"expected": 6_400, "recorded": 12_800}},
    "0.2.0": {},
}
"""What the engine of the head says otherwise about the findings of a release, by their rule. Of 0.1.0: in the record a
chef decided about the dice, and what a wager got in a coup is summed."""

ADDED: dict[str, dict[tuple[str, int, str, str], str]] = {
    "0.1.0": {
        ("deauville.C1.2026-10-30.1", 155, "entry-corrected", ""): "critical",
        ("deauville.C1.2026-10-30.1", 60, "payout-overpaid", "w17"): "critical",
    },
    "0.2.0": {},
}
"""What the head finds and a release did not, with its severity. Of 0.1.0: a correction after the close is a finding,
and waits for two officers, so what it had hidden stands."""

APART = ("deauville-sandbox.", "honfleur.R1.2026-08")
"""The sessions of 0.2.0 that no what-if run reads: those of a sandbox, and those of the month in the archive."""


def identified(findings: list[Answers]) -> dict[tuple[str, int, str, str], Answers]:
    """Return findings by their identity, without the digest of the readings: the head has more readings than 0.1.0."""
    by_identity = {}
    for row in findings:
        content = {name: value for name, value in row.items() if name != "readings_digest"}
        by_identity[row["stream"], row["seq"], row["rule"], row["wager"]] = content
    assert len(by_identity) == len(findings)
    return by_identity


@contextmanager
def database(*, template: str = "template0") -> Iterator[str]:
    """Create a database on the server of this run, yield its URL, and drop it."""
    name = f"cabochon_{uuid4().hex[:12]}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f'create database {name} template "{template}"')
        try:
            yield address_of(name)
        finally:
            connection.execute(f"drop database {name} with (force)")


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
        load(url, version)
        run(["manage.py", "migrate", "--verbosity", "0"], database_url=url, data=data)

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
    questions = ("record", *(["later"] if version != "0.1.0" else []), "verify", "deploy", "tasks", *bundles)
    return ask(*questions, database_url=migrated, data=data)


@pytest.fixture
def copy(template: str) -> Iterator[str]:
    """The URL of a copy of the migrated record, to write to."""
    with database(template=template) as url:
        yield url


@of_0_1_0
def test_the_record_has_what_an_upgrade_could_lose(before: Answers) -> None:
    record = before["record"]
    assert {row["code"] for row in record["casinos"]} == {"deauville", "trouville"}
    assert len({row["gaming_day"] for row in record["nights"]}) == 3
    assert {row["state"] for row in record["cases"]} == {"new", "investigating", "second", "closed"}
    assert {row["outcome"] for row in record["cases"]} == {"", "confirmed", "explained", "mistaken"}
    actions = {row["type"] for row in record["case_acts"]}
    assert actions == {
        *("case.taken", "case.assigned", "case.released", "case.commented"),
        *("case.proposed", "case.closed", "case.sent_back", "case.reopened"),
    }
    signatures = {(row["version"], row["state"]): row for row in record["nights"]}
    closed = signatures[1, "closed"]
    assert closed["first_signature"]
    assert closed["second_signature"] not in (None, closed["first_signature"])
    assert signatures[2, "reviewed"]["restatement"]
    unsigned = {row["gaming_day"] for row in record["nights"] if row["state"] == "open"}
    assert unsigned & {row["gaming_day"] for row in record["night_exceptions"]}
    assert any(row["superseded_at"] for row in record["findings"])
    assert sum(row["run"] > 0 for row in record["findings"]) > 10
    assert {row["what_if"] for row in record["what_if_findings"]} == {"the zero loses", "chips of five"}
    assert record["what_if_differences"]
    assert {row["state"] for row in record["jobs"]} == {"waiting", "done", "failed", "stopped"}
    [export] = [row for row in record["jobs"] if row["kind"] == "export"]
    assert export["file_name"].endswith(".csv")
    assert export["file"].startswith("sha256:")
    assert {row["role"] for row in record["memberships"]} == {"officer", "second", "auditor", "administrator"}
    assert {row["code"] for row in record["quarantined"]} == {"invalid", "conflict"}
    assert len(record["proofs"]["checkpoints"]) > 5
    assert len(record["proofs"]["keys"]) == 4
    assert record["log"]["waiting"] == 0
    for table in ("saved_views", "night_subscribers", "night_deliveries", "api_keys", "session_figures", "cursors"):
        assert record[table], table
    assert before["verify"]["holds"]


@of_0_1_0
def test_a_night_of_the_record_reconciles_to_the_cent(before: Answers) -> None:
    of_night = [
        (row["rule"], row["superseded_at"])
        for row in before["record"]["findings"]
        if (row["casino"], row["gaming_day"]) == ("deauville", "2026-10-31")
    ]
    assert "accounting-variance" not in dict(of_night)
    [night] = [
        row for row in before["record"]["nights"] if (row["casino"], row["gaming_day"]) == ("deauville", "2026-10-31")
    ]
    assert night["state"] == "closed"


@of_0_2_0
def test_the_record_of_0_2_0_has_what_an_upgrade_could_lose(before: Answers) -> None:
    record, later = before["record"], before["later"]
    assert {row["code"] for row in record["casinos"]} == {"deauville", "honfleur", "deauville-sandbox"}
    assert {row["code"]: row["is_sandbox"] for row in later["casinos_later"]}["deauville-sandbox"]
    assert {row["state"] for row in record["cases"]} == {"new", "investigating", "second", "closed"}
    assert {row["outcome"] for row in record["cases"]} == {"", "confirmed", "explained"}
    assert {"case.held", "case.reopened", "case.closed"} <= {row["type"] for row in record["case_acts"]}
    assert {row["state"] for row in record["nights"]} >= {"closed", "reviewed"}
    assert {row["state"] for row in later["register"]} == {"approved", "declined", "waiting"}
    assert {row["verdict"] for row in later["corrections"]} == {"countersigned", "refused"}
    assert {row["state"] for row in later["archived"]} == {"archived"}
    assert {row["kind"] for row in later["feed"]} >= {"opened", "superseded", "closed", "reopened"}
    assert sum(row["public_key"] is not None for row in later["signing_keys"]) == 1
    assert len(later["webhook_secrets"]) == 2
    assert [row["name"] for row in later["persons"]] == ["Anna Roche"]
    assert any(row["number"] for row in later["references"])
    for table in ("complaints", "erased", "groups", "ledger", "webhooks"):
        assert later[table], table
    assert before["verify"]["holds"]


def test_the_migrated_record_answers_as_the_release_did(before: Answers, after: Answers) -> None:
    assert after["record"].keys() == before["record"].keys()
    for part, answer in before["record"].items():
        assert after["record"][part] == answer, part
    for part, answer in before.get("later", {}).items():
        assert after["later"][part] == answer, part


@of_0_1_0
def test_references_of_0_1_0_stay_and_are_not_given_again(migrated: str) -> None:
    with psycopg.connect(migrated) as connection:
        found = connection.execute("select casino_id, id, year, number from audit_finding where stood_at is not null")
        rows = found.fetchall()
        assert rows
        assert all((year, number) == (None, None) for _casino, _id, year, number in rows)
        [[year]] = connection.execute("select distinct extract(year from opened_at) from audit_finding").fetchall()
        counters = connection.execute("select casino_id, year, last from audit_findingcounter").fetchall()
    largest = {casino: max(each for of, each, *_ in rows if of == casino) for casino in {row[0] for row in rows}}
    assert sorted(counters) == sorted((casino, int(year), last) for casino, last in largest.items())


def test_the_log_verifies_and_is_protected(after: Answers) -> None:
    assert after["verify"]["holds"], after["verify"]["lines"]
    assert after["deploy"] == []


def test_what_the_release_left_outside_the_log_is_kept_once_and_named_from_then_on(copy: str, data: Path) -> None:
    """The codes of casinos and tables are held against the sessions even before."""
    with psycopg.connect(copy) as connection:
        connection.execute("update audit_casino set code = 'renamed' where code = 'deauville'")
    lines = ask("verify", database_url=copy, data=data)["verify"]["lines"]
    assert any("is called renamed, and the first event of session" in line for line in lines)
    with psycopg.connect(copy) as connection:
        connection.execute("update audit_casino set code = 'deauville' where code = 'renamed'")
    lines = ask("verify", database_url=copy, data=data)["verify"]["lines"]
    assert any("run manage.py keep" in line for line in lines)
    assert "The log keeps" in run(["manage.py", "keep"], database_url=copy, data=data)
    run(["manage.py", "sequence", "--once"], database_url=copy, data=data)
    answer = ask("verify", database_url=copy, data=data)["verify"]
    assert answer["holds"], answer["lines"]
    assert not any("run manage.py keep" in line for line in answer["lines"])
    with psycopg.connect(copy) as connection:
        connection.execute("update audit_casino set cutoff = '11:00' where code = 'deauville'")
    answer = ask("verify", database_url=copy, data=data)["verify"]
    assert any("(deauville) is not what entry" in line for line in answer["lines"])


@of_0_2_0
def test_a_month_in_the_archive_is_proved_and_can_be_opened_again(copy: str, data: Path) -> None:
    folder = str(data / "archive")
    proved = run(["manage.py", "verify", "--archive", folder], database_url=copy, data=data)
    assert "2026-08 is archived" in proved
    assert "; read and proved" in proved
    assert "2026-08" in run(["manage.py", "archive", "--attach", "2026-08"], database_url=copy, data=data)
    assert "Everything holds." in run(["manage.py", "verify"], database_url=copy, data=data)


def test_every_scheduled_task_has_a_worker_that_knows_it(after: Answers) -> None:
    assert after["tasks"]["scheduled"] >= 1
    assert after["tasks"]["unknown"] == []


def test_evidence_exported_before_and_after_verifies_under_the_same_checkpoint(after: Answers) -> None:
    exported_before, exported_after = after["check"], after["evidence"]["lines"]
    assert len(exported_before) == len(exported_after) > 5
    assert exported_before[1:4] == exported_after[1:4]  # the checkpoint and its key, the events, the batches


def test_every_stream_replayed_from_its_first_event_has_its_standing_findings(
    copy: str, data: Path, before: Answers, version: str
) -> None:
    changed_by_rule, added = CHANGED_BY_RULE[version], ADDED[version]
    replayed = ask("replay", database_url=copy, data=data)["replay"]
    stands = identified([row for row in replayed["standing"] if not row["stream"].startswith(APART)])
    assert {rule for _stream, _seq, rule, _wager in stands} >= changed_by_rule.keys()
    found = identified(replayed["found"])
    assert {identity: found.pop(identity)["severity"] for identity in added} == added
    assert found == {
        identity: content | changed_by_rule.get(content["rule"], {}) for identity, content in stands.items()
    }
    changed = sum(content["rule"] in changed_by_rule for content in stands.values())
    assert replayed["differences"] == changed + len(added)
    standing = [row for row in before["record"]["findings"] if row["run"] > 0 and row["superseded_at"] is None]
    assert len(found) == sum(not row["stream"].startswith(APART) for row in standing) > 10


@of_0_1_0
def test_what_0_1_0_found_stands_until_a_what_if_is_promoted(copy: str, data: Path, before: Answers) -> None:
    answer = ask("promote", database_url=copy, data=data)["promote"]
    assert answer["waits"] == 0, "an upgrade reads nothing again by itself"
    assert answer["stood_until_then"]
    stood = [row for row in before["record"]["findings"] if row["run"] > 0 and row["superseded_at"] is None]
    by_rule = {(row["kind"], row["rule"]) for row in answer["changes"]}
    assert by_rule == {("changed", rule) for rule in CHANGED_BY_RULE["0.1.0"]} | {
        ("appeared", rule) for _stream, _seq, rule, _wager in ADDED["0.1.0"]
    }
    streams = {row[0] for row in before["record"]["log"]["streams"] if row[0] in {each["stream"] for each in stood}}
    assert answer["released"] >= len(streams)
    assert answer["left"] == 0
    stands = identified(answer["standing"])
    assert stands.keys() == identified(stood).keys() | ADDED["0.1.0"].keys()
    assert {stands[identity]["severity"] for identity in stands if identity[2] == DICE_CHANGED} == {"major"}


@of_0_2_0
def test_the_record_of_0_2_0_can_be_continued(copy: str, tmp_path: Path, before: Answers, version: str) -> None:
    lay_out(tmp_path, version)  # new checkpoints extend the exported ones
    answers = ask(f"append={before['secret']}", "verify", "record", database_url=copy, data=tmp_path)
    assert answers["append"]["proof"]["event"]
    assert answers["append"]["folded"] == 1, "the engine is that of 0.2.0"
    assert [each["rule"] for each in answers["append"]["findings"]] == ["wager-not-permitted"]
    assert answers["verify"]["holds"], answers["verify"]["lines"]
    assert answers["record"]["proofs"]["size"] > before["record"]["proofs"]["size"]
    assert answers["record"]["proofs"]["checkpoints"].items() > before["record"]["proofs"]["checkpoints"].items()


@of_0_1_0
def test_the_record_can_be_continued(copy: str, tmp_path: Path, before: Answers, version: str) -> None:
    lay_out(tmp_path, version)  # new checkpoints extend the exported ones
    append = f"append={before['secret']}"  # by a key of 0.1.0
    answers = ask(append, "verify", "record", database_url=copy, data=tmp_path)
    appended = answers["append"]
    assert appended["proof"]["event"]
    [finding] = appended["findings"]
    assert (finding["rule"], finding["severity"], finding["state"]) == ("wager-not-permitted", "major", "new")
    assert answers["verify"]["holds"], answers["verify"]["lines"]
    earlier, now = before["record"], answers["record"]
    # The batch, and two entries that keep what is found in its session: when the run begins, and when it is complete.
    assert now["proofs"]["size"] == earlier["proofs"]["size"] + 3
    assert now["proofs"]["checkpoints"].items() > earlier["proofs"]["checkpoints"].items()
    stream = appended["findings"][0]["stream"]
    [events] = [count for *row, count, _digest in earlier["log"]["streams"] if row[3] == stream]
    assert appended["folded"] == events + 1  # the engine of 0.1.0 is another: the stream is read from its first event
    stood, stands = (
        [row for row in record["findings"] if row["stream"] == stream and row["run"] and row["superseded_at"] is None]
        for record in (earlier, now)
    )
    assert len(stands) == len(stood) + 1 > 1
    assert len(now["findings"]) == len(earlier["findings"]) + len(stands)  # none is lost: they are superseded
    assert {row["engine_version"] for row in stood} != {row["engine_version"] for row in stands} == {ENGINE_VERSION}
    assert len(now["cases"]) == len(earlier["cases"]) + 1  # what is found again keeps its case
    assert ask(append, database_url=copy, data=tmp_path)["append"]["folded"] == 1


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


@of_0_1_0
def test_maintenance_that_0_1_0_left_open_never_opens_the_guard(copy: str) -> None:
    """In a cluster that a dump is restored into, a later transaction has the id of one of them; here this one has."""
    with psycopg.connect(copy) as connection:
        connection.execute("update log_guard.maintenance set transaction = pg_current_xact_id()")
        with pytest.raises(psycopg.DatabaseError) as refused:
            connection.execute("alter table log.event disable trigger no_change")
        assert refused.value.sqlstate == "ES002"
        connection.rollback()
    with psycopg.connect(copy) as connection:
        connection.execute("insert into log_guard.maintenance (reason) values ('a column for tests')")
    with psycopg.connect(copy) as connection:
        rows = connection.execute("select reason from log_guard.maintenance where closed_at is null").fetchall()
        assert rows == []


@of_0_1_0
def test_cases_that_an_upgrade_finds_late_are_one_message_to_each_who_is_told(copy: str, data: Path) -> None:
    """Migrations 0034 and 0037 add what a case is mailed with; nothing of it is there yet, and the cases are."""
    answers = json.loads(run(["-m", "tests.upgrade.cases"], database_url=copy, data=data).splitlines()[-1])
    late = answers["late"]
    assert late["empty"] == [0, 0, 0, 0]
    assert late["swept"] == [late["late"], 0]
    assert late["late"] > 1
    assert sum(late["listed"]) == late["notices"] >= late["late"]
    assert len(late["messages"]) == len(late["listed"])
    assert max(late["listed"]) > 1
    assert late["again"] == []
    # Migration 0035: a session of 0.1.0 can be complained about.
    assert answers["complaint"]["outcome"] == "unfounded"
    assert answers["complaint"]["hours"]
