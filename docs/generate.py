"""Rewrites the generated parts of the pages in this folder: ``python docs/generate.py``.

A part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; :data:`PARTS` says what makes it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tests.compat.truths import Truth

HERE = Path(__file__).parent
_REWRITTEN = {"OVERLAPS"}
"""Functions that the planner spells out, so that no plan names them."""
_JAVA_IMPORT = re.compile(r"^import (?:static )?flinkplan\.runtime\.(\w+)\.", re.MULTILINE)
_JAVA_CODE = re.compile(r"\{@code (.*?)\}")
_PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def nodes() -> Iterator[str]:
    """The exec nodes: versions, states, what runs them."""
    from flinkplan.executor.prepare.query import choice_of
    from flinkplan.executor.prepare.refusals import is_refused_on_streams
    from flinkplan.plan.nodes import MultiJoin, OpaqueNode, node_classes

    yield "| exec node | versions (since Flink) | states with a TTL | operators in Flink | runs here |"
    yield "|---|---|---|---|---|"
    for cls in sorted(node_classes(), key=lambda c: c.metadata.name):
        metadata = cls.metadata
        versions = ", ".join(f"{v} ({since})" for v, since in zip(metadata.versions, metadata.since, strict=True))
        states = ", ".join(f"`{state.name}`" for state in metadata.states)
        if issubclass(cls, MultiJoin):
            states = "`input-state-0` …, one for each input"
        elif not states:
            states = "none; the watermark cleans" if metadata.timed else ""
        refused = "read and compared only" if issubclass(cls, OpaqueNode) else "no"
        executed = "in batch mode" if is_refused_on_streams(cls) else "yes"
        runs = executed if choice_of(cls) else refused
        operators = ", ".join(f"`{name}`" for name in metadata.transformations)
        yield f"| `{metadata.name}` | {versions} | {states} | {operators} | {runs} |"


def states() -> Iterator[str]:
    """The exec nodes with state, and between which engines it is carried."""
    from flinkplan.executor.checkpoints.from_flink import carried_nodes
    from flinkplan.executor.checkpoints.to_flink import given_nodes
    from flinkplan.plan.nodes import node_classes

    def shown(is_carried: bool) -> str:
        return "yes" if is_carried else "no"

    to_spark, to_flink = carried_nodes(), given_nodes()
    yield "| exec node | operators in Flink | Flink → Spark | Spark → Flink |"
    yield "|---|---|---|---|"
    for cls in sorted(node_classes(), key=lambda c: c.metadata.name):
        metadata = cls.metadata
        if metadata.states or metadata.timed or cls in to_spark | to_flink:
            operators = ", ".join(f"`{name}`" for name in metadata.transformations)
            yield f"| `{metadata.name}` | {operators} | {shown(cls in to_spark)} | {shown(cls in to_flink)} |"


def stages() -> Iterator[str]:
    """The stages of the planner."""
    from flinkplan.planner.program import STAGES
    from flinkplan.planner.rules.rule import Phase, RuleSet

    def shown(phase: Phase) -> str:
        return f"**{phase.name}**" if isinstance(phase, RuleSet) and phase.to_fixpoint else phase.name

    yield "| stage | rules, in their order | why here |"
    yield "|---|---|---|"
    for stage in STAGES:
        yield f"| {stage.name} | {', '.join(map(shown, stage.phases))} | {stage.why} |"


def java_packages() -> Iterator[str]:
    """The packages of the Java sources, each behind those that it uses."""
    from flinkplan.executor.runtime.jar import SOURCES

    root = SOURCES / "flinkplan" / "runtime"
    folders = {path.parent.name: path.parent for path in sorted(root.glob("*/package-info.java"))}
    used = {
        name: {*_JAVA_IMPORT.findall("".join(file.read_text("utf-8") for file in folder.glob("*.java")))} - {name}
        for name, folder in folders.items()
    }
    yield "| package | holds |"
    yield "|---|---|"
    sorter = TopologicalSorter(used)
    sorter.prepare()
    while sorter.is_active():
        for name in sorted(sorter.get_ready()):
            comment = (folders[name] / "package-info.java").read_text("utf-8").partition("*/")[0]
            words = _JAVA_CODE.sub(r"`\1`", " ".join(comment.replace("*", " ").strip(" /").split()))
            yield f"| `{name}` | {words} |"
            sorter.done(name)


def commands() -> Iterator[str]:
    """The help of every command."""
    from flinkplan.cli.main import cli

    context = click.Context(cli, info_name="flinkplan", terminal_width=110, **cli.context_settings)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield f"## {name}"
        own = click.Context(command, info_name=name, parent=context, terminal_width=110)
        yield from ("", "```", command.get_help(own), "```", "")
        for each, nested in command.commands.items() if isinstance(command, click.Group) else ():
            text = nested.get_help(click.Context(nested, info_name=each, parent=own, terminal_width=110))
            yield from ("```", text, "```", "")


def diagnoses() -> Iterator[str]:
    """What ``flinkplan doctor`` tells."""
    from flinkplan.doctor.examining import kinds

    yield "| diagnosis | what is wrong | what it is concluded from |"
    yield "|---|---|---|"
    for kind in kinds():
        yield f"| `{kind.id}` | {kind.summary} | {kind.evidence} |"


def validation_rules() -> Iterator[str]:
    """The rules of ``validate``."""
    from flinkplan.compat.validation import RULES

    yield "| rule | severity | what | more |"
    yield "|---|---|---|---|"
    for rule in RULES.values():
        yield f"| `{rule.id}` | {rule.severity.value} | {rule.summary} | {rule.explanation} |"


def change_rules() -> Iterator[str]:
    """The rules of ``diff``, each with what Flink and Spark did when they were asked."""
    sys.path.insert(0, str(HERE.parent))
    from flinkplan.compat.rules import RULES
    from flinkplan.compat.verdicts import Verdict
    from tests.compat.savepoints.restarts import Found
    from tests.compat.truths import ON_FLINK
    from tests.compat.truths.broken import BROKEN
    from tests.compat.truths.restored import RESTORED

    files = {"broken": BROKEN, "restored": RESTORED}
    broken = (Verdict.PARTIAL, Verdict.INCOMPATIBLE, Verdict.CORRUPTING)

    yield "| rule | what | Flink | asked of Flink | `migrate` | Spark | asked of Spark | results change |"
    yield "|---|---|---|---|---|---|---|---|"
    for rule in RULES.values():
        restarts = [(t.name, found) for t in ON_FLINK if rule.id in t.rules and (found := Found.read(t.name))]
        asked = ", ".join(f"[{found.verdict}](../tests/compat/truths/flink/{name}.json)" for name, found in restarts)
        backing = [(t.name, file) for file, truths in files.items() for t in truths if rule.id in t.rules]
        shown = ", ".join(f"[{name}](../tests/compat/truths/{file}.py)" for name, file in backing)
        flink = f"{rule.flink}, by what is kept" if rule.by_layout else str(rule.flink)
        carried = (
            ", ".join(carried_by_migrate([t for t in ON_FLINK if rule.id in t.rules])) if rule.flink in broken else ""
        )
        cells = (f"`{rule.id}`", rule.summary, flink, asked, carried, rule.spark, shown, rule.results)
        yield f"| {' | '.join(map(str, cells))} |"


def carried_by_migrate(truths: Sequence[Truth]) -> Iterator[str]:
    """How ``migrate`` makes the states of these changes, each recipe once, with the change that shows it."""
    from flinkplan.compat.migration.planning import plan_migration
    from flinkplan.compat.migration.recipe import Allowed, RecipeKind
    from tests.compat.savepoints.restarts import plans

    shown = set()
    for truth in truths:
        migration = plan_migration(*plans(truth)).settled(Allowed())
        kinds = [recipe.kind for recipe in migration.recipes if recipe.kind is not RecipeKind.EMPTY]
        is_refused = any(migration.refusals(Allowed()))
        word = "refused" if is_refused else max(kinds, key=lambda kind: kind.rank, default=RecipeKind.SAME).value
        if word not in shown:
            shown.add(word)
            yield f"{word} ({truth.name})"


def migrations() -> Iterator[str]:
    """The steps that ``upgrade`` takes from release to release."""
    from flinkplan.compat.migrations import MIGRATIONS

    yield "| | since Flink | what is written otherwise |"
    yield "|---|---|---|"
    for step in MIGRATIONS:
        yield f"| {step.number} | {'.'.join(map(str, step.since))} | {step.summary} |"


def functions() -> Iterator[str]:
    """The scalar functions and operators, and what computes them."""
    import flinkplan.executor.expressions  # noqa: F401  (fills the registry)
    from flinkplan.executor.expressions.registry import REGISTRY
    from flinkplan.plan.functions import all_functions
    from flinkplan.plan.functions.model import Kind

    done: dict[str, str] = {}
    for function in all_functions():
        if function.kind is Kind.SCALAR and function.name not in _REWRITTEN:
            implementation = REGISTRY.get(function.key)
            by = "not supported" if implementation is None else "Java" if implementation.kernel else "Spark"
            done[function.name.replace("|", "\\|")] = by
    yield "| function or operator | computed by |"
    yield "|---|---|"
    yield from (f"| `{name}` | {by} |" for name, by in done.items())


def aggregate_functions() -> Iterator[str]:
    """The aggregate functions that can be computed."""
    from flinkplan.executor.aggregate_functions import ACCUMULATORS

    yield from (f"- `{name}`" for name in sorted(ACCUMULATORS))


def spec_keys() -> Iterator[str]:
    """The keys of a pipeline in YAML."""
    from flinkplan.schemas.loader import SPEC, load_schema

    schema = load_schema(SPEC)
    yield "| key | what it says |"
    yield "|---|---|"
    yield from _keys(schema, schema["$defs"], "")


def _keys(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str, around: tuple[str, ...] = ()
) -> Iterator[str]:
    name = schema.get("$ref", "").rpartition("/")[2]
    inside = () if name in around else definitions.get(name, {})
    around = (*around, name) if name else around
    schema = {**dict(inside), **schema}
    if path and "description" in schema:
        keys = " and ".join(f"`{key}`" for key in schema.get("required", ()))
        needs = "Needs" if schema.get("type") == "object" else "A mapping needs"
        yield f"| `{path}` | {schema['description']}{f' {needs} {keys}.' if keys else ''} |"
    for key, value in schema.get("properties", {}).items():
        yield from _keys(value, definitions, f"{path}.{key}".lstrip("."), around)
    for inner, name in (("additionalProperties", f"{path}.NAME"), ("items", f"{path}[]")):
        if isinstance(schema.get(inner), Mapping):
            yield from _keys(schema[inner], definitions, name, around)


def connectors() -> Iterator[str]:
    """The connectors, and what each one can do."""
    from flinkplan.plan.connectors import CONNECTORS
    from flinkplan.plan.connectors.kinds import by_format

    def kinds(rule: Any) -> str:
        from flinkplan.plan.connectors import kinds_text

        if rule is None:
            return "not known"
        if rule is by_format:
            return "as its format"
        keyed, keyless = (kinds_text(rule({}, key)) for key in (True, False))
        return keyed if keyed == keyless else f"{keyed} with a primary key, {keyless} without"

    yield "| connector | what | as a source, emits | as a sink, takes | compiled | executed here |"
    yield "|---|---|---|---|---|---|"
    for connector in CONNECTORS.values():
        source = kinds(connector.source.kinds) if connector.source else "–"
        source = "as its sources" if connector.parts else source
        sink = kinds(connector.sink.kinds) if connector.sink else "–"
        runs = "yes" if connector.executed else "no"
        yield f"| `{connector.name}` | {connector.meaning} | {source} | {sink} | yes | {runs} |"


def formats() -> Iterator[str]:
    """The formats."""
    from flinkplan.plan.connectors import FORMATS, kinds_text

    yield "| format | what | changes | compiled | executed here |"
    yield "|---|---|---|---|---|"
    for format_ in FORMATS.values():
        runs = "yes" if format_.executed else "no"
        yield f"| `{format_.name}` | {format_.meaning} | {kinds_text(format_.kinds)} | yes | {runs} |"


def connector_options() -> Iterator[str]:
    """Every option of every connector and format whose options are known."""
    from flinkplan.plan.connectors import CONNECTORS, FORMATS
    from flinkplan.plan.connectors.bundled import EVERYWHERE
    from flinkplan.plan.connectors.kafka_properties import PROPERTIES

    listed = [option for each in PROPERTIES for option in (*each.listed, *([each] if each.listed else ()))]
    yield from ("### Every table", "", *_option_rows(EVERYWHERE, ""), "")
    for connector in CONNECTORS.values():
        own = [option for option in connector.options or () if option not in EVERYWHERE]
        if own:
            yield from (f"### Connector `{connector.name}`", "", *_option_rows(own, ""), "")
    yield from ("### Properties of `kafka` and `upsert-kafka`", "", *_property_rows(listed), "")
    yield from ("### Parameters of the URLs of `jdbc`", "", *_parameter_rows(), "")
    for format_ in FORMATS.values():
        if format_.options:
            yield from (f"### Format `{format_.name}`", "", *_option_rows(format_.options, f"{format_.name}."), "")


def _option_rows(options: Iterable[Any], prefix: str) -> Iterator[str]:
    yield "| option | type | default | what | executed here |"
    yield "|---|---|---|---|---|"
    for option in options:
        default = "required" if option.required else "" if option.default is None else f"`{option.default}`"
        runs = _effect(option)
        yield f"| `{prefix}{option.key}` | {option.type.name} | {default} | {option.meaning} | {runs} |"


def _effect(option: Any) -> str:
    if option.listed:
        return "those on the list below"
    if option.refused is not None:
        return "refused"
    return "yes" if option.executed else "no effect"


def _property_rows(options: Iterable[Any]) -> Iterator[str]:
    """The settings of a client in few rows: they are many, and described where the client is."""
    names: dict[str, list[str]] = {}
    for option in options:
        what = "as a variable" if option.by_user else _effect(option)
        what = f"refused: {option.refused}" if option.refused is not None else what
        names.setdefault(what, []).append(f"`{option.key.removeprefix('properties.')}`")
    yield "| executed here | properties, without `properties.` in front |"
    yield "|---|---|"
    yield from (f"| {what} | {', '.join(sorted(found))} |" for what, found in names.items())


def _parameter_rows() -> Iterator[str]:
    from flinkplan.plan.connectors.jdbc_urls import DATABASES

    yield "| URLs that begin with | may have the parameters |"
    yield "|---|---|"
    for database in DATABASES:
        yield f"| `{database.start}` | {', '.join(f'`{name}`' for name in sorted(database.parameters))} |"


def settings() -> Iterator[str]:
    """The options of a session."""
    from flinkplan.plan.settings import SETTINGS

    yield "| option | type | default | what | has effect |"
    yield "|---|---|---|---|---|"
    for setting in SETTINGS.values():
        option = setting.option
        effect = f"none: {setting.instead}" if setting.instead else setting.effect.value
        default = "" if option.default in (None, "") else f"`{option.default}`"
        yield f"| `{option.key}` | {option.type.name} | {default} | {option.meaning} | {effect} |"


def setting_families() -> Iterator[str]:
    """What to do instead of setting others of Flink's options."""
    from flinkplan.plan.settings import FAMILIES

    yield "| options that begin with | instead |"
    yield "|---|---|"
    yield from (f"| `{begin}` | {words} |" for begin, words in FAMILIES.items())


PARTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "aggregate-functions": aggregate_functions,
    "change-rules": change_rules,
    "commands": commands,
    "connector-options": connector_options,
    "connectors": connectors,
    "diagnoses": diagnoses,
    "formats": formats,
    "functions": functions,
    "java-packages": java_packages,
    "migrations": migrations,
    "nodes": nodes,
    "setting-families": setting_families,
    "settings": settings,
    "spec-keys": spec_keys,
    "stages": stages,
    "states": states,
    "validation-rules": validation_rules,
}


def generated(page: str) -> str:
    """A page with its generated parts as they should be now."""
    return _PART.sub(lambda m: f"{m[1]}{chr(10).join(PARTS[m['name']]())}\n{m[3]}", page)


if __name__ == "__main__":
    for file in sorted(HERE.glob("*.md")):
        file.write_text(generated(file.read_text("utf-8")), "utf-8")
