"""Functions on VARIANT, the type of values that know their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.types import CHARACTER
from ..jvm.spark import F
from ..jvm.types import spark_type
from .jvm import invoke
from .registry import Invocation, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column


def _parser(name: str, method: str) -> None:
    @scalar(name, kernel=True)
    def build(call: Invocation, text: Column, allow_duplicate_keys: Column | None = None) -> Column:
        allowed = F.lit(False) if allow_duplicate_keys is None else allow_duplicate_keys
        return invoke(method, spark_type(call.type), text, allowed)


_parser("$PARSE_JSON$1", "Variants.parse")
_parser("$TRY_PARSE_JSON$1", "Variants.tryParse")


def item(call: Invocation, a: Column, key: Column) -> Column:
    """``variant['field']`` or ``variant[position]``; NULL where there is none, an error for other values."""
    method = "Variants.field" if call.types[1].root in CHARACTER else "Variants.element"
    return invoke(method, spark_type(call.type), a, key)
