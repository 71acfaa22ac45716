"""Hints behind SELECT, and the joins and aggregates that they apply to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...advice import duration_findings
from ...plan.durations import parse_duration
from ...plan.errors import VALIDATION, FlinkplanError
from ...plan.findings import did_you_mean
from ...plan.record import replace
from ..algebra.hints import QueryHint, ShownHints, TtlHint
from ..algebra.logical import Aggregate, Join
from ..algebra.rel import Rel
from ..algebra.tree import with_inputs
from ..sql import ast
from .context import Context
from .errors import BindError
from .from_items import FromItem
from .lookups import LookupHints

_QUERY_HINTS = ("STATE_TTL", "BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "LOOKUP", "MULTI_JOIN")
"""The hints that Flink has behind SELECT; all but STATE_TTL choose a join, of which streams use only the last."""
_OF_JOINS = ("BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN")
"""Those that list tables."""


def check_hints(hints: Iterable[ast.Hint], known: tuple[str, ...] = _QUERY_HINTS) -> None:
    """Raise :class:`BindError` for an unknown hint."""
    for hint in hints:
        if hint.name not in known:
            raise BindError(f"there is no hint {hint.name}", hint.span, did_you_mean(hint.name, known))


class SelectHints:
    """The hints of one SELECT, and which of their names found an input.

    A hint names an input of a join, or of an aggregate, by its alias if it has one, else by the name of the
    table or view, qualified or not.  Source: Flink's ``QueryHintsResolver``.
    """

    def __init__(self, context: Context, hints: Iterable[ast.Hint]) -> None:
        self.by_name: dict[str, tuple[int, ast.Option]] = {}
        hints = tuple(hints)
        check_hints(hints)
        for hint in hints:
            if hint.name == "STATE_TTL":
                if not hint.options:
                    raise BindError("STATE_TTL needs options", hint.span, "write STATE_TTL('table' = '1 d')")
                options = {option.key: (_millis(option), option) for option in hint.options}
                for option in hint.options:
                    context.tell(duration_findings(option.value, f"the STATE_TTL of '{option.key}'"), option.span)
                self.by_name = options | self.by_name  # the first hint counts, and of its options the last
        self.lookups = LookupHints(hint for hint in hints if hint.name == "LOOKUP")
        self.merged = {name for hint in hints if hint.name == "MULTI_JOIN" for name in hint.arguments}
        self.listed = {(hint.name, name): hint for hint in hints if hint.name in _OF_JOINS for name in _tables(hint)}
        self.written = tuple(map(_written, (hint for hint in hints if hint.name in (*_OF_JOINS, "STATE_TTL"))))
        self.found: set[str] = set()
        self.has_join = False
        self.used: set[str] = set()
        self.seen: list[str] = []
        self.consulted = False

    def join(self, left: FromItem, right: FromItem) -> TtlHint | None:
        """The hint for a join of these inputs."""
        self.lookups.joins(right)
        self.has_join = True
        for item in (left, right):
            if item.name is not None:
                self.found |= {name for _, name in self.listed if item.namespaces[0].matches(tuple(name.split(".")))}
        return self._of((left, right))

    def merges(self, left: str | None, right: str | None) -> bool:
        """Whether a MULTI_JOIN hint names these inputs; the left one may be a join itself."""
        return right in self.merged and (left is None or left in self.merged)

    def aggregate(self, item: FromItem) -> TtlHint | None:
        """The hint for an aggregate of this input."""
        return self._of((item,))

    def shown(self, *items: FromItem) -> ShownHints | None:
        """The hints as EXPLAIN shows them at a join of these inputs, or at an aggregate of one."""
        written = [hint for hint in self.written if len(items) > 1 or hint.options]
        if not written:
            return None
        resolved = []
        for hint in written:
            named = dict(hint.options) or dict.fromkeys(hint.listed, "")
            sides = {side: value for side, item in zip(_SIDES, items, strict=False) if (value := _value(named, item))}
            if len(items) == 1 and sides:
                resolved.append(QueryHint(hint.name, tuple(sides.values())))
            elif hint.options and sides:
                resolved.append(QueryHint(hint.name, options=tuple(sides.items())))
            elif sides:
                resolved.append(QueryHint(hint.name, (next(iter(sides)),)))
        return ShownHints(tuple(written), tuple(resolved))

    def _of(self, items: tuple[FromItem, ...]) -> TtlHint | None:
        if not self.by_name:
            return None
        self.consulted = True
        ttls = []
        for i, item in enumerate(items):
            if item.name is None:
                continue
            self.seen.append(item.name)
            called = next((name for name in self.by_name if item.namespaces[0].matches(tuple(name.split(".")))), None)
            if called is not None:
                self.used.add(called)
                ttls.append((i, self.by_name[called][0]))
        return TtlHint(tuple(ttls)) if ttls else None

    def check(self) -> None:
        """Raise :class:`BindError` for a name that matched no input.

        Where there is neither a join nor an aggregate, those of STATE_TTL have no effect, and no harm.
        """
        self.lookups.check()
        missing = [key for key in self.listed if self.has_join and key[1] not in self.found]
        if missing:
            listed = "".join(f"\n`{name}` in `{hint}`" for hint, name in missing)
            message = "The options of following hints cannot match the name of input tables or views: "
            raise BindError(
                f"the {missing[0][0]} hint names '{missing[0][1]}', which is no input of this SELECT's joins",
                self.listed[missing[0]].span,
                "name a table by its alias if it has one",
                in_flink=(VALIDATION, f"{message}{listed}"),
            )
        for name, (_, option) in self.by_name.items():
            if self.consulted and name not in self.used:
                known = [n for n in dict.fromkeys(self.seen) if n not in self.used] or self.seen
                raise BindError(
                    f"the STATE_TTL hint names '{name}', which is no input of this SELECT's joins or aggregates",
                    option.span,
                    did_you_mean(name, known) or f"an alias hides the table's name; use one of {', '.join(self.seen)}",
                )


def _tables(hint: ast.Hint) -> tuple[str, ...]:
    """The tables that a hint for joins lists.  Raises :class:`BindError` where it lists none."""
    if not hint.arguments:
        options = ", ".join(f"{option.key}={option.value}" for option in hint.options)
        text = f"{hint.name}({options})" if options else hint.name
        message = f"Invalid hint: {text}, expecting at least one table or view specified in hint {hint.name}."
        in_flink = ("java.lang.AssertionError", message)
        raise BindError(f"the hint {hint.name} lists no table", hint.span, f"write {hint.name}(t)", in_flink=in_flink)
    return hint.arguments


def _millis(option: ast.Option) -> int:
    try:
        return parse_duration(option.value)
    except FlinkplanError as error:
        raise BindError(f"STATE_TTL of '{option.key}': {error.message}", option.span, error.hint) from None


_SIDES = ("LEFT", "RIGHT")


def _written(hint: ast.Hint) -> QueryHint:
    return QueryHint(hint.name, hint.arguments, tuple((option.key, option.value) for option in hint.options))


def _value(named: Mapping[str, str], item: FromItem) -> str | None:
    """What a hint says of an input, or that it names it; ``None`` where it does not."""
    if item.name is None:
        return None
    return next((v or k for k, v in named.items() if item.namespaces[0].matches(tuple(k.split(".")))), None)


def with_paths(rel: Rel, path: tuple[int, ...] = ()) -> Rel:
    """The relation of a SELECT whose hinted joins and aggregates know where they stand below it."""
    new = with_inputs(rel, tuple(with_paths(each, (*path, i)) for i, each in enumerate(rel.inputs)))
    if isinstance(new, (Join, Aggregate)) and new.shown_hints is not None and new.shown_hints.path is None:
        return replace(new, shown_hints=replace(new.shown_hints, path=path))
    return new
