"""Functions and operators of MATCH_RECOGNIZE.

Sources: Calcite's ``SqlStdOperatorTable``, Flink's ``FlinkSqlOperatorTable``.
"""

from __future__ import annotations

from ..record import replace
from ..types import LogicalType, TimeKind, timestamp
from .model import BINARY, PREFIX, SPECIAL, Arguments, Function, Kind
from .registry import declare
from .rules import always, signature
from .temporal import PROCTIME_TYPE


def _same(args: Arguments) -> LogicalType:
    return args.types[0]


def _rowtime(args: Arguments) -> LogicalType:
    return args.types[0] if args.types else replace(timestamp(3, nullable=False), kind=TimeKind.ROWTIME)


def _declare(name: str, *usage: str, syntax: str) -> Function:
    return declare(name, signature(*usage), _same, syntax=syntax, kind=Kind.PATTERN, named=False)


FIRST, LAST, PREV, NEXT = (
    declare(name, signature("ANY", "NUMERIC"), _same, kind=Kind.PATTERN, named=False)
    for name in ("FIRST", "LAST", "PREV", "NEXT")
)
FINAL, RUNNING = (_declare(name, "ANY", syntax=PREFIX) for name in ("FINAL", "RUNNING"))
MATCH_ROWTIME = declare("MATCH_ROWTIME", (signature(), signature("ANY")), _rowtime, kind=Kind.PATTERN, named=False)
MATCH_PROCTIME = declare(
    "MATCH_PROCTIME", signature(), always(PROCTIME_TYPE), kind=Kind.PATTERN, named=False, deterministic=False
)

QUANTIFIER = _declare("PATTERN_QUANTIFIER", "ANY", "NUMERIC", "NUMERIC", "BOOLEAN", syntax=SPECIAL)
CHOICE = _declare("|", "ANY", "ANY", syntax=BINARY)
PERMUTATION = _declare("PATTERN_PERMUTE", "ANY", "ANY", syntax=SPECIAL)
EXCLUSION = _declare("PATTERN_EXCLUDE", "ANY", syntax=SPECIAL)
SEQUENCE = "PATTERN_CONCAT"
"""The kind of the operator that concatenates two patterns; it has no name."""
SKIPS = {place: _declare(f"SKIP {place}", "ANY", syntax=PREFIX) for place in ("TO FIRST", "TO LAST")}
"""AFTER MATCH SKIP to a row of a variable."""
