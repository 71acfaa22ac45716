"""What the parts of an aggregation's state are called, so that a changed plan finds those of the calls it kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..rex import shown_name
from ..specs import AggregateCall
from ..types import RowField


def accumulator_names(calls: Sequence[AggregateCall], fields: Sequence[RowField]) -> list[str]:
    """A name a call, made of its function and the names of the columns that it reads: ``sum_amount``.

    Positions do not count: they move when an unrelated column is added.  Other characters than ASCII letters
    and digits become their code between underscores.
    """
    seen: Counter[str] = Counter()
    names = []
    for call in calls:
        name = _name(call, fields)
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}__{seen[name]}")
    return names


def _name(call: AggregateCall, fields: Sequence[RowField]) -> str:
    function = shown_name(call.internal_name or "").strip("$").split("$")[0].lower()
    parts = [function, *(_column(i, fields) for i in call.arg_list)]
    if call.distinct:
        parts.append("distinct")
    if call.filter_arg >= 0:
        parts += ["filter", _column(call.filter_arg, fields)]
    return "_".join(parts)


def _column(index: int, fields: Sequence[RowField]) -> str:
    if not 0 <= index < len(fields):
        return str(index)
    return re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}_", fields[index].name)
