"""``flinkplan functions``."""

from __future__ import annotations

from pathlib import Path

import click

from .inputs import Compilation, Tree, compile_in
from .options import force_option


@click.command(short_help="Describe the Java functions in jars.")
@click.argument("jars", nargs=-1, required=True, metavar="JAR...", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write them there."
)
@click.option(
    "--for",
    "pipelines",
    multiple=True,
    metavar="PIPELINE",
    help="Also write what only the functions themselves know of the calls in this pipeline.",
)
@click.option("--flink", metavar="PATH", help="Where Flink is: a Python that has it, or its folder.")
@force_option
def command(
    jars: tuple[str, ...], output: Path | None, pipelines: tuple[str, ...], flink: str | None, force: bool
) -> None:
    """List the functions in JARs, or write what a pipeline needs of them to a file.

    A JVM with the classes of Flink reads the jars. With the file, named by --jar or by 'functions' in pyproject.toml,
    'compile', 'validate' and 'diff' start no JVM and need neither the jars nor Flink.
    """
    from ..flink.functions import JavaFunctions, write_document
    from ..plan.errors import PlanError
    from ..table.function_loader import FunctionLoader

    functions = JavaFunctions(jars, flink=flink)
    for pipeline in pipelines:
        tree = Tree(jars)
        loader = FunctionLoader(lambda: jars, known=functions)
        compile_in(tree, pipeline, tree.read(pipeline), Compilation(), load=loader)
    if output is None:
        for name, described in functions.document["functions"].items():
            click.echo(f"{name}: {_readable(described)}")
        return
    if output.exists() and not force:
        raise PlanError(f"{output} exists already", hint="--force replaces it")
    write_document(functions.document, output)


def _readable(described: dict[str, object]) -> str:
    if "error" in described:
        return f"refused: {described['error']}"
    kind = str(described["kind"]).lower().replace("_", " ")
    process = described.get("process")
    if isinstance(process, dict):
        return f"{kind} ({', '.join(argument['name'] for argument in process['arguments'])}) → {process['result']}"
    signatures = described.get("signatures")
    if not isinstance(signatures, list):
        return f"{kind}, infers its types by code of its own"
    texts = []
    for signature in signatures:
        arguments = [*signature["arguments"], *([signature["rest"] + "…"] if "rest" in signature else [])]
        texts.append(f"({', '.join(arguments)}) → {signature['result']}")
    return f"{kind} {'; '.join(texts)}"
