"""Starting Spark's JVM, as PySpark does, but so that it ends with what has asked for it.

PySpark's own start forgets the JVM where it is interrupted.  That JVM cannot write into the folder where PySpark looks
for its port, which has gone by then, and stays for ever; later on it ends when this process has closed its input.
"""

from __future__ import annotations

import os
import shlex
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..processes import child, end_processes
from ..runtime.jar import spark_home
from ..scratch import Scratch, remove_scratch, scratch

if TYPE_CHECKING:
    from subprocess import Popen

_POLL_SECONDS = 0.02
_WITHOUT_INTERRUPTS = 'trap "" INT; exec "$@"'
"""Ctrl-C goes to all processes of a terminal; what becomes of the JVM then is for this process to say."""
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"

_starting = Lock()


def start_jvm(settings: Mapping[str, str]) -> None:
    """Start the JVM of this process, with Spark's ``settings`` and among them the kernels' jar, unless there is one.

    Raises :class:`pyspark.errors.PySparkRuntimeError` of the class ``JAVA_GATEWAY_EXITED`` where it ends instead.
    """
    from pyspark import SparkContext

    with _starting:
        if SparkContext._gateway is None and _PORT not in os.environ and os.name == "posix":
            gateway = _launch(settings)
            gateway.jvm.flinkplan.runtime.pyspark.AbsentClasses.remember()
            SparkContext._ensure_initialized(gateway=gateway)


def forget_jvm() -> None:
    """End the JVM that this process has started, if it has; the next session starts another one."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    end_processes()
    remove_scratch()
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:
        context: Any = SparkContext
        context._gateway = context._jvm = context._active_spark_context = None


def _launch(settings: Mapping[str, str]) -> Any:
    own = scratch()
    connection = own.folder / "connection"
    connection.unlink(missing_ok=True)
    environment = {**os.environ, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection)}
    with child(
        ["/bin/sh", "-c", _WITHOUT_INTERRUPTS, "sh", *_command(settings)],
        lambda: not own.folder.exists(),
        stdin=subprocess.PIPE,  # by whose end the JVM knows that it is to end
        env=environment,
        pass_fds=() if own.lock is None else (own.lock,),
    ) as process:
        _wait_for(connection, process)
        gateway = _connect(connection)
        gateway.proc = process
        _remove_at_end(own, gateway)
    return gateway


def _command(settings: Mapping[str, str]) -> list[str]:
    confs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    submit = str(spark_home() / "bin" / "spark-submit")
    return [submit, *confs, *shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))]


def _wait_for(connection: Path, process: Popen[bytes]) -> None:
    from pyspark.errors import PySparkRuntimeError

    while not connection.is_file():
        try:
            process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})


def _connect(connection: Path) -> Any:
    """PySpark's gateway to a JVM that has told its port; PySpark takes that from the environment."""
    from pyspark import java_gateway

    port, length = struct.unpack(">ii", (told := connection.read_bytes())[:8])
    secret = told[8 : 8 + length].decode()
    launch_gateway: Any = java_gateway.launch_gateway
    os.environ.update({_PORT: str(port), _SECRET: secret})
    try:
        return launch_gateway()
    finally:
        del os.environ[_PORT], os.environ[_SECRET]


def _remove_at_end(own: Scratch, gateway: Any) -> None:
    """Have the JVM, which ends after this process, remove the temporary files of both."""
    jvm = gateway.jvm
    jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(jvm.java.io.File(str(own.folder)))
