"""The hints of joins and aggregates in the trees of EXPLAIN.  Source: ``RelTreeWriterImpl``, ``RelExplainUtil``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..algebra.hints import QueryHint, ShownHints
from ..algebra.rel import Rel
from ..algebra.scala_maps import listed_in_java

_TTL = "STATE_TTL"


def written_hints(rel: Rel) -> Iterator[str]:
    """The hints of the SELECT that a bound join or aggregate is of."""
    shown = _shown(rel)
    return iter(()) if shown is None else _parts(shown.written, shown.path or ())


def resolved_hints(rel: Rel) -> Iterator[str]:
    """The hints that name the inputs of a physical join or aggregate."""
    shown = _shown(rel)
    return iter(()) if shown is None else _parts(shown.resolved, ())


def _shown(rel: Rel) -> ShownHints | None:
    shown: ShownHints | None = getattr(rel, "shown_hints", None)
    return shown


def _parts(hints: Sequence[QueryHint], path: tuple[int, ...]) -> Iterator[str]:
    for title, of_state in (("joinHints", False), ("stateTtlHints", True)):
        texts = [_text(hint, path) for hint in hints if (hint.name == _TTL) is of_state]
        if texts:
            yield f"{title}=[[{''.join(texts)}]]"


def _text(hint: QueryHint, path: tuple[int, ...]) -> str:
    inherited = f" inheritPath:[{', '.join(map(str, path))}]" if path else ""
    values = dict(hint.options)
    pairs = ", ".join(f"{key}={values[key]}" for key in listed_in_java(values))
    options = f"{{{pairs}}}" if values else f"[{', '.join(hint.listed)}]"
    return f"[{hint.name}{inherited} options:{options}]"
