"""Makes the recipes: for each operator with state of the new plan, from which old operator its states come, and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from ...plan.document import Plan
from ...plan.names import node_names
from ...plan.nodes import (
    Deduplicate,
    ExecNode,
    IntervalJoin,
    Join,
    Match,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    SortLimit,
    TableSourceScan,
    TemporalJoin,
    TemporalSort,
    Values,
    WindowJoin,
    WindowRank,
)
from ...plan.record import replace
from ...plan.specs import ContextResolvedTable
from ..comparing import Comparison, compare
from ..inheritance import heirs
from ..rules.tables import LOCATIONS
from . import accumulators, joins, other_joins, overs, ranks, stored_rows
from .context import Impossible, Pairing
from .history import History
from .null_keys import lacking_sides
from .recipe import Migration, Need, NeedKind, Recipe, RecipeKind
from .recipe_steps import Copy, JoinRows, Project, Taken
from .recomputing import recomputed
from .row_sets import RowComparison

Maker = Callable[[Pairing], Recipe]
"""Makes the recipe of an operator.  Raises :class:`Impossible`."""


def plan_migration(old: Plan, new: Plan) -> Migration:
    """The recipes that make the state of ``new`` from that of ``old``.

    Raises :class:`UnsupportedError` where the plans are too large to compare.
    """
    return migration_of(compare(old, new))


def migration_of(comparison: Comparison, given: Collection[str] = ()) -> Migration:
    """The recipes for two plans that have been compared; ``given`` are tables whose history the user has."""
    return _Planner(comparison, given).migration()


class _Planner:
    def __init__(self, comparison: Comparison, given: Collection[str] = ()) -> None:
        self.comparison = comparison
        self.given = given
        self.old, self.new = comparison.old.plan, comparison.new.plan
        self.rows = RowComparison(comparison.old, comparison.new)
        self.heirs = heirs(comparison)
        self.pairs = {edit.new.id: edit.old for edit in comparison.pairs()}
        self.names = node_names(self.new)

    def migration(self) -> Migration:
        """The recipes of all operators, and what is left behind."""
        recipes = [recipe for node in self.new.nodes if (recipe := self._recipe(node)) is not None]
        recipes = self._with_history(recipes)
        read = frozenset().union(*(recipe.sources for recipe in recipes))
        again = {recipe.node for recipe in recipes if recipe.kind is RecipeKind.DERIVED or recipe.history is not None}
        became = self.comparison.became()
        replaced = {number for number, node in became.items() if node.id in again}
        names = node_names(self.old)
        left = tuple(
            f"{names[node.id]} (node {node.id})"
            for node in self.old.nodes
            if node.stateful_transformations and node.id not in read | replaced
        )
        return Migration(tuple(recipes), left)

    def _recipe(self, node: ExecNode) -> Recipe | None:
        if isinstance(node, TableSourceScan | Values):
            return self._source(node)
        if isinstance(node, Sink) and not node.is_stateful:
            return self._sink(node)
        if not node.stateful_transformations:
            return None
        return self._operator(node)

    def _with_history(self, recipes: list[Recipe]) -> list[Recipe]:
        """The recipes, with others from history for those that may not suffice."""
        history = History(self.comparison, {recipe.node: recipe for recipe in recipes}, self.given)
        nodes = self.new.by_id
        return [
            replace(recipe, history=history.recipe(nodes[recipe.node]))
            if recipe.needs or recipe.is_uncertain or lacking_sides(self.comparison, recipe)
            else recipe
            for recipe in recipes
        ]

    def _source(self, node: ExecNode) -> Recipe:
        table = _table(node)
        candidates = [self.heirs.get(node.id), self.pairs.get(node.id), *self.old.nodes]
        named = [
            old for old in candidates if old is not None and table is not None and _identifier(old) == table.identifier
        ]
        for old in (*named, *candidates):
            other = None if old is None else _table(old)
            if old is None or type(old) is not type(node) or (other is None) is not (table is None):
                continue
            if table is None or other is None:
                return self._copied(old, node, ())
            is_pair = old is self.pairs.get(node.id)
            if is_pair or other.identifier == table.identifier:
                if other.connector != table.connector:
                    reason = f"the position in '{other.connector}' means nothing to '{table.connector}'"
                    return self._impossible(node, Impossible(reason, "keep the connector"))
                return replace(
                    self._copied(old, node, ("continues where the old job was",)),
                    needs=tuple(self._moved_table(other, table, node)),
                )
        return Recipe(RecipeKind.EMPTY, node.id, self.names[node.id], words=("is read from where its options say",))

    def _moved_table(self, old: ContextResolvedTable, new: ContextResolvedTable, node: ExecNode) -> Iterator[Need]:
        """What is to be accepted of a table whose data is elsewhere: the state is of the rows that it had before."""
        before, after = ((t.resolved_table.options or {}) if t.resolved_table else {} for t in (old, new))
        moved = sorted(option for option in LOCATIONS if before.get(option) != after.get(option))
        if moved:
            why = f"the state is of rows that {old.identifier} had at another {', '.join(moved)}"
            yield Need(NeedKind.MIXED, self.names[node.id], why, f"keep {', '.join(moved)}")

    def _sink(self, node: ExecNode) -> Recipe | None:
        old = self.pairs.get(node.id)
        if not isinstance(old, Sink) or not isinstance(node, Sink):
            return None if not node.stateful_transformations else self._new_sink(node)
        before, after = old.dynamic_table_sink.table, node.dynamic_table_sink.table
        if before.connector != after.connector:
            return self._new_sink(node)
        return self._copied(old, node, ())

    def _new_sink(self, node: ExecNode) -> Recipe:
        return Recipe(RecipeKind.EMPTY, node.id, self.names[node.id], words=("is a new sink",))

    def _copied(self, old: ExecNode, node: ExecNode, words: tuple[str, ...]) -> Recipe:
        name = node_names(self.old)[old.id]
        return Recipe(RecipeKind.SAME, node.id, self.names[node.id], old.id, name, words=words)

    def _impossible(self, node: ExecNode, error: Impossible, old: ExecNode | None = None) -> Recipe:
        need = Need(NeedKind.EMPTY, self.names[node.id], error.reason, error.fix)
        return Recipe(
            RecipeKind.IMPOSSIBLE,
            node.id,
            self.names[node.id],
            old.id if old else None,
            node_names(self.old)[old.id] if old else "",
            needs=(need,),
            reason=error.reason,
            fix=error.fix,
        )

    def _operator(self, node: ExecNode) -> Recipe:
        """The recipe from the best of the old operators: the first from which all comes, else the one in its place."""
        first: Recipe | None = None
        for old in self._candidates(node):
            recipe = self._from(old, node)
            if recipe.kind is not RecipeKind.IMPOSSIBLE and not recipe.needs:
                return recipe
            is_counterpart = old.id in (n.id for n in (self.heirs.get(node.id), self.pairs.get(node.id)) if n)
            if is_counterpart and (first is None or _is_better(recipe, first)):
                first = recipe
        best = first or self._without_counterpart(node)
        if not best.needs:
            return best
        try:
            again = recomputed(self.comparison, self.rows, node)
        except Impossible as e:
            return best if self._is_same_operator(best) else self._impossible(node, e)
        has_nothing = best.kind in (RecipeKind.IMPOSSIBLE, RecipeKind.EMPTY)
        return best if again is None or (again.needs and not has_nothing) else again

    def _is_same_operator(self, recipe: Recipe) -> bool:
        """Whether the old operator is of the kind of the new one, so that the recipe says best what it lacks."""
        old = self.old.by_id.get(recipe.old or 0)
        return old is not None and _family(old) == _family(self.new.by_id[recipe.node])

    def _candidates(self, node: ExecNode) -> Iterator[ExecNode]:
        seen: set[int] = set()
        counterparts = (self.heirs.get(node.id), self.pairs.get(node.id))
        others = (old for old in self.old.nodes if _family(old) == _family(node))
        for old in (*counterparts, *others):
            if old is not None and old.id not in seen and old.stateful_transformations:
                seen.add(old.id)
                yield old

    def _from(self, old: ExecNode, node: ExecNode) -> Recipe:
        try:
            if _family(old) != _family(node):
                raise Impossible(
                    f"the state is that of another operator, {old.metadata.name}", f"keep {old.metadata.name}"
                )
            pairing = Pairing(self.comparison, self.rows, old, node)
            _check_time_zone(old, node)
            if pairing.before.layout is None or pairing.after.layout is None:
                return self._opaque(old, node)
            return _simplified(pairing, _maker(old)(pairing))
        except Impossible as e:
            return self._impossible(node, e, old)

    def _opaque(self, old: ExecNode, node: ExecNode) -> Recipe:
        """The recipe of an operator whose states are not known: they are copied if nothing has changed."""
        difference = None
        for before, after in zip(self.rows.old.read_by(old), self.rows.new.read_by(node), strict=False):
            difference = difference or self.rows.difference(before, after)
        rows = (self.comparison.old.input_row(old), self.comparison.new.input_row(node))
        is_same = replace(old, id=node.id, description=node.description) == node
        if difference is not None or not is_same or list(rows[0]) != list(rows[1]):
            raise Impossible("how Flink keeps the state of this operator is not known", "keep the operator as it is")
        return self._copied(old, node, ())

    def _without_counterpart(self, node: ExecNode) -> Recipe:
        name = self.names[node.id]
        if not any(map(self.rows.has_been_read, self.rows.new.read_by(node))):
            return Recipe(RecipeKind.EMPTY, node.id, name, words=("starts empty: its rows are all to come",))
        why = "the old plan has no such operator: it would start empty, and know rows from now on only"
        return Recipe(
            RecipeKind.EMPTY, node.id, name, needs=(Need(NeedKind.EMPTY, name, why, "leave out the operator"),)
        )


def _is_better(recipe: Recipe, other: Recipe) -> bool:
    return other.kind is RecipeKind.IMPOSSIBLE and recipe.kind is not RecipeKind.IMPOSSIBLE


def _table(node: ExecNode) -> ContextResolvedTable | None:
    return node.scan_table_source.table if isinstance(node, TableSourceScan) else None


def _identifier(node: ExecNode) -> str | None:
    """The name of the table that a node scans."""
    table = _table(node)
    return None if table is None else table.identifier


def _family(node: ExecNode) -> str:
    """Nodes of the same family keep states that can be made of each other's."""
    if isinstance(node, accumulators.AGGREGATIONS):
        return "aggregation"
    if isinstance(node, Rank | Deduplicate):
        return "ranking"
    return node.metadata.name


_MAKERS: Mapping[type[ExecNode], Maker] = {
    **dict.fromkeys(accumulators.AGGREGATIONS, accumulators.recipe),
    Join: joins.recipe,
    Rank: ranks.recipe,
    SortLimit: ranks.recipe,
    WindowRank: ranks.window_rank,
    Deduplicate: ranks.deduplication,
    IntervalJoin: other_joins.interval_join,
    WindowJoin: other_joins.window_join,
    TemporalJoin: other_joins.temporal_join,
    MultiJoin: other_joins.multi_join,
    Match: other_joins.match,
    TemporalSort: other_joins.temporal_sort,
    OverAggregate: overs.recipe,
}


def _maker(node: ExecNode) -> Maker:
    return _MAKERS.get(type(node), stored_rows.recipe)


_TIME_ZONE = "table.local-time-zone"


def _check_time_zone(old: ExecNode, new: ExecNode) -> None:
    """Raise :class:`Impossible` where windows begin at other times."""
    before, after = ((node.configuration or {}).get(_TIME_ZONE) for node in (old, new))
    if before is not None and after is not None and before != after:
        raise Impossible("windows begin in another time zone", f"keep {_TIME_ZONE} at {before}")


def _simplified(pairing: Pairing, recipe: Recipe) -> Recipe:
    """The recipe, of the kind ``same`` if all entries stay as they are."""
    if recipe.kind is not RecipeKind.PROJECTED:
        return recipe
    old = {state.name: state for state in pairing.old_layout.states}
    new = {state.name: state for state in pairing.new_layout.states}
    if [v.type for v in pairing.old_layout.key] != [v.type for v in pairing.new_layout.key] or old.keys() != new.keys():
        return recipe
    if pairing.old_layout.namespace != pairing.new_layout.namespace:
        return recipe
    for state in recipe.states:
        if state.name not in new:
            if not isinstance(state.step, Copy) or state.step.state != state.name:
                return recipe
            continue
        before, after = old[state.name], new[state.name]
        if [v.type for v in before.values] != [v.type for v in after.values] or before.form != after.form:
            return recipe
        if not _is_identity(state.step, state.name, len(before.values)):
            return recipe
    return replace(recipe, kind=RecipeKind.SAME)


def _is_identity(step: object, name: str, width: int) -> bool:
    match step:
        case Copy(state, key):
            return state == name and (key is None or key == tuple(range(len(key))))
        case Project(state, key, values):
            is_same = all(
                (isinstance(v, Taken) and v == Taken(name, i)) or not isinstance(v, Taken) for i, v in enumerate(values)
            )
            return state == name and key == tuple(range(len(key))) and is_same
        case JoinRows():
            own = tuple(range(width - len(step.values), width))
            return step.state == name and step.values == own and not step.counts_matches and not step.filters
    return False
