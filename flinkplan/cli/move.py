"""``flinkplan move``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from ..plan.record import Record
from .options import assignment, check_session_option
from .variables import variable_options

_DIRECTIONS = {"spark": "move_to_spark", "flink": "move_to_flink"}
"""The modules with a function ``move`` that moves a job to an engine."""


class Request(Record):
    """What is moved where: ``state`` and ``output`` are places of a savepoint and a checkpoint.

    ``restarted`` are the tables that are to be read from their beginning again.  ``leaves_state``: what no operator of
    the plan takes is left behind.  ``variables`` replace ``${NAME}`` in the options of tables, ``options`` are those of
    the session, ``flink`` names the Flink to use, and ``tables`` a script whose tables replace the plan's.
    """

    state: str
    plan: str
    output: str
    restarted: tuple[str, ...]
    leaves_state: bool
    partitions: int | None
    variables: Mapping[str, str]
    options: Mapping[str, str]
    flink: str | None
    tables: str | None
    debug: bool


@click.command(short_help="Move a job with its state to Spark or to Flink.")
@click.argument("state")
@click.argument("plan")
@click.option("--to", "engine", type=click.Choice(tuple(_DIRECTIONS)), required=True, help="Where the job goes on.")
@click.option("-o", "--output", metavar="DIR", required=True, help="The new directory to write.")
@click.option(
    "--restart-source",
    "restarted",
    multiple=True,
    metavar="TABLE",
    help="Start reading this table where its options say, not where the job was.",
)
@click.option(
    "-n",
    "--allow-non-restored-state",
    "leaves_state",
    is_flag=True,
    help="Leave state behind that no operator of PLAN takes, as Flink does with this option.",
)
@click.option(
    "--partitions", type=click.IntRange(1), metavar="N", help="In how many partitions Spark is to have the state."
)
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--tables", metavar="SCRIPT", help="Replace tables of the plan by those of this script.")
@variable_options
@click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)
@click.pass_obj
def command(
    debug: bool,
    state: str,
    plan: str,
    engine: str,
    output: str,
    restarted: tuple[str, ...],
    leaves_state: bool,
    partitions: int | None,
    options: tuple[tuple[str, str], ...],
    tables: str | None,
    variables: Mapping[str, str],
    flink: str | None,
) -> None:
    """Move a job with its state to another engine, where it goes on with the rows that it would have had.

    PLAN is the compiled plan of the job. With --to spark, STATE is a savepoint or a retained checkpoint of Flink. The
    command writes a checkpoint from which 'flinkplan execute PLAN --checkpoint DIR' continues: the states of all
    operators, and the positions of the sources. With --to flink, STATE is the checkpoint of a stopped job. The command
    writes a savepoint from which 'EXECUTE PLAN' continues in Flink. What cannot be moved is listed by operator with the
    reason, and nothing is written.

    Kafka's offsets and the files that were read come along. Sources whose positions cannot be moved are listed; with
    --restart-source TABLE such a source starts where the options of its table say.

    The command starts Spark, and a JVM with Flink's classes: name Flink with --flink, or with FLINK_PYTHON or
    FLINK_HOME in the environment.
    """
    session = dict(options)
    for key, value in session.items():
        check_session_option(key, value)
    request = Request(
        state, plan, output, restarted, leaves_state, partitions, variables, session, flink, tables, debug
    )
    import_module(f".{_DIRECTIONS[engine]}", __package__).move(request)
