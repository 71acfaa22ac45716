"""JSON."""

from __future__ import annotations

from ..types import BOOLEAN, STRING, LogicalType
from .model import Pushing
from .registry import declare
from .rules import always, if_null, signature, which

_VARIANT = LogicalType("VARIANT")
_PATH = signature("CHARACTER", "CHARACTER", rest="ANY")

JSON_VALUE = declare("JSON_VALUE", _PATH, always(STRING), states_target_type=True)
JSON_QUERY = declare("JSON_QUERY", _PATH, always(STRING))
JSON_EXISTS = declare("JSON_EXISTS", _PATH, always(BOOLEAN))
JSON_OBJECT = declare("JSON_OBJECT", signature("SYMBOL", rest="ANY"), always(STRING.not_null()))
JSON_ARRAY = declare("JSON_ARRAY", signature("SYMBOL", rest="ANY"), always(STRING.not_null()))
JSON_STRING = declare(
    "JSON_STRING", signature(which("ANY", lambda t: t.root not in ("DATE", "TIME"))), if_null(STRING), bridged=True
)
declare("JSON", signature("CHARACTER"), if_null(STRING), bridged=True, pushing=Pushing.NEVER)
declare("JSON_QUOTE", signature("CHARACTER"), if_null(STRING), bridged=True)
declare("JSON_UNQUOTE", signature("CHARACTER"), if_null(STRING), bridged=True)
declare("PARSE_JSON", (signature("CHARACTER"), signature("CHARACTER", "BOOLEAN")), if_null(_VARIANT), bridged=True)
declare("TRY_PARSE_JSON", (signature("CHARACTER"), signature("CHARACTER", "BOOLEAN")), always(_VARIANT), bridged=True)
