"""Compare plans with those Flink compiled, and sinks' rows with those Flink wrote.

Plans are compared at three levels, each stricter than the one before: *shape* (node types, edges, state
entries), *content* (every field but ids and descriptions; nodes are matched by the edges) and *text*.

An append-only sink must hold the same multiset of rows.  A changelog sink (debezium-json) must have the
same final content and never take back what was not there; the updates in between may differ, because a
micro-batch may fold them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# ---------------------------------------------------------------- plans

_LOOSE = {"id", "description", "flinkplan"}


@dataclass(frozen=True)
class PlanComparison:
    """What agrees, and the first difference in words."""

    shape: bool
    content: bool
    text: bool
    why: str


def compare_plans(theirs: str, ours: str) -> PlanComparison:
    """Compare the texts of two plans."""
    flink, own = json.loads(theirs), json.loads(ours)
    shape = _difference(flink, own, _shape)
    content = shape or _difference(flink, own, _content)
    text = content or _text_difference(theirs, ours)
    return PlanComparison(not shape, not content, not text, text)


def _shape(node: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": node["type"], "state": node.get("state")}


def _content(node: Mapping[str, Any]) -> dict[str, Any]:
    return {k: sorted(v) if k in _SETS and v else v for k, v in node.items() if k not in _LOOSE}


_SETS = {"leftUpsertKeys", "rightUpsertKeys"}
"""Lists without an order of their own: Flink writes them in that of the JVM's identity hashes."""


def _difference(theirs: Any, ours: Any, view: Any) -> str:
    flink, own = _signatures(theirs, view), _signatures(ours, view)
    if Counter(flink.values()) == Counter(own.values()):
        return ""
    known_here, known_there = set(own.values()), set(flink.values())
    missing = [n for n in theirs["nodes"] if flink[n["id"]] not in known_here]
    extra = [n for n in ours["nodes"] if own[n["id"]] not in known_there]
    if not missing or not extra:
        return f"Flink has {_titles(missing)} | ours has {_titles(extra)}"
    first = missing[0]
    alike = [n for n in extra if n["type"] == first["type"]]
    if not alike:
        return f"Flink has {_titles(missing)} | ours has {_titles(extra)}"
    nearest = min(alike, key=lambda n: sum(n.get(k) != v for k, v in view(first).items()))
    fields = "; ".join(_differing("", view(first), view(nearest)))
    return f"{_title(first)}: {fields or f'Flink reads {_inputs(theirs, first)} | ours {_inputs(ours, nearest)}'}"


def _inputs(plan: Any, node: Mapping[str, Any]) -> str:
    nodes = {each["id"]: each for each in plan["nodes"]}
    return _titles([nodes[edge["source"]] for edge in plan["edges"] if edge["target"] == node["id"]])


def _titles(nodes: list[Any]) -> str:
    return ", ".join(map(_title, nodes[:3])) + (" …" if len(nodes) > 3 else "") if nodes else "nothing more"


def _title(node: Mapping[str, Any]) -> str:
    return f"{node['type']} {node.get('description', '')[:100]}".strip()


def _differing(path: str, theirs: Any, ours: Any) -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in [*theirs, *(k for k in ours if k not in theirs)]:
            if theirs.get(key) != ours.get(key):
                yield from _differing(f"{path}/{key}", theirs.get(key), ours.get(key))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for i, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            if a != b:
                yield from _differing(f"{path}/{i}", a, b)
    else:
        yield f"{path} Flink {json.dumps(theirs)[:160]} ours {json.dumps(ours)[:160]}"


def _signatures(plan: Any, view: Any) -> dict[int, str]:
    """A value per node, built from its own and its inputs', so that ids and node order do not matter."""
    nodes = {node["id"]: node for node in plan["nodes"]}
    inputs: dict[int, list[int]] = {node_id: [] for node_id in nodes}
    for edge in plan["edges"]:
        inputs[edge["target"]].append(edge["source"])
    found: dict[int, str] = {}

    def signature(node_id: int) -> str:
        if node_id not in found:
            below = [signature(source) for source in inputs[node_id]]
            text = json.dumps([view(nodes[node_id]), below], sort_keys=True)
            found[node_id] = hashlib.sha256(text.encode()).hexdigest()
        return found[node_id]

    for node_id in nodes:
        signature(node_id)
    return found


def _text_difference(theirs: str, ours: str) -> str:
    if theirs == ours:
        return ""
    pairs = zip(theirs.splitlines(), ours.splitlines(), strict=False)
    for number, (a, b) in enumerate(pairs, 1):
        if a != b:
            return f"line {number}: Flink {a.strip()[:200]} | ours {b.strip()[:200]}"
    return "the texts differ in length"


# ---------------------------------------------------------------- rows

_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?Z?")


def compare_rows(pipeline: str, expected: Path, output: Path) -> list[str]:
    """One line a difference between the sinks' rows in two folders; [] where all agree."""
    pipeline = re.sub(r"--[^\n]*", "", pipeline)
    sinks = [file.stem for file in expected.glob("*.jsonl")]
    return compare_sinks({sink: _primary_key(pipeline, sink) for sink in sinks}, expected, output)


def compare_sinks(keys: Mapping[str, list[str] | None], expected: Path, output: Path) -> list[str]:
    """The same for sinks whose primary keys are known."""
    found: list[str] = []
    for file in sorted(expected.glob("*.jsonl")):
        found += _compare_sink(file.stem, keys.get(file.stem), _lines(file), _lines(output / file.stem))
    return found


def compare_journal(expected: Path, output: Path, *, is_open: bool) -> list[str]:
    """The first change of a sink that is not the one to expect there; [] where all are.

    ``is_open``: the last ones come at the end of input, which has not ended.  Rows that are only ever inserted have no
    journal.  Flink puts rows that it cannot compare, as those with a MULTISET, in the place of equal ones: such changes
    do not count.
    """
    if not _is_changelog(_lines(expected)[:1]):
        return []
    theirs, ours = (_changes(_lines(file)) for file in (expected, output))
    if theirs[: len(ours) if is_open else None] == ours:
        return []
    place = next((i for i, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours)))
    want, got = (lines[place] if place < len(lines) else "nothing" for lines in (theirs, ours))
    return [f"{expected.stem}: change {place + 1} of {len(theirs)} is {got} instead of {want}"]


def _changes(lines: list[str]) -> list[Any]:
    """Each change as its kind and row, without rows that are replaced by equal ones."""
    found: list[Any] = []
    for line in map(json.loads, lines):
        change = (line["op"], _canonical(line["after"] if line["op"] == "c" else line["before"]))
        if change[0] == "c" and found and found[-1] == ("d", change[1]):
            found.pop()
        else:
            found.append(change)
    return found


def _compare_sink(sink: str, key: list[str] | None, theirs: list[str], ours: list[str]) -> Iterator[str]:
    if _is_changelog((theirs + ours)[:1]):
        (want, _), (got, strays) = _final_content(theirs, key), _final_content(ours, key)
        for stray in strays[:3]:
            yield f"{sink}: takes back what was not there: {stray}"
    else:
        want, got = Counter(map(_row, theirs)), Counter(map(_row, ours))
    for row, n in (want - got).items():
        yield f"{sink}: missing x{n}: {row}"
    for row, n in (got - want).items():
        yield f"{sink}: unexpected x{n}: {row}"


def _lines(path: Path) -> list[str]:
    """The lines of a file, or of all data files below a folder."""
    if path.is_file():
        files: Iterable[Path] = [path]
    else:
        visible = (p for p in path.rglob("*") if not any(q.startswith(("_", ".")) for q in p.relative_to(path).parts))
        files = sorted(p for p in visible if p.is_file())
    return [line for f in files for line in f.read_text("utf-8").splitlines() if line.strip()]


def _primary_key(pipeline: str, sink: str) -> list[str] | None:
    table = re.search(
        rf"CREATE\s+(?:TEMPORARY\s+)?TABLE\s+`?{re.escape(sink)}`?\s*\((.*?)\)\s*(?:PARTITIONED|WITH)\b",
        pipeline,
        re.IGNORECASE | re.DOTALL,
    )
    key = re.search(r"PRIMARY\s+KEY\s*\(([^)]*)\)", table[1], re.IGNORECASE) if table else None
    return [column.strip(" `") for column in key[1].split(",")] if key else None


def _is_changelog(lines: list[str]) -> bool:
    return any(line.startswith("{") and {"before", "after", "op"} <= set(json.loads(line)) for line in lines)


def _row(line: str) -> Any:
    return _canonical(json.loads(line)) if line.startswith("{") else line


def _canonical(value: Any) -> Any:
    """One form for the spellings that mean the same."""
    match value:
        case bool() | None:
            return value
        case int() | float():
            return int(value) if float(value).is_integer() else float(value)
        case dict():
            return tuple(sorted((k, _canonical(v)) for k, v in value.items() if v is not None))
        case list():
            return tuple(map(_canonical, value))
        case str() if match := _TIMESTAMP.fullmatch(value):
            fraction = (match[3] or "").rstrip("0")
            return f"{match[1]} {match[2]}" + (f".{fraction}" if fraction else "")
    return value


def _final_content(lines: list[str], key: list[str] | None) -> tuple[Counter[Any], list[Any]]:
    """What a changelog leaves, and the rows that it took back though they were not there."""
    bag: Counter[Any] = Counter()
    by_key: dict[Any, Any] = {}
    strays: list[Any] = []

    def key_of(row: Mapping[str, Any]) -> Any:
        return tuple(_canonical(row.get(column)) for column in key or ())

    for change in map(json.loads, lines):
        before, after = change.get("before"), change.get("after")
        if key is None:
            if before is not None:
                if bag[_canonical(before)] <= 0:
                    strays.append(before)
                bag[_canonical(before)] -= 1
            if after is not None:
                bag[_canonical(after)] += 1
        elif change["op"] == "d":
            if by_key.pop(key_of(before), None) is None:
                strays.append(before)
        else:
            if before is not None and key_of(before) != key_of(after):
                by_key.pop(key_of(before), None)
            by_key[key_of(after)] = _canonical(after)
    return (+bag if key is None else Counter(by_key.values())), strays
