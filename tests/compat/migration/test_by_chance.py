"""Changes by chance: state made under the old query is what the new one would have had from the beginning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import GroupAggregate, Join
from flinkplan.plan.savepoint.layout import Part

from .states import key, migrated, row
from .test_steps import plan

Row = Mapping[str, Any]

_CALLS = {
    "COUNT(*)": "BIGINT",
    "COUNT(v)": "BIGINT",
    "SUM(v)": "INT",
    "AVG(v)": "INT",
    "MIN(v)": "INT",
    "MAX(w)": "BIGINT",
    "SUM(CAST(v AS BIGINT))": "BIGINT",
    "COUNT(k)": "BIGINT",
    "MAX(k)": "INT",
}


@cache
def grouped(keys: tuple[str, ...], calls: tuple[str, ...]) -> Plan:
    """The plan of a GROUP BY."""
    columns = [f"{name} INT" for name in keys] + [f"c{i} {_CALLS[call]}" for i, call in enumerate(calls)]
    return plan(f"SELECT {', '.join([*keys, *calls])} FROM a GROUP BY {', '.join(keys)}", ", ".join(columns))


def accumulators(of: Plan, rows: Sequence[Row]) -> list[Any]:
    """The accumulators that Flink keeps after these rows, by key."""
    node = next(node for node in of.nodes if isinstance(node, GroupAggregate))
    fields = of.inputs(node)[0].fields
    names = [field.name for field in fields]
    layout = node.layout([fields])
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for each in rows:
        values = {**each, **{name: each["v"] for name in names if name.startswith("$")}}
        groups[tuple(each[names[i]] for i in node.grouping)].append(values)
    return [
        (group, tuple(_part(value.origin, names, members) for value in layout.states[0].values))
        for group, members in groups.items()
    ]


def _part(part: Any, names: Sequence[str], rows: Sequence[Row]) -> int | None:
    assert isinstance(part, Part)
    function = (part.call.internal_name or "").strip("$").split("$")[0]
    if not part.call.arg_list:
        return len(rows)
    values = [each[names[part.call.arg_list[0]]] for each in rows]
    known: list[int] = [value for value in values if value is not None]
    match function, part.number:
        case ("COUNT", _) | ("AVG", 1):
            return len(known)
        case ("AVG" | "SUM0", 0):
            return sum(known)
        case "SUM", 0:
            return sum(known) if known else None
        case "MIN", _:
            return min(known, default=None)
        case "MAX", _:
            return max(known, default=None)
    raise AssertionError(function)


_VALUES = st.none() | st.integers(-3, 9)
_ROWS = st.lists(st.fixed_dictionaries({name: _VALUES for name in ("k", "g", "v", "w")}), max_size=12)
_SOME_CALLS = st.lists(st.sampled_from(list(_CALLS)), min_size=1, max_size=4, unique=True).map(tuple)


@given(_ROWS, _SOME_CALLS, _SOME_CALLS, st.sampled_from([("k",), ("k", "g"), ("g", "k")]), st.booleans())
@settings(max_examples=12, deadline=None)
def test_accumulators(
    rows: list[Row], old: tuple[str, ...], new: tuple[str, ...], keys: tuple[str, ...], is_coarser: bool
) -> None:
    before, after = grouped(keys, old), grouped(("k",) if is_coarser else keys[::-1], new)
    if list(plan_migration(before, after).refusals(Allowed())):
        return
    entries = [{"key": key(*group), "value": row(*values)} for group, values in accumulators(before, rows)]
    found = migrated(before, after, {"accState": entries})
    assert sorted(found.get("accState", []), key=repr) == sorted(accumulators(after, rows), key=repr)


_JOINS = {"": "INNER", "LEFT ": "LEFT", "RIGHT ": "RIGHT", "FULL ": "FULL"}
_CONDITIONS = ("", " AND a.v < b.x", " AND (a.v = b.y OR b.x IS NULL)")


@cache
def joined(kind: str, condition: str, swapped: bool) -> Plan:
    """The plan of a join of all columns but the time."""
    mirrored = {"LEFT ": "RIGHT ", "RIGHT ": "LEFT "}
    tables = f"b {mirrored.get(kind, kind)}JOIN a" if swapped else f"a {kind}JOIN b"
    query = f"SELECT a.k, a.v, b.k AS l, b.x, b.y FROM {tables} ON a.k = b.k{condition}"
    return plan(query, "k INT, v INT, l INT, x INT, y INT")


def sides(of: Plan, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> dict[str, list[Any]]:
    """The states that Flink keeps of a join after these rows."""
    node = next(node for node in of.nodes if isinstance(node, Join))
    inputs = [[field.name for field in source.fields] for source in of.inputs(node)]
    tables = ["a" if "v" in names else "b" for names in inputs]
    kind = node.join_spec.join_type.value
    states = {}
    for side, name in enumerate(("left", "right")):
        counts: dict[tuple[Any, ...], int] = defaultdict(int)
        for each in rows[tables[side]]:
            counts[each] += 1
        counted = kind == "FULL" or kind.lower() == name
        entries = []
        for each, number in counts.items():
            met = sum(_match(each, other, tables[side], of) for other in rows[tables[1 - side]])
            entries.append(((each[0],), each, (number, met) if counted else (number,)))
        states[f"{name}-records"] = entries
    return states


def _match(own: tuple[Any, ...], other: tuple[Any, ...], table: str, of: Plan) -> bool:
    a, b = (own, other) if table == "a" else (other, own)
    (k, v), (other_k, x, y) = a, b
    if k is None or k != other_k:
        return False
    condition = next(c for c in _CONDITIONS[::-1] if _is_condition(of, c))
    if condition == _CONDITIONS[1]:
        return v is not None and x is not None and v < x
    return condition == "" or x is None or (v is not None and v == y)


def _is_condition(of: Plan, condition: str) -> bool:
    node = next(node for node in of.nodes if isinstance(node, Join))
    text = repr(node.join_spec.non_equi_condition)
    return {"": "None", _CONDITIONS[1]: "$<", _CONDITIONS[2]: "$OR"}[condition] in text or (
        condition == _CONDITIONS[1] and "$>" in text
    )


_A = st.lists(st.tuples(st.none() | st.integers(1, 2), st.none() | st.integers(1, 3)), max_size=6)
_B = st.lists(st.tuples(st.none() | st.integers(1, 2), *[st.none() | st.integers(1, 3)] * 2), max_size=6)


@given(
    _A,
    _B,
    st.sampled_from(list(_JOINS)),
    st.sampled_from(list(_JOINS)),
    st.sampled_from(_CONDITIONS),
    st.sampled_from(_CONDITIONS),
    st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_joins(
    a: list[Any], b: list[Any], old: str, new: str, condition: str, new_condition: str, swapped: bool
) -> None:
    before, after = joined(old, condition, False), joined(new, new_condition, swapped)
    assert not list(plan_migration(before, after).refusals(Allowed()))
    rows = {"a": a, "b": b}
    states = {
        name: [
            {"key": key(*k), "map_key": row(*r), "value": {"f0": n[0], "f1": n[1]} if len(n) > 1 else {"value": n[0]}}
            for k, r, n in entries
        ]
        for name, entries in sides(before, rows).items()
    }
    found = migrated(before, after, states)
    for name, entries in sides(after, rows).items():
        assert sorted(found[name], key=repr) == sorted(entries, key=repr), name
