"""Every exec node is run, or refused with a reason."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.checks import check_nodes
from flinkplan.executor.prepare.query import choice_of
from flinkplan.executor.prepare.refusals import _REASONS
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.nodes import ExecNode, OpaqueNode, node_classes
from flinkplan.plan.types import INT, row

CLASSES = {cls.metadata.name: cls for cls in node_classes()}


def test_each_class_is_run_or_refused() -> None:
    run = {name for name, cls in CLASSES.items() if choice_of(cls)}
    refused = {name for name, cls in CLASSES.items() if cls.metadata.short_name in _REASONS} - {"batch-exec-sort"}
    assert run | refused == CLASSES.keys()
    assert run & refused == {"stream-exec-sort"}, "that is run in batch mode alone"


@pytest.mark.parametrize(
    "name", [name for name, cls in CLASSES.items() if issubclass(cls, OpaqueNode) and not choice_of(cls)]
)
def test_a_refusal_names_the_node_and_the_reason(name: str) -> None:
    node: ExecNode = CLASSES[name](id=7, version=CLASSES[name].metadata.versions[-1], output_type=row([("a", INT)]))
    with pytest.raises(UnsupportedError) as e:
        check_nodes(Plan("2.3", (node,), ()))
    assert e.value.where == "node 7 (/nodes/0)"
    reason, hint = _REASONS[CLASSES[name].metadata.short_name]
    assert f"'{name}_" in e.value.message
    assert reason in e.value.message
    assert e.value.hint == hint
