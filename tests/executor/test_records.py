"""Python names Java's classes, and the components of its records, as the Java sources declare them.

Both sides are read as texts, without a JVM.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flinkplan import executor
from tests.executor.java_sources import ROOT, code, components, has_class, java_source

_RECORD, _TIMED = "java_record", "run_timed"
_RECORD_AT = {_RECORD: 1, "made_kernel": 3, "run_kernel": 4}
"""The functions that make records, and the place of the record's name among their arguments."""
_MAKING = (*_RECORD_AT, _TIMED)
_OPTIONS = {"by_clock", "record"}
"""Keywords of these functions that are not components."""
_CLASS_NAME = re.compile(r"[a-z]+\.[A-Z]\w*(\$\w+)?")
_MAKES_KERNELS = re.compile(rf"\bkernel=|\b({'|'.join(_MAKING)})\(")
"""What stands in a module that chooses kernels or makes records."""


def _trees(pattern: re.Pattern[str]) -> dict[Path, ast.Module]:
    """The executor's modules whose text matches a pattern."""
    files = (path for folder in executor.__path__ for path in sorted(Path(folder).rglob("*.py")))
    texts = {path: path.read_text("utf-8") for path in files}
    return {path: ast.parse(text) for path, text in texts.items() if pattern.search(text)}


_TREES = _trees(_MAKES_KERNELS)


def _kernels_of_steps() -> dict[tuple[str, str], list[str]]:
    """The kernels of each kind of step, by the module that chooses it and the class of the step."""
    kernels: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, tree in _TREES.items():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    for keyword in node.keywords:
                        if keyword.arg == "kernel":
                            kernels[path.stem, node.func.id] += _texts(keyword.value, function)
    return kernels


@dataclass(frozen=True)
class Call:
    """A call of one of the functions that make records."""

    made_by: str
    node: ast.Call
    module: str
    """The name of the module that the call stands in, which is that of the module that chooses its steps."""
    function: ast.FunctionDef
    """The function that the call stands in."""

    @property
    def components(self) -> list[str | None]:
        """The keywords of the components; ``None`` for a dictionary of some."""
        return [keyword.arg for keyword in self.node.keywords if keyword.arg not in _OPTIONS]

    @property
    def kernels(self) -> list[str]:
        """The kernels that may be made; none by a call that makes a record alone."""
        return [] if self.made_by == _RECORD else self._kernels_of_step

    @property
    def records(self) -> list[str]:
        """The records that may be made: by default the ``Spec`` of each kernel."""
        behind = self.node.args[_RECORD_AT[self.made_by] :] if self.made_by in _RECORD_AT else []
        by_keyword = [keyword.value for keyword in self.node.keywords if keyword.arg == "record"]
        named = [text for value in (*behind, *by_keyword) for text in _texts(value, self.function)]
        return named or [f"{name}$Spec" for name in self._kernels_of_step]

    @property
    def _kernels_of_step(self) -> list[str]:
        """The kernels of the step that the function obeys."""
        steps = [
            a.annotation.id for a in self.function.args.args if isinstance(a.annotation, ast.Name) and a.arg == "step"
        ]
        modules = {module for module, _ in KERNELS} if steps != ["Kernel"] else {self.module}
        return sorted({name for step in steps for module in modules for name in KERNELS.get((module, step), ())})


def _texts(value: ast.expr, function: ast.FunctionDef) -> list[str]:
    """The texts that an expression may have: literals, both of a condition, and those a variable was given before."""
    match value:
        case ast.Constant(str(text)):
            return [text]
        case ast.IfExp():
            return [*_texts(value.body, function), *_texts(value.orelse, function)]
        case ast.Name(name):
            before = [a for a in ast.walk(function) if isinstance(a, ast.Assign) and a.lineno < value.lineno]
            for assignment in sorted(before, key=lambda a: -a.lineno):
                for target, assigned in _assigned(assignment):
                    if isinstance(target, ast.Name) and target.id == name:
                        return _texts(assigned, function)
    return []


def _assigned(assignment: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Targets with what each is given: ``a, b = 1, 2`` has two."""
    target, value = assignment.targets[0], assignment.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _calls(module: str, tree: ast.Module) -> Iterator[Call]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name not in _MAKING:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKING:
                    yield Call(node.func.id, node, module, function)


KERNELS = _kernels_of_steps()
CALLS = {f"{path.stem}-{call.node.lineno}": call for path, tree in _TREES.items() for call in _calls(path.stem, tree)}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_record_is_given_its_components_in_their_order(call: Call) -> None:
    assert call.records, "the name is no text that is given in the same function, so that nobody can compare it"
    for record in call.records:
        assert call.components == list(components(record)), record


def test_all_calls_are_compared() -> None:
    assert len(CALLS) > 20
    assert ["join.JoinKernel$Spec"] in [call.records for call in CALLS.values()]


def test_a_kernel_is_given_a_record_of_its_own_or_of_its_base_class() -> None:
    for call in CALLS.values():
        for kernel in call.kernels:
            for owner in {record.partition("$")[0] for record in call.records} - set(call.kernels):
                assert f" extends {owner.rpartition('.')[2]} " in code(java_source(kernel)), kernel


def test_every_java_class_that_python_names_is_there() -> None:
    named = {name for tree in _trees(re.compile("")).values() for name in _java_names(tree)}
    assert {"time.OverAggregate", "catalyst.Condition", "storage.CheckpointFiles", "join.JoinSide$Spec"} <= named
    assert [name for name in sorted(named) if not has_class(name)] == []


def _java_names(tree: ast.Module) -> Iterator[str]:
    """The classes that Python code names by texts, by attributes of ``runtime``, or by ``getattr`` of these."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(text)):
                if _CLASS_NAME.fullmatch(text.removeprefix(f"{ROOT}.")):
                    yield text.removeprefix(f"{ROOT}.")
            case ast.Attribute(attr=name) if name[0].isupper():
                if below := _below_root(node):
                    yield ".".join(below)
            case ast.Call(func=ast.Name("getattr"), args=[ast.Attribute() as owner, ast.Constant(str(name))]):
                if below := _below_root(owner):
                    yield ".".join([*below, name])


def _below_root(node: ast.Attribute) -> list[str]:
    """The attributes that stand behind ``runtime`` in ``context.runtime.row.Rows``; none without it."""
    names: list[str] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        if value.attr == "runtime":
            return names
        names.insert(0, value.attr)
        value = value.value
    return []
