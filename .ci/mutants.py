"""``make mutants``: mutation testing with mutmut, by package, with a score and the mutants that survive.

A *mutant* is the code with one small change: ``<`` becomes ``<=``, an argument becomes None, a ``case`` goes. It is
*killed* if a test fails. One that survives shows a line on which no test depends, or a change that changes nothing:
those of the second kind are named in ``tests/mutants.md``.

    generate ─► run every test once: which functions does it call? ─► a process for each mutant: those tests, fail-fast

mutmut forks each process from one that has imported everything. Each has a database of its own, copied from the
template of ``tests/conftest.py``, on a server whose data are kept between runs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import typst

ROOT = Path(__file__).resolve().parent.parent

TESTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "settlement/night": ("tests/settlement/night", "tests/toy"),
        "settlement": ("tests/settlement", "tests/conformance", "tests/toy"),
        "audit/reconciliation": (
            "tests/audit/reconciliation",
            "tests/audit/corrections/test_nights.py",
            "tests/audit/register/test_nights.py",
            "tests/audit/desk/nights",
        ),
        "audit/adjudication": (
            "tests/audit/adjudication",
            "tests/audit/evidence/test_export.py",
            "tests/audit/ingest/test_multi_stream.py",
        ),
        "audit/ingest": ("tests/audit/ingest", "tests/audit/api"),
        "audit/casework": ("tests/audit/casework", "tests/audit/desk/findings", "tests/audit/desk/settings"),
        "audit/transparency": ("tests/audit/transparency", "tests/audit/event_store"),
        "audit/desk": ("tests/audit/desk",),
    }
)
"""The packages to mutate, and the tests that may kill their mutants. A module belongs to the first that has it."""

KILLED = ("killed", "timeout", "segfault")
"""A mutant that never ends or crashes is killed as well; the modules' counts tell them apart."""

SERVER = """
import sys
from pathlib import Path
from casino.embedded.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[2]), "-c fsync=off -c full_page_writes=off")
getattr(server, sys.argv[1])()
print(server.url("postgres"))
"""


PRINT = """
import pickle, sys, typst
args, options = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(typst.compile(*args, **options))
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Mutation testing.")
    parser.add_argument("--only", metavar="PATH", help="a package or module, such as settlement/night/value.py")
    parser.add_argument("--sample", type=int, metavar="N", help="test N mutants, chosen by --seed, instead of all")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    packages = [name for name in TESTS if args.only is None or f"{args.only}/".startswith(f"{name}/")]
    packages = packages[:1] if args.only else packages
    if not packages:
        parser.error(f"--only names a package or module of {', '.join(TESTS)}")
    os.chdir(ROOT)
    shutil.rmtree("mutants", ignore_errors=True)
    with _database_server():
        _configure([args.only] if args.only else packages, packages)
        return _report(_run(args.sample, args.seed))


@contextmanager
def _database_server() -> Iterator[None]:
    """Run a PostgreSQL for the tests, whose data are kept: the template is made once."""
    data = ROOT / ".data" / "test-mutants"
    started = subprocess.run(
        [sys.executable, "-c", SERVER, "start", data], stdout=subprocess.PIPE, text=True, check=True
    )
    os.environ |= {"DATABASE_URL": started.stdout.strip(), "CABOCHON_TEST_RUN": "mutants"}
    try:
        yield
    finally:
        subprocess.run([sys.executable, "-c", SERVER, "stop", data], stdout=subprocess.DEVNULL, check=True)


def _configure(mutated: Sequence[str], packages: Sequence[str]) -> None:
    from mutmut import configuration

    configuration._config = replace(
        configuration.config(),  # of pyproject.toml
        only_mutate=[path if path.endswith(".py") else f"{path}/*" for path in mutated],
        pytest_add_cli_args_test_selection=[path for name in packages for path in TESTS[name]],
    )


def _run(sample: int | None, seed: int) -> dict[str, str]:
    """Test the mutants, or a sample of them; return how each ended, by its name."""
    from mutmut.ui import terminal

    if not sys.stdout.isatty():
        terminal.print_status = lambda *args, **kwargs: None  # no spinner in a log: before others import it

    from mutmut import __main__ as mutmut
    from mutmut.mutation.trampoline import set_mutant_under_test
    from mutmut.state import state
    from mutmut.stats import status_by_exit_code

    def fastest_tests_first(*args: Any) -> Any:
        runner = get_mutant_runner(*args)
        submit = runner.submit

        def sort_and_submit(name: str, tests: list[str], *limits: Any) -> None:
            _forget_results()
            submit(name, sorted(tests, key=lambda test: state().duration_by_test[test]), *limits)

        runner.submit = sort_and_submit
        return runner

    get_mutant_runner, mutmut.get_mutant_runner = mutmut.get_mutant_runner, fastest_tests_first
    _name_tests_alike()
    typst.compile = _print_apart
    set_mutant_under_test("mutant_generation")
    Path("mutants").mkdir()
    with mutmut.CatchOutput():
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.create_mutants(max_children=os.cpu_count() or 1)
    generated = [name for _, name, _ in mutmut.collect_source_file_mutation_data(mutant_names=())[0]]
    print(f"{len(generated)} mutants", flush=True)
    chosen: list[str] = []
    if sample is not None and sample < len(generated):
        chosen = random.Random(seed).sample(sorted(generated), sample)
    mutmut._run(chosen, max_children=os.cpu_count())
    ended = mutmut.collect_source_file_mutation_data(mutant_names=chosen)[0]
    return {name: status_by_exit_code[data.exit_code_by_key[name]] for data, name, _ in ended}


def _name_tests_alike() -> None:
    """Give tests the same names whenever this process collects them.

    pytest keeps the names that it has escaped for ASCII, and would escape those again.
    """
    parametrize = pytest.Metafunc.parametrize
    pytest.Metafunc.parametrize = lambda *args, _param_mark=None, **kwargs: parametrize(*args, **kwargs)  # type: ignore[method-assign]


def _print_apart(*args: Any, **options: Any) -> bytes:
    """Have a process of its own print: typst starts threads, for which it would wait for ever after a fork."""
    given = pickle.dumps((args, options))
    return subprocess.run([sys.executable, "-c", PRINT], input=given, stdout=subprocess.PIPE, check=True).stdout


def _forget_results() -> None:
    """Empty the caches of our functions: what the tests computed without a mutant is not to be had for nothing."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("settlement", "audit", "casino")):
            for each in vars(module).values():
                if hasattr(type(each), "cache_clear"):
                    each.cache_clear()


def _report(statuses: Mapping[str, str]) -> int:
    """Print the survivors and the score of each module; return 0: a score is to be read, not to be passed."""
    by_module: dict[str, Counter[str]] = defaultdict(Counter)
    for name, status in sorted(statuses.items()):
        by_module[name.rpartition(".")[0]][status] += 1
        if status not in KILLED:
            print(f"{status}: {name}")
    for module, counts in sorted(by_module.items()):
        print(f"{_killed(counts) / counts.total():7.1%}  {module}: {dict(counts)}")
    killed = sum(map(_killed, by_module.values()))
    print(f"{killed} of {len(statuses)} mutants killed: {killed / max(1, len(statuses)):.1%}")
    return 0


def _killed(counts: Counter[str]) -> int:
    return sum(counts[status] for status in KILLED)


if __name__ == "__main__":
    sys.exit(main())
