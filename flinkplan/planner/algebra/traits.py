"""What the class of a physical operator declares: the changes that it needs and emits, what is known of its columns.

A table by the class of a relation (:class:`.dispatch.Dispatch`) that names a trait names every operator with it, so a
new operator is described where it is declared.
"""

from __future__ import annotations

from typing import ClassVar

# ---------------------------------------------------------------- kinds of changes


class InsertsOnly:
    """Emits inserts only."""

    __slots__ = ()


class SameKinds:
    """Emits the kinds of changes that its inputs emit."""

    __slots__ = ()


class ReadsInserts:
    """Accepts inserts only.  Source: ``SatisfyModifyKindSetTraitVisitor``."""

    __slots__ = ()

    description: ClassVar[str]
    """The operator in words, for the message that refuses other changes."""


# ---------------------------------------------------------------- updates and deletions


class CompleteUpdates:
    """Needs the old row of each update of its inputs, and emits it if that is required."""

    __slots__ = ()


class SameUpdates:
    """Needs the old row of an update only where it is required of the operator, and hands it on."""

    __slots__ = ()


class CompleteDeletes:
    """Needs deletions with all columns, and emits such deletions."""

    __slots__ = ()


class SameDeletes:
    """Emits the deletions of its input with the columns that they have."""

    __slots__ = ()


class CompleteChanges(CompleteUpdates, CompleteDeletes):
    """Needs and emits updates with their old rows, and deletions with all columns."""

    __slots__ = ()


class SameChanges(SameKinds, SameUpdates, SameDeletes):
    """Emits the changes of its input as they are."""

    __slots__ = ()


# ---------------------------------------------------------------- watermarks


class NeedsWatermark:
    """Waits for watermarks.  Source: ``StreamPhysicalRel.requireWatermark``."""

    __slots__ = ()


class NoWatermark:
    """Does not wait for watermarks."""

    __slots__ = ()


# ---------------------------------------------------------------- columns


class UnknownKeys:
    """No unique key of its rows is known."""

    __slots__ = ()


class UnknownDirections:
    """It is not known whether the columns of a row grow or shrink when it is updated."""

    __slots__ = ()


class UnknownBounds:
    """No bounds of its columns' values are known."""

    __slots__ = ()


class UnknownColumns(UnknownKeys, UnknownDirections, UnknownBounds):
    """Nothing is known of the values of its columns."""

    __slots__ = ()


class OneRowPerKey:
    """Emits one row for each value of :attr:`unique_key`, and changes of that row."""

    __slots__ = ()

    @property
    def unique_key(self) -> tuple[int, ...]:
        """The columns of the key, as positions in the output."""
        raise NotImplementedError


class ConstantColumns:
    """No column of a row that was emitted ever changes."""

    __slots__ = ()
