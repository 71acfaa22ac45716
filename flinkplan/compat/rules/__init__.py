"""The rules on changes of plans, each with a stable id, and the judges that apply them."""

from . import (
    aggregates,
    fields,
    keys,
    options,
    over,
    patterns,
    process_tables,
    python_functions,
    savepoints,
    sources,
    state,
    stream_windows,
    structure,
    tables,
)
from .model import FIELD_JUDGES, PAIR_JUDGES, PLAN_JUDGES, RULES, Became, ChangeRule, Judgement

__all__ = [
    "FIELD_JUDGES",
    "PAIR_JUDGES",
    "PLAN_JUDGES",
    "RULES",
    "Became",
    "ChangeRule",
    "Judgement",
    "aggregates",
    "fields",
    "keys",
    "options",
    "over",
    "patterns",
    "process_tables",
    "python_functions",
    "savepoints",
    "sources",
    "state",
    "stream_windows",
    "structure",
    "tables",
]
