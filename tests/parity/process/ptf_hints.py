# mypy: disable-error-code="misc"
"""What the process table functions in Python have in common: hints of parameters, and values as Java shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pyflink.common import Row, RowKind
from pyflink.table import ChangelogMode
from pyflink.table.udf import ArgumentHint, ArgumentTrait, StateHint

ROW, SET = ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE
UPDATES, TIMED = ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_ON_TIME
PASSED, OPTIONAL = ArgumentTrait.PASS_COLUMNS_THROUGH, ArgumentTrait.OPTIONAL_PARTITION_BY

Rows = Annotated[Row, ArgumentHint(SET)]
EitherTimedRow = Annotated[Row | None, ArgumentHint(SET, TIMED)]
OptionalInt = Annotated[int | None, ArgumentHint(type="INT", optional=True)]


def text(value: Any) -> str:
    """A value as Java shows it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds").removesuffix(":00")
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}={text(v)}' for k, v in value.items())}}}"
    return "null" if value is None else str(value)


SHORT = {RowKind.INSERT: "+I", RowKind.UPDATE_BEFORE: "-U", RowKind.UPDATE_AFTER: "+U", RowKind.DELETE: "-D"}


def mode(changelog: ChangelogMode) -> str:
    kinds = [kind.name for kind in RowKind if changelog.contains(kind)]
    return f"[{', '.join(f'~{k}' if k == 'DELETE' and changelog.key_only_deletes else k for k in kinds)}]"


@dataclass
class Number:
    n: int = 0


NUMBER = Annotated[Number, StateHint("ROW<n BIGINT NOT NULL>")]
