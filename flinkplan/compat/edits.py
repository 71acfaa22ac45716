"""The difference between two plans as a list of small edits."""

from __future__ import annotations

from typing import Any

from ..plan.nodes import ExecNode
from ..plan.record import Record


class FieldChange(Record):
    """A value inside a node that differs in meaning.

    ``field`` is the field it belongs to, ``pointer`` the JSON pointer inside the new node
    (``/joinSpec/joinType``); ``old`` and ``new`` are JSON values, ``None`` where absent.
    """

    field: str
    pointer: str
    old: Any
    new: Any


class Keep(Record):
    """A node that does what it did, perhaps under another id, version or description."""

    old: ExecNode
    new: ExecNode


class Update(Record):
    """A node whose own fields change."""

    old: ExecNode
    new: ExecNode
    changes: tuple[FieldChange, ...]


class Move(Record):
    """A node whose inputs change places: left became right."""

    old: ExecNode
    new: ExecNode


class Replace(Record):
    """A stateful node that stands where a stateful node of another type stood."""

    old: ExecNode
    new: ExecNode


class Insert(Record):
    """A node that is new."""

    new: ExecNode


class Remove(Record):
    """A node that is gone."""

    old: ExecNode


Edit = Keep | Update | Move | Replace | Insert | Remove
