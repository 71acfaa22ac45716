"""Rules on the columns that rows are kept by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...plan.codec import field_codecs
from ...plan.nodes import ExecNode, node_classes
from ...plan.references import Mark
from ...plan.specs import PartitionSpec
from ..columns import Scope, Shown
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..lineage import Lineage
from ..verdicts import Effect, Verdict
from .model import FieldJudge, Judgement, became, field_judge, rule

KEYS = rule(
    "keys-changed",
    "the state has other keys",
    "State is found by its key. Flink refuses keys of other types; with keys of the same types, equal values find "
    "the state of other rows.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`GROUP BY product` became `GROUP BY product, shop`.",
    fix="Start without state.",
    by_layout=True,
)
ORDER = rule(
    "key-order-changed",
    "the keys have another order",
    "The key has the same columns, but it is stored in their order. In another order no state is found, or that of "
    "other values of the same types.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.NO,
    example="`PARTITION BY a, b` became `PARTITION BY b, a`.",
    fix="Put the keys back in their old order.",
    by_layout=True,
    one_by_one=Verdict.COMPATIBLE,
)


def _judged_keys(name: str, cls: type[ExecNode]) -> None:
    """Judge a field of a class of nodes that holds key columns."""

    def judge(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
        old, new = _keys(edit.old, name, c.old), _keys(edit.new, name, c.new)
        rule_ = ORDER if Counter(k.meaning for k in old) == Counter(k.meaning for k in new) else KEYS
        message = became(f"({_listed(old)})", f"({_listed(new)})")
        yield Judgement(rule_, message, edit.old, edit.new, changes[0].pointer, changes=changes)

    registered: FieldJudge = field_judge(name, cls)(judge)
    assert registered is judge


def _keys(node: ExecNode, name: str, lineage: Lineage) -> list[Shown]:
    value: Any = getattr(node, name)
    positions = value.fields if isinstance(value, PartitionSpec) else value
    columns: list[Shown] = Scope(node, lineage).columns(positions)
    return columns


def _listed(keys: list[Shown]) -> str:
    return ", ".join(str(k.shown) for k in keys)


for _class in node_classes():
    for _codec in field_codecs(_class):
        if _codec.name in _class.metadata.judged and (Mark.KEY in _codec.marks or _codec.type is PartitionSpec):
            _judged_keys(_codec.name, _class)
