"""Every table by the class of a relation names every class that it can meet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flinkplan.planner import lowering
from flinkplan.planner.algebra import logical, lookups, physical
from flinkplan.planner.algebra.dispatch import DISPATCHES, Dispatch
from flinkplan.planner.algebra.logical import Filter, Project
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.metadata import column_bounds, keys, modify_kinds, monotonicity, uniqueness, window_properties
from flinkplan.planner.physical import changelog, deletes, determinism, implement, mini_batch
from flinkplan.planner.physical.implement import Implementer
from flinkplan.planner.tracing import relations
from tests.planner.outlines import bind

MADE_BY_LOGICAL_RULES: set[type[Rel]] = {
    physical.SourceScan,
    physical.Calc,
    physical.Expand,
    physical.OverAggregate,
    physical.LegacyWindowAggregate,
    physical.Rank,
}
TABLES = [
    column_bounds._RULES,
    keys._RULES,
    keys._IMMUTABLE_COLUMNS,
    modify_kinds._RULES,
    monotonicity._RULES,
    uniqueness._RULES,
    window_properties._RULES,
    implement._RULES,
    changelog._RULES,
    deletes._RULES,
    determinism._RULES,
    relations._PARTS,
    mini_batch._REQUIRES_WATERMARK,
    lowering._RULES,
]


def concrete(cls: type[Rel] = Rel) -> Iterator[type[Rel]]:
    """The classes that relations are made of: those without subclasses."""
    subclasses = cls.__subclasses__()
    yield from (leaf for subclass in subclasses for leaf in concrete(subclass))
    if not subclasses:
        yield cls


def covered(table: Dispatch[object]) -> set[type[Rel]]:
    """The classes that a table has to name."""
    of_logical = {cls for cls in concrete() if cls.__module__ == logical.__name__} | MADE_BY_LOGICAL_RULES
    of_physical = {cls for cls in concrete() if cls.__module__ in (physical.__name__, lookups.__name__)}
    return (of_logical if table.logical else set()) | (of_physical if table.physical else set())


@pytest.mark.parametrize("table", DISPATCHES, ids=lambda table: table.name)
def test_every_class_is_named_once(table: Dispatch[object]) -> None:
    named = {*table.rules, *table.unknown}
    assert {cls.__name__ for cls in covered(table) if len(table.names_of(cls)) != 1} == set()
    assert {cls.__name__ for cls in named if issubclass(cls, Rel)} <= {cls.__name__ for cls in covered(table)}
    assert {cls.__name__ for cls in named - {n for cls in covered(table) for n in table.names_of(cls)}} == set()
    assert not table.unknown & table.rules.keys()


def test_all_tables_are_checked() -> None:
    assert {id(table) for table in TABLES} == {id(table) for table in DISPATCHES}


def test_a_relation_without_a_function_is_refused() -> None:
    project = bind("SELECT id FROM a WHERE v > 3")
    assert isinstance(project, Project) and isinstance(project.input, Filter)
    with pytest.raises(TypeError, match="the physical operator: not defined for Project"):
        Implementer({}, lambda rel: rel).visit(project)
