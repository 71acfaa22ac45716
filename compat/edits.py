"""The difference between two plans as a list of small edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..plan.nodes import ExecNode


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A value inside a node that differs in meaning.

    ``field`` is the dataclass field it belongs to, ``pointer`` the JSON pointer inside the new node
    (``/joinSpec/joinType``); ``old`` and ``new`` are JSON values, ``None`` where absent.
    """

    field: str
    pointer: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Keep:
    """A node that does what it did, perhaps under another id, version or description."""

    old: ExecNode
    new: ExecNode


@dataclass(frozen=True, slots=True)
class Update:
    """A node whose own fields change."""

    old: ExecNode
    new: ExecNode
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A node whose inputs change places: left became right."""

    old: ExecNode
    new: ExecNode


@dataclass(frozen=True, slots=True)
class Replace:
    """A stateful node that stands where a stateful node of another type stood."""

    old: ExecNode
    new: ExecNode


@dataclass(frozen=True, slots=True)
class Insert:
    """A node that is new."""

    new: ExecNode


@dataclass(frozen=True, slots=True)
class Remove:
    """A node that is gone."""

    old: ExecNode


Edit = Keep | Update | Move | Replace | Insert | Remove
