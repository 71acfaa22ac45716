from dataclasses import fields

import pytest

from flinkplan.plan.codec import unknown_keeper
from flinkplan.plan.nodes import ExecNode, OpaqueNode, node_classes

SHARED = {f.name for f in fields(ExecNode)}


@pytest.mark.parametrize("cls", [c for c in node_classes() if not issubclass(c, OpaqueNode)], ids=lambda c: c.__name__)
def test_every_field_says_what_its_change_does(cls: type[ExecNode]) -> None:
    meta = cls.metadata
    declared = [*meta.identity, *meta.results, *meta.judged]
    own = {f.name for f in fields(cls)} - SHARED
    assert sorted(declared) == sorted(own)


@pytest.mark.parametrize("cls", list(node_classes()), ids=lambda c: c.__name__)
def test_stateful_nodes_declare_a_state_field(cls: type[ExecNode]) -> None:
    names = {f.name for f in fields(cls)}
    if cls.metadata.states:
        assert "state" in names
    assert unknown_keeper(cls) == "unknown"


def test_the_registry_holds_flinks_nodes() -> None:
    names = [c.metadata.name for c in node_classes()]
    assert len(names) == len(set(names)) == 49
    assert all(n.startswith("stream-exec-") for n in names)
