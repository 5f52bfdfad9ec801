"""The documents are typed: every console block of a page, in order, on a machine that is thrown away.

``WORLDS`` says what each page's reader has: a checkout, ``make run`` beside it, or a host with PostgreSQL and RabbitMQ.
Nothing of a block is changed. It has to print what the page says.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import pytest

from tests.console_blocks import BLOCKS, ROOT, Block
from tests.faults import throwaway_machine

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]

_BEGIN, _END = "@@@ begins ", "@@@ ends "

CHECKOUT = f"""
set -euo pipefail
shopt -s expand_aliases
export HOME=/root LANG=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
unset DATABASE_URL CELERY_BROKER_URL XDG_RUNTIME_DIR DJANGO_SETTINGS_MODULE PYTHONPATH ${{!CABOCHON_@}}
cd {shlex.quote(str(ROOT))}
mkdir -p .data  # a run of tests goes on in it, and what changes meanwhile cannot be removed
find .data -mindepth 1 -maxdepth 1 -not -name 'test-*' -exec rm -rf {{}} +
[ -e .venv ] || ln -s {shlex.quote(sys.prefix)} .venv
export PATH=$PWD/.venv/bin:$PATH
goes_on() {{  # until a file has a text that the process PID prints
  for _ in $(seq 3000); do grep -qF -- "$2" "$1" && return; kill -0 "$3" || break; sleep 0.2; done
  cat "$1"; return 1
}}
"""

ALONE = "export PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels\n"
"""Without a network pip has the wheels that were brought along."""

STACK = """
CABOCHON_FIRST_NIGHT_TABLES=0 python -m casino.up > /tmp/up.log 2>&1 &
goes_on /tmp/up.log 'Ctrl-C stops everything' $!
"""

A_NIGHT = """
KEY=$(python manage.py createkey --casino deauville --register C1 --backfill)
python manage.py simulate --casino deauville --tables 1 --coups 5 --gaming-day 2026-11-19 \\
  --post http://localhost:8000 --key $KEY
export CABOCHON_URL=http://localhost:8000 CABOCHON_KEY=$KEY
STREAM=$(curl -s -H "Authorization: Bearer $KEY" $CABOCHON_URL/api/v1/streams |
  python -c "import json, sys; print([each['stream'] for each in json.load(sys.stdin)['streams'] if each['table']][0])")
"""
"""A casino ``deauville`` with a session of the night that the pages speak of."""

THE_SUPERUSER = """
OLD_DATABASE_URL=$(python -c "from casino.embedded.postgres import EmbeddedPostgres
from casino.paths import data_folder
print(EmbeddedPostgres(data_folder()).url())")
export PATH=$(python -c "from casino.embedded.postgres import binaries; print(binaries())"):$PATH
"""

A_HOST = """
echo '127.0.0.1 HOST' >> /etc/hosts
version=$(ls /usr/lib/postgresql | sort -n | tail -1)
rm -rf /var/lib/postgresql /etc/postgresql/*/* /var/run/postgresql/.s* /var/lib/rabbitmq/mnesia
install -d -o postgres -g postgres /var/lib/postgresql
pg_createcluster $version main -- --data-checksums > /dev/null
echo 'host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust' > /etc/postgresql/$version/main/pg_hba.conf
echo 'local all all peer' >> /etc/postgresql/$version/main/pg_hba.conf
pg_ctlcluster $version main start
su postgres -c "psql -qc 'create role \\"SUPERUSER\\" superuser login replication'"
export PATH=/usr/lib/postgresql/$version/bin:$PATH
"""
"""PostgreSQL and a name for its host; ``SUPERUSER`` and ``HOST`` are what the pages call them."""

A_BROKER = """
rm -f /var/lib/rabbitmq/*.pid /var/log/rabbitmq/*
(rabbitmq-server > /tmp/rabbitmq.log 2>&1 &)
for _ in $(seq 100); do rabbitmqctl -q ping > /dev/null 2>&1 && rabbitmqctl -q await_startup && break; sleep 1; done
"""

MANAGED = """
rabbitmq-plugins -q enable rabbitmq_management > /dev/null
export CELERY_BROKER_URL=amqp://guest:guest@127.0.0.1//
"""
"""The broker that is managed at a port of its own is that of ``make run``, too."""

A_FINDING = """
KEY=$(python manage.py createkey --casino deauville --register C1 --backfill)
python manage.py simulate --casino deauville --tables 1 --coups 20 --human --gaming-day 2026-11-19 \\
  --post http://localhost:8000 --key $KEY
for _ in $(seq 900); do rabbitmqctl -q list_exchanges name | grep -qx findings && break; sleep 0.5; done
"""
"""A night of people, who err: the exchange is there from the first finding on."""

OF_THE_SOURCE = f"""
rm -rf /opt/cabochon && mkdir /opt/cabochon
git -C {shlex.quote(str(ROOT))} ls-files -z --cached --others --exclude-standard \\
  | (cd {shlex.quote(str(ROOT))} && xargs -0 cp --parents -t /opt/cabochon 2> /dev/null || true)
"""
"""The source in ``/opt/cabochon``, as it is in the checkout."""

A_DATABASE = """
su postgres -c 'createdb cabochon'
export DATABASE_URL=postgres://SUPERUSER@HOST/cabochon CELERY_BROKER_URL=memory://
python manage.py migrate --verbosity 0
python manage.py logkey --make --quiet
mkdir -p /backup /mnt/worm/checkpoints
"""


@dataclass(frozen=True)
class World:
    """Where a page is read: ``bring`` is done where there is a network, then ``prepare``, then what is typed.

    ``happens`` is what happens before what is typed below a heading: a script, by the heading.
    """

    page: str
    prepare: str = ""
    sections: tuple[str, ...] = ()  # of which headings alone, () for all
    bring: str = ""
    is_alone: bool = True
    happens: Mapping[str, str] = field(default_factory=dict)

    @property
    def blocks(self) -> list[Block]:
        return [
            block
            for block in BLOCKS
            if block.page == self.page and not block.why_not and block.section in (self.sections or (block.section,))
        ]


BUILD = "pip download --quiet --dest /wheels 'hatchling>=1.27' 'hatch-requirements-txt>=0.4'\n"
LOCKED = "pip download --quiet --dest /wheels --require-hashes --requirement requirements-runtime.lock\n"

WORLDS = (
    World("README.md", "rm -rf .venv; hash -r", is_alone=False),
    World("docs/account.md"),
    World("docs/adding-a-rule.md"),
    World("docs/adding-a-ruleset.md", "mkdir two-coins && cp -r tests/toy/two_coins two-coins/", bring=BUILD),
    World("docs/archive.md", STACK + A_NIGHT),
    World("docs/deployment.md", OF_THE_SOURCE + A_HOST + A_BROKER, ("On hosts of your own",), LOCKED),
    World(
        "docs/deployment.md",
        OF_THE_SOURCE + "cd /opt/cabochon && python3 -m venv .venv && PATH=$PWD/.venv/bin:$PATH && hash -r\n",
        ("As a Python package",),
        is_alone=False,
    ),
    World("docs/deployment.md", A_HOST + A_DATABASE, ("Roles of the database",)),
    World("docs/frauds.md"),
    World("docs/import.md", STACK),
    World("docs/ingestion.md", STACK, bring=BUILD),
    World("docs/ledger-mathematics.md"),
    World(
        "docs/log.md",
        STACK
        + A_NIGHT
        + """
for _ in $(seq 900); do ls .data/checkpoints/checkpoint-* > /dev/null 2>&1 && break; sleep 0.2; done
mkdir -p /mnt/worm && cp .data/checkpoints/checkpoint-* /mnt/worm/
CHECKPOINT=$(ls /mnt/worm/* | head -1)
LOG_KEY=$(python manage.py logkey | grep -o 'cabochon.localhost/log+[^ ]*' | head -1)
""",
    ),
    World("docs/night.fr.md", STACK + A_NIGHT),
    World("docs/night.md", STACK + A_NIGHT),
    World("docs/persons.md", STACK + A_NIGHT),
    World(
        "docs/recovery.md",
        A_HOST
        + A_DATABASE
        + "python manage.py createkey --casino deauville > /dev/null\n"
        + "CABOCHON_CHECKPOINTS=/mnt/worm/checkpoints python manage.py sequence --once\n",
        happens={"Restore": "su postgres -c 'dropdb --force cabochon && createdb cabochon'"},
    ),
    World("docs/register.md", STACK + A_NIGHT),
    World(
        "docs/upgrade.md",
        OF_THE_SOURCE
        + A_HOST
        + A_DATABASE
        + """
git init -q /tmp/released && cp -r /opt/cabochon/. /tmp/released/
(cd /tmp/released && git add -A && git -c user.name=n -c user.email=e commit -qm released && git tag 1.0.0)
rm -rf /opt/cabochon && mkdir -p /etc/cabochon
cp deploy/systemd/common.env.example /etc/cabochon/common.env
echo DATABASE_URL=postgres://SUPERUSER@HOST/cabochon > /etc/cabochon/operator.env
REPOSITORY=/tmp/released
""",
        ("",),
        LOCKED,
    ),
    World("docs/upgrade.md", STACK + A_NIGHT + THE_SUPERUSER, ("From 0.x",)),
    World("docs/webhooks.md", STACK + A_NIGHT, ("Server-Sent Events",)),
    World("docs/webhooks.md", A_BROKER + MANAGED + STACK + A_FINDING, ("RabbitMQ",)),
    World("client/README.md", STACK, bring=BUILD),
)


def script_of(world: World) -> str:
    """Return what is done on the machine: a line before and after each block says which it is."""
    parts = [CHECKOUT, ALONE if world.is_alone else "", world.prepare]
    happens = dict(world.happens)
    for block in world.blocks:
        parts.append(happens.pop(block.section, ""))
        if name := block.marks.get("file"):
            parts.append(f"cat > {name} <<'END_OF_FILE'\n" + "\n".join(block.lines) + "\nEND_OF_FILE\n")
            continue
        text = block.marks.get("goes on after")
        log = f"/tmp/block-{block.line}.log"
        typed = (
            f"{{\n{block.commands}\n}} > {log} 2>&1 &\ngoes_on {log} {shlex.quote(text)} $!" if text else block.commands
        )
        parts += [f"echo '{_BEGIN}{block.name}'", typed, f"echo; echo '{_END}{block.name}'"]
    return "\n".join(parts)


def fault_of(block: Block, output: str) -> str:
    """Return what a block did otherwise than its page says, "" if nothing."""
    begins, ends = (output.find(f"{mark}{block.name}\n") for mark in (_BEGIN, _END))
    if begins < 0 or ends < 0:
        return f"{block.name} did not end well:\n{output[max(begins, 0) :][-3000:]}"
    printed, at = output[begins:ends], 0
    for expected in block.printed:
        found = expected.search(printed, at)
        if found is None:
            return f"{block.name} does not print {expected.pattern!r}:\n{printed[-3000:]}"
        at = found.end()
    return ""


@cache
def registry() -> str:
    """Return why pip cannot download, "" if it can."""
    done = throwaway_machine.run(CHECKOUT + "pip download --quiet --no-deps --dest /wheels hatchling")
    return "" if done.returncode == 0 else "pip reaches no index"


def ids(worlds: Sequence[World]) -> list[str]:
    return [f"{world.page} {' '.join(world.sections)}".strip().replace(" ", "-") for world in worlds]


@pytest.mark.parametrize("world", WORLDS, ids=ids(WORLDS))
def test_what_a_page_says_to_type_does_what_it_says(world: World) -> None:
    if why := throwaway_machine.why_there_is_none():
        pytest.skip(why)
    if (world.bring or not world.is_alone) and (why := registry()):
        pytest.skip(why)
    assert world.blocks
    done = throwaway_machine.run(script_of(world), bring=CHECKOUT + world.bring, is_alone=world.is_alone)
    assert [fault for block in world.blocks if block.is_console and (fault := fault_of(block, done.stdout))] == []
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_block_that_is_run_is_in_one_world() -> None:
    run = sorted(block.name for world in WORLDS for block in world.blocks if block.is_console)
    assert run == sorted(block.name for block in BLOCKS if block.is_console and not block.why_not)
