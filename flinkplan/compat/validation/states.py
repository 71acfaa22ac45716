"""The ``state`` arrays: what people edit by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...advice import duration_findings
from ...plan.durations import DurationError, parse_duration
from ...plan.findings import Finding, nearest
from ...plan.nodes import OpaqueNode, ProcessTableFunction
from ...plan.ttl import state_names
from .raw import RawNode, RawPlan

_FIELDS = frozenset(("index", "ttl", "name"))
_HUNDRED_YEARS_MS = 36_525 * 86_400_000


def check_states(plan: RawPlan) -> Iterator[Finding]:
    """Number, indexes, names and TTLs of the state entries."""
    for node in plan.nodes:
        if not node.json.get("state") or node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        names = _names(node, len(plan.inputs(node)))
        if not names:
            message = f"'{node.name}' keeps no state that a TTL could clean"
            hint = "its state is cleaned by the watermark; remove the entry" if node.cls.metadata.timed else None
            yield node.finding("state-unexpected", message, "state", hint=hint or "it keeps no state; remove the entry")
        elif isinstance(node.json["state"], list):
            yield from _check_entries(node, names, node.json["state"])


def _names(node: RawNode, inputs: int) -> tuple[str, ...]:
    """The names that the states of a node should have: those of a process table function are what its class says."""
    if node.cls is ProcessTableFunction and node.json.get("uid") is not None:
        entries = node.json["state"]
        entries = entries if isinstance(entries, list) else []
        return tuple(str(entry.get("name")) if isinstance(entry, Mapping) else "" for entry in entries) or ("",)
    assert node.cls is not None
    return state_names(node.cls, inputs)


def _check_entries(node: RawNode, names: tuple[str, ...], entries: list[Any]) -> Iterator[Finding]:
    wanted = f"{_entries(len(names))}: {', '.join(f'{i} {name}' for i, name in enumerate(names))}"
    if len(entries) != len(names):
        message = f"'{node.name}' has {_entries(len(entries))} and needs {len(names)}"
        yield node.finding(
            "state-count", message, "state", hint=f"write {wanted}; or none, to use table.exec.state.ttl"
        )
    seen: dict[int, int] = {}
    for position, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            continue
        index = entry.get("index")
        if type(index) is int:
            if index in seen:
                message = f"the index {index} stands twice"
                yield node.finding("state-index", message, "state", position, "index", hint=f"write {wanted}")
            elif index not in range(len(names)) and len(entries) == len(names):
                message = f"there is no state {index}"
                yield node.finding("state-index", message, "state", position, "index", hint=f"write {wanted}")
            seen[index] = position
        for key in sorted(entry.keys() - _FIELDS):
            hint = nearest(key, _FIELDS) or "Flink ignores it"
            yield node.finding("state-field", f"a state entry has no field '{key}'", "state", position, key, hint=hint)
        yield from _check_name(node, names, position, entry)
        yield from _check_ttl(node, position, entry)


def _check_name(node: RawNode, names: tuple[str, ...], position: int, entry: Mapping[str, Any]) -> Iterator[Finding]:
    name, index = entry.get("name"), entry.get("index")
    if not isinstance(name, str) or type(index) is not int or index not in range(len(names)) or name == names[index]:
        return
    if name in names:
        message = f"state {index} is named '{name}', which is the name of state {names.index(name)}"
        hint = f"Flink goes by the index: this TTL is that of '{names[index]}'"
    else:
        message = f"state {index} is named '{name}' instead of '{names[index]}'"
        hint = nearest(name, [names[index]]) or f"write '{names[index]}'"
    yield node.finding("state-name", message, "state", position, "name", hint=hint)


def _check_ttl(node: RawNode, position: int, entry: Mapping[str, Any]) -> Iterator[Finding]:
    if "ttl" not in entry:
        return
    name = entry.get("name", position)
    try:
        millis = parse_duration(entry["ttl"])
    except DurationError as e:
        hint = e.hint or "write a whole number and a unit, for example '1 h' or '3600000 ms'"
        message = f"the TTL of '{name}': {e.message}"
        yield node.finding("state-ttl", message, "state", position, "ttl", hint=hint)
        return
    for each in duration_findings(entry["ttl"], f"the TTL of '{name}'"):
        yield node.finding(each.rule, each.message, "state", position, "ttl", hint=each.hint)
    if millis > _HUNDRED_YEARS_MS:
        years = millis // (_HUNDRED_YEARS_MS // 100)
        message = f"the TTL of '{name}' is {years:,} years"
        yield node.finding("state-ttl-long", message, "state", position, "ttl", hint="write 0 ms for ever")


def _entries(count: int) -> str:
    return "1 state entry" if count == 1 else f"{count} state entries"
