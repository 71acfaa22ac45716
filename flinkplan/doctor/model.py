"""Diagnoses: one record class for each reason why rows do not come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from ..plan.record import Record, to_builtins
from ..plan.secrets import masked_json, without_secrets
from .query import QueryCase


class Diagnosis(Record, kw_only=True):
    """A reason why rows of a sink do not come out, or come out late or less.

    ``sink`` is the name of the query; ``node`` that of an exec node as in ``flinkplan ttl``, and ``node_id`` its id.
    """

    id: ClassVar[str]
    """The stable name of the reason."""
    summary: ClassVar[str]
    """What is wrong, in one line, for the documentation."""
    evidence: ClassVar[str]
    """What it is concluded from, for the documentation."""

    sink: str
    node: str
    node_id: int

    @property
    def message(self) -> str:
        """What is wrong, with names and numbers."""
        raise NotImplementedError

    @property
    def hint(self) -> str | None:
        """What can be done about it; ``None``: nothing is known."""
        return None

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[Diagnosis]:
        """The diagnoses of this kind for a query."""
        raise NotImplementedError


D = TypeVar("D", bound=type[Diagnosis])

KINDS: list[type[Diagnosis]] = []
"""All kinds of diagnoses, in the order in which a report lists them; see :func:`.examining.kinds`."""


def diagnosis(id: str, summary: str, evidence: str) -> Callable[[D], D]:
    """Register a kind of diagnosis; see :class:`Diagnosis`."""

    def register(cls: D) -> D:
        cls.id, cls.summary, cls.evidence = id, summary, evidence
        KINDS.append(cls)
        return cls

    return register


def as_json(found: Diagnosis) -> dict[str, Any]:
    """The fields of a diagnosis, with its kind, its message and its hint."""
    hint = None if found.hint is None else without_secrets(found.hint)
    fields = masked_json("", to_builtins(found))
    return {"diagnosis": found.id, **fields, "message": without_secrets(found.message), "hint": hint}
