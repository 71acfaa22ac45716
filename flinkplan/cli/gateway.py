"""``flinkplan gateway``."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from ..plan.errors import FlinkplanError
from .options import assignment, session_options
from .serving import LOOPBACK
from .variables import allow_database, variable_options

TOKEN = "FLINKPLAN_GATEWAY_TOKEN"
"""The environment variable with the token that clients must send."""

PORT = 8083


@click.command(short_help="Serve Flink's SQL Gateway protocol.")
@click.option(
    "--host", default=LOOPBACK, show_default=True, help=f"The address to listen at; other than loopback with {TOKEN}."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port; 0 for a free one."
)
@click.option(
    "--max-sessions", type=click.IntRange(min=0), default=100, show_default=True, help="How many sessions may be open."
)
@click.option(
    "--idle-timeout",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="After how long a session that nobody uses is closed.",
)
@click.option(
    "--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option of all sessions."
)
@click.option("--master", metavar="URL", help="Spark's master; local[*] by default.")
@click.option("--conf", multiple=True, type=assignment, metavar="KEY=VALUE", help="A setting of Spark.")
@variable_options
@allow_database
def command(
    host: str,
    port: int,
    max_sessions: int,
    idle_timeout: float,
    options: tuple[tuple[str, str], ...],
    master: str | None,
    conf: tuple[tuple[str, str], ...],
    variables: Mapping[str, str],
    databases: tuple[str, ...],
) -> int:
    """Serve sessions of Flink SQL to the clients of Flink's SQL Gateway, versions 1 to 4 of its REST protocol.

    All sessions share one running Spark. Each has its own catalog and options. Closing a session stops its SELECTs; the
    jobs of its INSERTs go on until STOP JOB, or until the gateway ends. A session that no client has used for the idle
    timeout is closed with all its jobs.

    Other machines can be let in with --host and a token in the environment variable FLINKPLAN_GATEWAY_TOKEN, which
    clients send as "Authorization: Bearer TOKEN".
    """
    try:
        from .sql_gateway.server import serve
    except ModuleNotFoundError as e:
        if e.name not in ("starlette", "uvicorn"):
            raise
        raise FlinkplanError(f"the gateway needs {e.name}", hint="pip install 'flinkplan[gateway]'") from None
    from .sql_gateway.service import Limits

    settings = session_options(options, master, conf, variables, databases)
    return serve(settings, host, port, Limits(max_sessions, idle=idle_timeout), os.environ.get(TOKEN))
