"""The difference between two plans as a list of small edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..plan.nodes import ExecNode


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a node that differs.

    ``field`` is the dataclass field, ``pointer`` the JSON pointer inside the node of what differs
    (``/joinSpec/joinType``); ``old`` and ``new`` are JSON values, ``None`` where absent.
    """

    field: str
    pointer: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Keep:
    """A node that stays as it is, perhaps with another id or description."""

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
    """A node that feeds another input than before: left became right."""

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


Edit = Keep | Update | Move | Insert | Remove
