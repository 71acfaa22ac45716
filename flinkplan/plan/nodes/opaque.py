"""Nodes that flinkplan reads, keeps, compares and writes, but does not look into."""

from __future__ import annotations

import types

from .base import ExecNode, exec_node


class OpaqueNode(ExecNode, kw_only=True):
    """A node whose own fields are kept as they are, in ``unknown``."""

    @property
    def keepers(self) -> tuple[str, ...]:
        """All that it may be made of: what has state is not known."""
        return self.metadata.transformations


_TRANSFORMATIONS = {"match": ("timestamp-inserter", "match"), "process-table-function": ("process",)}


def _declare(name: str, versions: dict[int, str]) -> None:
    title = "".join(p.capitalize() for p in name.split("-"))
    cls: type[OpaqueNode] = types.new_class(
        title, (OpaqueNode,), exec_body=lambda body: body.update(__module__=__name__)
    )
    exec_node(name, versions=versions, inputs=None, transformations=_TRANSFORMATIONS.get(name))(cls)


for _name, _versions in {
    "async-calc": {1: "1.19"},
    "async-correlate": {1: "2.2"},
    "delta-join": {1: "2.1", 2: "2.3"},
    "match": {1: "1.15"},
    "ml-predict-table-function": {1: "2.1"},
    "process-table-function": {1: "2.1"},
    "python-async-calc": {1: "2.0"},
    "python-calc": {1: "1.16"},
    "python-correlate": {1: "1.16"},
    "python-group-aggregate": {1: "1.16"},
    "python-group-window-aggregate": {1: "1.16"},
    "python-over-aggregate": {1: "1.16"},
    "vector-search-table-function": {1: "2.2"},
}.items():
    _declare(_name, _versions)
