"""Table functions and group windows."""

from __future__ import annotations

from ..types import LogicalType, row
from .model import Arguments, Kind
from .registry import declare
from .rules import argument, signature


def _unnested(args: Arguments) -> LogicalType:
    return unnested_type(args.types[0], with_ordinality=False)


def unnested_type(collection: LogicalType, with_ordinality: bool) -> LogicalType:
    """The row type of UNNEST: the fields of a row element, else one column (two for a map)."""
    if collection.root == "MAP":
        fields = list(zip(("f0", "f1"), collection.children, strict=True))
    elif collection.element.root == "ROW":
        fields = [(f.name, f.type) for f in collection.element.fields]
    else:
        fields = [("EXPR$0" if with_ordinality else "f0", collection.element)]
    if with_ordinality:
        fields.append(("ORDINALITY", LogicalType("INT", nullable=False)))
    is_row = collection.root != "MAP" and collection.element.root == "ROW"
    nullable = collection.element.nullable if is_row else collection.root != "MAP"
    return row(fields, nullable=nullable and not with_ordinality)


UNNEST_ROWS = declare(
    "UNNEST_ROWS", signature("ANY"), _unnested, kind=Kind.TABLE, named=False, printed="$UNNEST_ROWS$1"
)
UNNEST_ROWS_WITH_ORDINALITY = declare(
    "UNNEST_ROWS_WITH_ORDINALITY",
    signature("ANY"),
    lambda args: unnested_type(args.types[0], with_ordinality=True),
    kind=Kind.TABLE,
    named=False,
    printed="$UNNEST_ROWS_WITH_ORDINALITY$1",
)
REPLICATE_ROWS = declare(
    "REPLICATE_ROWS",
    signature("INTEGER", rest="ANY"),
    lambda args: row((f"f{i}", t) for i, t in enumerate(args.types[1:])),
    kind=Kind.TABLE,
    named=False,
    printed="$REPLICATE_ROWS$1",
)

TUMBLE, SESSION = (
    declare(
        f"${name}",
        (signature("TIMESTAMP", "INTERVAL"), signature("TIMESTAMP", "INTERVAL", "TIME")),
        argument(0),
        kind=Kind.WINDOW,
        named=False,
    )
    for name in ("TUMBLE", "SESSION")
)
HOP = declare(
    "$HOP",
    (signature("TIMESTAMP", "INTERVAL", "INTERVAL"), signature("TIMESTAMP", "INTERVAL", "INTERVAL", "TIME")),
    argument(0),
    kind=Kind.WINDOW,
    named=False,
)

WINDOW_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
"""The windowing table functions."""

GROUP_WINDOWS = {"TUMBLE": TUMBLE, "HOP": HOP, "SESSION": SESSION}
"""The group windows of GROUP BY TUMBLE(…) and its like, by SQL name."""

WINDOW_AUXILIARIES = {
    f"{window}_{suffix}": (window, suffix)
    for window in GROUP_WINDOWS
    for suffix in ("START", "END", "ROWTIME", "PROCTIME")
}
"""Functions that read a property of a group window, with the window and the property.  They exist only in SQL."""
