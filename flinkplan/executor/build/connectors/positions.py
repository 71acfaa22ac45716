"""Streams whose positions are known to objects of this process, which Java asks for them."""

from __future__ import annotations

from ...jvm.callbacks import JavaMethods, start_callbacks
from ..context import TranslationContext

_ASKED_OF_ALL = ("initial", "stop_at_what_is_there", "latest", "waiting", "lag", "commit", "close")
"""The methods that ``PositionStream.java`` calls."""

_ASKED_OF_SOME = ("between",)
"""Those that streams call whose batches are ranges or files between two positions."""


def offer_positions(positions: object, error: type[Exception], context: TranslationContext) -> str:
    """The name by which a source finds who answers for the positions of its stream.

    ``error`` is what the methods of ``positions`` raise; its text becomes that of Java's exception.
    """
    start_callbacks(context.spark)
    methods = [getattr(positions, name) for name in _ASKED_OF_ALL]
    methods += [getattr(positions, name) for name in _ASKED_OF_SOME if hasattr(positions, name)]
    return str(context.runtime.source.PositionStream.offer(JavaMethods(error, *methods)))
