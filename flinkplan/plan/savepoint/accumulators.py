"""Names for the accumulators in an aggregation's state, by which a changed plan finds those of unchanged calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..rex import shown_name
from ..specs import AggregateCall
from ..types import RowField


def accumulator_names(calls: Sequence[AggregateCall], fields: Sequence[RowField]) -> list[str]:
    """A name for each call, made of its function and the names of its columns: ``sum_amount``.

    Positions are not used, since they change when an unrelated column is added.  A character that is no ASCII letter
    or digit becomes its code between underscores.
    """
    counts: Counter[str] = Counter()
    names = []
    for call in calls:
        name = _name(call, fields)
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name}__{counts[name]}")
    return names


def _name(call: AggregateCall, fields: Sequence[RowField]) -> str:
    function = shown_name(call.internal_name or f"${call.function_name}$1").strip("$").split("$")[0].lower()
    function = re.sub(r"[^a-z0-9_]", lambda match: f"_{ord(match[0]):x}_", function)
    parts = [function, *(_column(i, fields) for i in call.arg_list)]
    if call.is_distinct:
        parts.append("distinct")
    if call.filter_arg >= 0:
        parts += ["filter", _column(call.filter_arg, fields)]
    return "_".join(parts)


def _column(index: int, fields: Sequence[RowField]) -> str:
    if not 0 <= index < len(fields):
        return str(index)
    return re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}_", fields[index].name)
