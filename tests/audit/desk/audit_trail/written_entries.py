"""What the code can write into the audit trail, read from the code: the types of entries, the names of their data.

    a call of audit_trail.record, perform, … ─► its type: a text, a constant, or a parameter of the function around it
                                                                              └─► then the calls of that function, too

A type that is put together stands in ``put_together`` with all that it can be. Any other expression is refused, so that
no entry escapes.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib import admin

from audit.access import casino_settings
from audit.casework.payment_orders import BEGUN, Step
from audit.casework.state_machine import TRANSITIONS
from audit.desk import sections  # noqa: F401  (registers the models of the desk with the admin site)
from audit.desk.audited_admin import AuditedAdmin
from audit.desk.settings.casinos import StatedAdmin
from audit.models import RequestKind, RequestState, Verdict

ROOT = Path(__file__).parents[4]
TRAIL = "audit.event_store.audit_trail"

OF_SETTINGS = (*casino_settings.CASINOS, *casino_settings.TABLES)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Argument = tuple[int, str]
"""Which argument is the type of an entry: by its place, and by its name."""


def _of_sections() -> Iterator[str]:
    for model, section in admin.site._registry.items():
        if isinstance(section, AuditedAdmin) and not isinstance(section, StatedAdmin):
            yield from (f"{model._meta.model_name}.{verb}" for verb in ("added", "changed", "deleted"))


def put_together() -> dict[tuple[str, str], set[str]]:
    """Return what each expression can be that puts a type together, by its module and its text."""
    decided = {str(state) for state in RequestState if state != RequestState.WAITING}
    return {
        ("audit.access.accounts", "f'officer.{kind}_proposed'"): {f"officer.{kind}_proposed" for kind in RequestKind},
        ("audit.access.accounts", "f'officer.{request.kind}_{state}'"): {
            f"officer.{kind}_{state}" for kind in RequestKind for state in decided
        },
        ("audit.access.casino_settings", "f'{row._meta.model_name}.{verb}'"): {
            each for each in OF_SETTINGS if not each.endswith(".kept")
        },
        ("audit.access.casino_settings", "f'{row._meta.model_name}.kept'"): {
            each for each in OF_SETTINGS if each.endswith(".kept")
        },
        ("audit.casework.actions", "transition.event"): {each.event for each in TRANSITIONS.values()},
        ("audit.casework.payment_orders", "BEGUN[kind]"): {*BEGUN.values()},
        ("audit.casework.payment_orders", "f'{order.kind}.{step}'"): {
            *(f"payment.{step}" for step in Step if step != Step.HANDED_OVER),
            *(f"waiver.{step}" for step in (Step.APPROVED, Step.CANCELLED)),
            *(f"not_found.{step}" for step in Step if step != Step.PAID),
        },
        ("audit.corrections.decisions", "f'correction.{verdict}'"): {f"correction.{verdict}" for verdict in Verdict},
        ("audit.desk.audited_admin", "f'{row._meta.model_name}.{verb}'"): {*_of_sections()},
        ("audit.desk.settings.deadlines", "f'deadline.{verb}'"): {
            f"deadline.{verb}" for verb in ("added", "changed", "deleted")
        },
        ("audit.event_store.officer_entries", "f'officer.{verb}_superuser'"): {
            "officer.made_superuser",
            "officer.unmade_superuser",
        },
        ("audit.management.commands.signon", "f\"group.{('given' if is_given else 'removed')}\""): {
            "group.given",
            "group.removed",
        },
        ("audit.persons.directory_file", "f'person.{verb}'"): {"person.added", "person.changed"},
        ("audit.register.entries", "f'register.{state}'"): {f"register.{state}" for state in decided},
    }


@dataclass(frozen=True)
class Module:
    """One module of the code: what its names stand for elsewhere, its constants, and its functions by name."""

    name: str
    imported: dict[str, str]
    constants: dict[str, ast.expr]
    functions: dict[str, list[Function]]


@cache
def modules() -> dict[str, Module]:
    """Return every module of ``audit`` without its migrations, by its dotted name."""
    found = {}
    for path in sorted((ROOT / "audit").rglob("*.py")):
        if "migrations" not in path.parts:
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found[name] = _module(name, ast.parse(path.read_text()))
    return found


def _module(name: str, tree: ast.Module) -> Module:
    imported, functions = {}, defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, Function):
            functions[node.name].append(node)
    constants = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                constants[target] = value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                constants |= {target.id: value for target, value in zip(targets, values, strict=True)}
    return Module(name, imported, constants, functions)


@cache
def written() -> tuple[frozenset[str], frozenset[str]]:
    """Return every type of entry that the code can write, and every name that it gives to data of an entry."""
    writers: dict[str, Argument] = {
        **{f"{TRAIL}.{name}": (1, "type") for name in ("record", "record_all", "perform")},
        f"{TRAIL}.perform_command": (0, "type"),
    }
    types: set[str] = set()
    names: set[str] = set()
    calls = [*_calls()]
    is_new = True
    while is_new:  # until no function is found any more that hands a type on
        is_new = False
        for module, function, call, target in calls:
            if target not in writers:
                continue
            names |= _names(module, function, call)
            expression = _argument(call, writers[target])
            handed_on = _parameter(function, expression)
            if handed_on is None:
                types |= _types(module, function, expression)
            elif (own := f"{module.name}.{function.name}") not in writers:
                writers[own] = handed_on
                is_new = True
    return frozenset(types), frozenset(names - {"reason"})


def _calls() -> Iterator[tuple[Module, Function, ast.Call, str]]:
    """Yield each call outside the trail: its module, its function, and the dotted name of what is called."""
    for module in modules().values():
        for function in (each for named in module.functions.values() for each in named):
            for call in ast.walk(function) if module.name != TRAIL else ():
                if isinstance(call, ast.Call):
                    yield module, function, call, _called(module, call)


def _called(module: Module, call: ast.Call) -> str:
    """Return the dotted name of what a call calls, "" if it is of no interest."""
    match call.func:
        case ast.Name(id=name):
            return module.imported.get(name, f"{module.name}.{name}")
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"{module.name}.{name}"
        case ast.Attribute(value=ast.Name(id=of), attr=name):
            return f"{module.imported.get(of, of)}.{name}"
    return ""


def _argument(call: ast.Call, argument: Argument) -> ast.expr:
    at, name = argument
    return next((each.value for each in call.keywords if each.arg == name), None) or call.args[at]


def _parameter(function: Function, expression: ast.expr) -> Argument | None:
    """Return which parameter of its function an expression is, None if it is none."""
    if not isinstance(expression, ast.Name):
        return None
    positional = [each.arg for each in function.args.args if each.arg != "self"]
    if expression.id in positional:
        return positional.index(expression.id), expression.id
    return (99, expression.id) if expression.id in {each.arg for each in function.args.kwonlyargs} else None


def _types(module: Module, function: Function, expression: ast.expr) -> set[str]:
    """Return what an expression for a type can be. Fail where that cannot be told."""
    match expression:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.IfExp(body=body, orelse=other):
            return _types(module, function, body) | _types(module, function, other)
        case ast.Name(id=name):
            assigned = [*_assigned(function, name)]
            if assigned:
                return {each for value in assigned for each in _types(module, function, value)}
            elsewhere, _, constant = module.imported.get(name, f"{module.name}.{name}").rpartition(".")
            of = modules()[elsewhere]
            return _types(of, function, of.constants[constant])
    known = put_together().get((module.name, ast.unparse(expression)))
    assert known is not None, f"{module.name} writes {ast.unparse(expression)}: say in put_together what that can be"
    return known


def _assigned(function: Function, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                yield from (value for target, value in zip(targets, values, strict=True) if ast.unparse(target) == name)


OF_WRITERS = {"type", "casino_id", "data", "datas", "reason", "secret", "actor", "at", "is_of_end"}
"""Arguments of functions that write entries; what else they are given by name is data."""


def _names(module: Module, function: Function, call: ast.Call) -> set[str]:
    """Return the names of data that a call gives an entry, as far as they stand in the code."""
    found = {each.arg for each in call.keywords if each.arg is not None and each.arg not in OF_WRITERS}
    for value in (each.value for each in call.keywords if each.arg in (None, "data", "datas")):
        found |= _keys(module, function, value)
    positional = (each for each in call.args if isinstance(each, ast.Dict | ast.Name))
    return found.union(*(_keys(module, function, each) for each in positional))


def _keys(module: Module, function: Function, expression: ast.expr, without: str = "") -> set[str]:
    """Return the keys of a mapping, as far as they stand in the code; ``without`` a variable that adds to itself."""
    match expression:
        case ast.Dict(keys=keys, values=values):
            plain = {key.value for key in keys if isinstance(key, ast.Constant)}
            merged = (value for key, value in zip(keys, values, strict=True) if key is None)
            return plain.union(*(_keys(module, function, value, without) for value in merged))
        case ast.List(elts=elements):
            return set[str]().union(*(_keys(module, function, each, without) for each in elements))
        case ast.BinOp(left=left, right=right):
            return _keys(module, function, left, without) | _keys(module, function, right, without)
        case ast.IfExp(body=body, orelse=other):
            return _keys(module, function, body, without) | _keys(module, function, other, without)
        case ast.Name(id=name) if name != without:
            assigned = (_keys(module, function, each, name) for each in _assigned(function, name))
            return _set_in(function, name).union(*assigned)
        case ast.Call() as call:
            elsewhere, _, name = _called(module, call).rpartition(".")
            of = modules().get(elsewhere)
            return set[str]().union(*(_returned(of, each) for each in of.functions.get(name, ()))) if of else set()
    return set()


def _returned(module: Module, function: Function) -> set[str]:
    """Return the keys of the mapping that a function returns."""
    results = (node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value)
    return set[str]().union(*(_keys(module, function, each) for each in results))


def _set_in(function: Function, name: str) -> set[str]:
    """Return the keys that are set in a mapping of the function: ``data["ended_by"] = …``."""
    return {
        node.slice.value
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and isinstance(node.slice, ast.Constant)
    }
