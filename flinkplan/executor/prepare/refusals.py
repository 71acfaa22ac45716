"""Why some exec nodes are not run: said before anything is."""

from __future__ import annotations

from ...plan.errors import UnsupportedError
from ...plan.nodes import ExecNode

_MODELS = ("models and vector search", None)
_ASYNC = ("asynchronous functions of one's own", None)

_REASONS: dict[str, tuple[str, str | None]] = {
    "async-correlate": _ASYNC,
    "ml-predict-table-function": _MODELS,
    "sort": ("ORDER BY columns that are no time attribute, on a stream", "as in Flink: add a LIMIT, or order by time"),
    "vector-search-table-function": _MODELS,
}
"""What is not run, and what can be done instead, by the node's short name."""


def is_refused_on_streams(node_class: type[ExecNode]) -> bool:
    """Whether nodes of a class are of streaming mode, and not run there."""
    return not node_class.metadata.is_batch and node_class.metadata.short_name in _REASONS


def refusal(node: ExecNode) -> UnsupportedError:
    """The error that names a node that is not run, and the reason."""
    what, hint = _REASONS.get(node.metadata.short_name, ("this operator", None))
    return UnsupportedError(f"'{node.type}' cannot be executed: {what}", hint=hint)
