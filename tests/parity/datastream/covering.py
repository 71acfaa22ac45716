"""Which cases together show all that there is of windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .pipeline import Case


def covering(cases: Sequence[Case]) -> list[Case]:
    """Few cases that have all the features of all; chosen one after the other by how many more they have."""
    features = {case["name"]: set(_features(case)) for case in cases}
    missing, chosen = set[str]().union(*features.values()), set[str]()
    while missing:
        best = max(features, key=lambda name: len(features[name] & missing))
        missing -= features[best]
        chosen.add(best)
    return [case for case in cases if case["name"] in chosen]


def _features(case: Case) -> Iterator[str]:
    yield f"watermark {case['watermark']['kind']}"
    yield f"end {case.get('end', 'drain')}"
    if len(case["operators"]) > 1:
        yield "consecutive"
    for operator in case["operators"]:
        window = operator["window"]
        yield f"{window.get('time', '')} {window['kind']}"
        yield "without key" if not operator["key_by"] else "key" if len(operator["key_by"]) == 1 else "keys"
        yield from _triggers(operator["trigger"])
        evictor = operator["evictor"]
        if evictor:
            yield f"evictor {evictor['kind']} {'after' if evictor.get('after') else 'before'}"
        if operator.get("allowed_lateness_ms"):
            yield "lateness"
        if operator.get("late_output"):
            yield "late output"
        yield f"function {operator['function']['kind']} {operator['function'].get('emit', '')}"


def _triggers(trigger: Case | None) -> Iterator[str]:
    if trigger is None:
        yield "default trigger"
        return
    yield f"trigger {trigger['kind']}"
    if "of" in trigger:
        yield from (f"{trigger['kind']} {inner}" for inner in _triggers(trigger["of"]))
