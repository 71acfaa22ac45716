"""Streams whose positions are known to objects of this process, which Java asks for them."""

from __future__ import annotations

from ...jvm.callbacks import JavaMethods, start_callbacks
from ..context import TranslationContext

_ASKED_OF_ALL = ("initial", "stop_at_what_is_there", "latest", "waiting", "lag", "commit", "close")
"""The methods that ``PositionStream.java`` calls."""

_ASKED_OF_SOME = ("between", "start", "client")
"""Those that streams call whose batches are ranges or files between two positions, or read messages as they come."""


def offer_positions(positions: object, error: type[Exception], context: TranslationContext) -> str:
    """The name by which a source finds who answers for the positions of its stream, see :func:`java_positions`."""
    start_callbacks(context.spark)
    return str(context.runtime.source.PositionStream.offer(java_positions(positions, error)))


def java_positions(positions: object, error: type[Exception]) -> JavaMethods:
    """Positions as ``PositionStream.java`` asks for them.

    ``error`` is what the methods of ``positions`` raise; its text becomes that of Java's exception.
    """
    methods = [getattr(positions, name) for name in _ASKED_OF_ALL]
    methods += [getattr(positions, name) for name in _ASKED_OF_SOME if hasattr(positions, name)]
    return JavaMethods(error, *methods)
