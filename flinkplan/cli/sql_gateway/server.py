"""Serves the gateway until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread

import click
import uvicorn

from ...plan.errors import FlinkplanError
from ..errors import code_of
from ..serving import is_loopback
from ..shell.engine import own_stderr
from ..signals import Signals, end_process, ends_raised
from .endpoint import application, check_reach
from .service import GatewayService, Limits

_CONNECTIONS = 256
"""The maximum number of open connections; further ones are answered with 503."""


def serve(options: Mapping[str, str], host: str, port: int, limits: Limits, token: str | None) -> int:
    """Serve until a signal comes; gives the exit code.

    Raises :class:`FlinkplanError` where the address cannot be used, or could be used by others without a token.
    """
    check_reach(host, token)
    with own_stderr(), ends_raised():
        service = GatewayService(options, limits)
        try:
            with serving(service, host, port, token) as url:
                service.start()
                click.echo(f"SQL Gateway at {url}, Ctrl-C ends it")
                service.engine.wait()
                click.echo("Spark has started", err=True)
                Event().wait()
        except KeyboardInterrupt as e:
            service.close()
            end_process(Signals())
            return code_of(e)
        finally:
            service.close()
    return 0


@contextmanager
def serving(service: GatewayService, host: str, port: int, token: str | None = None) -> Iterator[str]:
    """Serve on a port, for 0 on a free one; gives the URL.  Raises :class:`FlinkplanError` where it cannot be used."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as e:
        where = "" if is_loopback(host) else f" at {host}"
        raise FlinkplanError(
            f"the port {port} cannot be used{where}: {e.strerror}", hint="choose another one with --port"
        ) from None
    config = uvicorn.Config(
        application(service, host, token),
        log_config=None,
        lifespan="off",
        limit_concurrency=_CONNECTIONS,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listener],), name="gateway", daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
