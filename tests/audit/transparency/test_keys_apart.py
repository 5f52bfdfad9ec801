"""The key of checkpoints is apart from that of receipts, so that a web server that is taken over can sign no tree."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from pytest_django import Settings

from audit.transparency import signing_keys
from audit.transparency.signing_keys import NoSigningKey

pytestmark = pytest.mark.django_db


@pytest.fixture
def keys(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_KEYS = tmp_path / "keys"
    settings.CABOCHON_CHECKPOINT_KEYS = str(tmp_path / "sequencer")
    signing_keys._keyring.__init__()  # type: ignore[misc]
    return tmp_path


def made(purpose: signing_keys.Purpose) -> str:
    """Make a key that signs at once; return its file name."""
    return signing_keys.create(purpose, reason="test", at_once=True).verifier.key_id.hex()


def warnings() -> list[str]:
    messages = run_checks(tags=["security"], include_deployment_checks=True, databases=["default"])
    return [message.msg for message in messages if message.id == "audit.W007"]


def test_each_purpose_has_a_folder_that_its_owner_alone_reads(keys: Path) -> None:
    checkpoint, receipt = made("checkpoint"), made("receipt")
    assert [path.name for path in (keys / "sequencer").iterdir()] == [checkpoint]
    assert [path.name for path in (keys / "keys").iterdir()] == [receipt]
    for path in (keys / "sequencer", keys / "keys"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((keys / "sequencer" / checkpoint).stat().st_mode) == 0o600
    assert signing_keys.signer("checkpoint", datetime.now(UTC)).verifier.key_id.hex() == checkpoint
    assert signing_keys.is_readable_here("checkpoint")
    assert warnings() == []


def test_without_the_folder_of_checkpoints_receipts_are_signed_and_no_tree(keys: Path, settings: Settings) -> None:
    made("checkpoint")
    receipt = made("receipt")
    settings.CABOCHON_CHECKPOINT_KEYS = str(keys / "elsewhere")
    assert signing_keys.signer("receipt", datetime.now(UTC)).verifier.key_id.hex() == receipt
    assert not signing_keys.is_readable_here("checkpoint")
    with pytest.raises(NoSigningKey, match="elsewhere"):
        signing_keys.signer("checkpoint", datetime.now(UTC))


def test_keys_in_one_folder_still_sign_are_warned_of_and_are_moved(
    keys: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.CABOCHON_CHECKPOINT_KEYS = str(keys / "keys")
    checkpoint = made("checkpoint")
    settings.CABOCHON_CHECKPOINT_KEYS = str(keys / "sequencer")
    assert signing_keys.signer("checkpoint", datetime.now(UTC)).verifier.key_id.hex() == checkpoint
    [warning] = warnings()
    assert warning.startswith(f"{keys / 'keys' / checkpoint} signs checkpoints")
    call_command("logkey", "--apart", "--quiet")
    assert capsys.readouterr().out == f"moved to {keys / 'sequencer' / checkpoint}\n"
    assert list((keys / "keys").iterdir()) == []
    assert warnings() == []
    signing_keys._keyring.__init__()  # type: ignore[misc]
    assert signing_keys.signer("checkpoint", datetime.now(UTC)).verifier.key_id.hex() == checkpoint
    call_command("logkey", "--apart", "--quiet")
    assert capsys.readouterr().out == ""
