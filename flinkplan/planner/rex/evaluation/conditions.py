"""Constant calls of functions that look at NULL operands instead of passing them on."""

from __future__ import annotations

from typing import Any

from ....plan.rex import Call, Literal
from .registry import evaluator


@evaluator("IF")
def _if(call: Call, condition: Literal, yes: Literal, no: Literal) -> Any:
    return yes.value if condition.value else no.value


@evaluator("IFNULL")
def _ifnull(call: Call, value: Literal, otherwise: Literal) -> Any:
    return otherwise.value if value.value is None else value.value


@evaluator("TYPEOF")
def _typeof(call: Call, operand: Literal) -> str:
    return str(operand.type)
