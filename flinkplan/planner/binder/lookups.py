"""LOOKUP hints: their options, and the tables that they apply to.

Sources: ``LookupJoinHintOptions``, ``FlinkHintStrategies``, ``LookupJoinUtil``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...plan.durations import parse_duration
from ...plan.errors import FlinkplanError
from ...plan.findings import did_you_mean
from ...plan.options import BOOLEAN, DURATION, TEXT, WHOLE, Option, is_true, one_of
from ...plan.specs import RetryLookup
from ..algebra.hints import LookupHint
from ..sql import ast
from .errors import BindError
from .from_items import FromItem

_RETRY = (
    Option("retry-predicate", one_of("LOOKUP_MISS"), None, "what is asked for again: keys without rows"),
    Option("retry-strategy", one_of("FIXED_DELAY"), None, "when"),
    Option("fixed-delay", DURATION, None, "after how long"),
    Option("max-attempts", WHOLE, None, "how often at most"),
)
_OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        Option("table", TEXT, None, "the table that is looked up, by its alias if it has one", required=True),
        Option("async", BOOLEAN, None, "whether several lookups may run at once, where the connector can"),
        Option("output-mode", one_of("ORDERED", "ALLOW_UNORDERED"), None, "whether rows keep their order then"),
        Option("capacity", WHOLE, None, "how many run at once"),
        Option("timeout", DURATION, None, "how long one may take"),
        *_RETRY,
        Option("shuffle", BOOLEAN, "false", "whether rows are brought together by key before"),
    )
}


class LookupHints:
    """The LOOKUP hints of one SELECT, and which of them matched a table.

    Raises :class:`BindError` for unknown options.
    """

    def __init__(self, hints: Iterable[ast.Hint]) -> None:
        self._hints = [(hint, _options(hint)) for hint in hints]
        self._joined: list[FromItem] = []

    def of(self, item: FromItem) -> LookupHint:
        """The lookup options of a table: those of the first hint that names it."""
        self.joins(item)
        options_of_item = next((options for _, options in self._hints if _names(options["table"], item)), None)
        if not options_of_item:
            return LookupHint()
        return LookupHint(is_true(options_of_item.get("shuffle")), _retry(options_of_item))

    def joins(self, *items: FromItem) -> None:
        """Note a joined item, so that hints that name it are not reported."""
        self._joined += items

    def check(self) -> None:
        """Raise :class:`BindError` for a hint that names no joined item.

        Where nothing is joined, a hint has no effect, and no harm.  Source: ``QueryHintsResolver``.
        """
        for hint, options in self._hints if self._joined else ():
            name = options["table"]
            if not any(_names(name, item) for item in self._joined):
                raise BindError(
                    f"the LOOKUP hint names '{name}', which this SELECT does not join",
                    hint.span,
                    did_you_mean(name, [item.name for item in self._joined if item.name])
                    or "it is for JOIN t FOR SYSTEM_TIME AS OF a column of PROCTIME(), and takes the alias of t",
                )


def _names(name: str, item: FromItem) -> bool:
    return item.name is not None and item.namespaces[0].matches(tuple(name.split(".")))


def _options(hint: ast.Hint) -> dict[str, str]:
    for option in hint.options:
        known = _OPTIONS.get(option.key)
        if known is None:
            raise BindError(f"LOOKUP has no option '{option.key}'", option.span, did_you_mean(option.key, _OPTIONS))
        try:
            known.check(option.value)
        except FlinkplanError as error:
            raise BindError(error.message, option.span, error.hint) from None
    options = {option.key: option.value for option in hint.options}
    if "table" not in options:
        raise BindError("LOOKUP does not say which table", hint.span, "write LOOKUP('table' = 't', …)")
    missing = [option.key for option in _RETRY if option.key not in options]
    if missing and len(missing) < len(_RETRY):
        raise BindError(f"LOOKUP retries, and has no option '{missing[0]}'", hint.span, "set all four, or none")
    return options


def _retry(options: Mapping[str, str]) -> RetryLookup | None:
    if "fixed-delay" not in options:
        return None
    return RetryLookup(
        retry_predicate=options["retry-predicate"],
        retry_strategy=options["retry-strategy"].upper(),
        fixed_delay=parse_duration(options["fixed-delay"]),
        max_attempts=int(options["max-attempts"]),
    )
