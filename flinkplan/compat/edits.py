"""The difference between two plans as a list of small edits."""

from __future__ import annotations

from typing import Any

from ..plan.nodes import ExecNode
from ..plan.record import Record


class FieldChange(Record):
    """A value in a node whose meaning changed.

    ``field`` is the node's field, ``pointer`` the JSON pointer within the new node (``/joinSpec/joinType``); ``old``
    and ``new`` are JSON values, ``None`` where absent.
    """

    field: str
    pointer: str
    old: Any
    new: Any


class Keep(Record):
    """A node that is unchanged, except perhaps for its id, version or description."""

    old: ExecNode
    new: ExecNode


class Update(Record):
    """A node whose own fields changed."""

    old: ExecNode
    new: ExecNode
    changes: tuple[FieldChange, ...]


class Move(Record):
    """A node whose inputs changed places: the left one became the right one."""

    old: ExecNode
    new: ExecNode


class Replace(Record):
    """A stateful node in the place of a stateful node of another type."""

    old: ExecNode
    new: ExecNode


class Insert(Record):
    """A node that is only in the new plan."""

    new: ExecNode


class Remove(Record):
    """A node that is only in the old plan."""

    old: ExecNode


Edit = Keep | Update | Move | Replace | Insert | Remove
