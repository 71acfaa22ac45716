"""MATCH_RECOGNIZE, and the patterns of rows that it looks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .core import Identifier, Node
from .expressions import Expression, SortItem

if TYPE_CHECKING:
    from .queries import TableAlias, TableExpression


class PatternVariable(Node):
    """A row for which the condition of a variable is true."""

    name: Identifier


class PatternSequence(Node):
    """``left right``: one right after the other."""

    left: Pattern
    right: Pattern


class PatternChoice(Node):
    """``left | right``."""

    left: Pattern
    right: Pattern


class PatternRepetition(Node):
    """``operand{least,most}``, or another quantifier; a bound that is left out is -1.

    ``is_reluctant``: as few as possible, which a ``?`` behind it says.
    """

    operand: Pattern
    least: int
    most: int
    is_reluctant: bool = False


class PatternPermutation(Node):
    """``PERMUTE(a, b)``: in any order."""

    items: tuple[Pattern, ...]


class PatternExclusion(Node):
    """``{- a -}``: what is matched, but not shown."""

    operand: Pattern


Pattern: TypeAlias = (
    PatternVariable | PatternSequence | PatternChoice | PatternRepetition | PatternPermutation | PatternExclusion
)


class PatternSubset(Node):
    """``name = (a, b)`` in SUBSET."""

    name: Identifier
    variables: tuple[Identifier, ...]


class PatternDefinition(Node):
    """``variable AS condition`` in DEFINE."""

    variable: Identifier
    condition: Expression


class Measure(Node):
    """``expression AS name`` in MEASURES."""

    expression: Expression
    name: Identifier


class AfterMatch(Node):
    """``AFTER MATCH SKIP …``: ``where`` is PAST LAST ROW, TO NEXT ROW, or TO FIRST or TO LAST of a variable."""

    where: str
    variable: Identifier | None = None


class MatchRecognize(Node):
    """``table MATCH_RECOGNIZE (…) [AS alias]``."""

    table: TableExpression
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    measures: tuple[Measure, ...]
    all_rows: bool
    after: AfterMatch
    pattern: Pattern
    within: Expression | None
    subsets: tuple[PatternSubset, ...]
    definitions: tuple[PatternDefinition, ...]
    alias: TableAlias | None = None
