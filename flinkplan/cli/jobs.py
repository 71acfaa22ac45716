"""Running jobs for ``execute`` and ``run``."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from ..plan.printable import one_line
from .openlineage.options import openlineage_option
from .options import assignment, duration
from .progress import Progress, Silent, shown
from .signals import Signals, end_process
from .variables import allow_database, variable_options
from .watching import Watched

if TYPE_CHECKING:
    from ..executor.checkpoints.warm_up import WarmUp
    from ..executor.jobs.collecting import Collector
    from ..executor.jobs.job import Job
    from ..plan.document import Plan
    from .openlineage.emitting import Emitter, Run

_OPTIONS = (
    click.option(
        "--checkpoint", type=click.Path(file_okay=False), metavar="DIR", help="The directory for state and progress."
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="RULE[@NODE]",
        help="Continue from the checkpoint despite this finding of 'flinkplan diff'.",
    ),
    click.option("--master", metavar="URL", help="Spark's master; local[*] by default."),
    click.option("--conf", multiple=True, type=assignment, metavar="KEY=VALUE", help="A setting of Spark."),
    variable_options,
    allow_database,
    click.option(
        "--mode",
        type=click.Choice(("bounded", "available-now", "streaming", "real-time")),
        help="By default bounded if all sources are bounded, else streaming.",
    ),
    click.option(
        "--py-files",
        "--jar",
        "py_files",
        multiple=True,
        metavar="PATH",
        help="Code that plans may run: Python modules (.py, .zip, a directory), or a jar of Java functions.",
    ),
    click.option("--python-module", multiple=True, metavar="NAME", help="An installed module that plans may run."),
    click.option(
        "--function",
        "functions",
        multiple=True,
        type=assignment,
        metavar="NAME=PATH",
        help="What a function of the plan is called in --py-files (MODULE.NAME), if it has another name there, or in "
        "--jar (CLASS).",
    ),
    click.option("--trigger-interval", type=duration, metavar="DURATION", help="Time between batches, such as 10s."),
    click.option(
        "--checkpoint-interval",
        type=duration,
        metavar="DURATION",
        help="Time between checkpoints in real-time mode; 10s by default.",
    ),
    click.option(
        "--files-per-batch",
        type=click.IntRange(1),
        metavar="N",
        help="The maximum number of new files of a source in a batch of a stream; no limit by default.",
    ),
    click.option("--log-format", type=click.Choice(("text", "json")), default="text", show_default=True),
    click.option(
        "--log-level",
        type=click.Choice(("TRACE", "DEBUG", "INFO", "WARN", "ERROR"), case_sensitive=False),
        help="The level of Spark's log in --log-file; WARN by default.",
    ),
    click.option(
        "--log-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="PATH",
        help="Write Spark's log to this file.",
    ),
    click.option("--report", metavar="PATH", help="Write an HTML page about the run, batch by batch."),
    click.option(
        "--ui",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve that page on this port of localhost while the job runs.",
    ),
    click.option(
        "--ui-host", metavar="ADDRESS", help="Serve it at this address, which others may reach; 127.0.0.1 by default."
    ),
    click.option(
        "--metrics-port",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve metrics in Prometheus' format on this port.",
    ),
    click.option(
        "--metrics-host",
        metavar="ADDRESS",
        help="Serve them at this address, such as 0.0.0.0 in a pod; 127.0.0.1 by default.",
    ),
    openlineage_option,
    click.option("-q", "--quiet", is_flag=True, help="Print only errors."),
)


_STDERR = 2


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that runs jobs; they are the arguments of :class:`JobRunner`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class JobRunner(AbstractContextManager["JobRunner"]):
    """Runs plans with the options of a command and shows their progress; on exit, jobs that still run are stopped."""

    def __init__(
        self,
        *,
        debug: bool,
        checkpoint: str | None,
        allow: tuple[str, ...],
        master: str | None,
        conf: tuple[tuple[str, str], ...],
        variables: Mapping[str, str],
        databases: tuple[str, ...],
        mode: str | None,
        py_files: tuple[str, ...],
        python_module: tuple[str, ...],
        functions: tuple[tuple[str, str], ...],
        trigger_interval: int | None,
        checkpoint_interval: int | None,
        files_per_batch: int | None,
        log_format: str,
        log_level: str | None,
        log_file: Path | None,
        quiet: bool,
        report: str | None,
        ui: int | None,
        ui_host: str | None,
        metrics_port: int | None,
        metrics_host: str | None,
        openlineage: bool,
        name: str = "flinkplan",
    ) -> None:
        self._debug = debug
        self._name = name
        self._sends_lineage = openlineage
        self._lineage: Emitter | None = None
        self._runs: dict[Job, Run] = {}
        self._checkpoint = checkpoint
        self._allowed = allow
        self._started = 0
        if log_level is not None and log_file is None:
            raise click.UsageError("--log-level needs --log-file: that is where Spark logs.")
        self._log_file = log_file
        logging_conf = {} if log_file is None else {"spark.log.level": log_level or "WARN"}
        self._settings: dict[str, Any] = {
            "master": master,
            "conf": {**logging_conf, **dict(conf)},
            "variables": variables,
            "trigger_interval": (trigger_interval or 0) / 1000,
            "files_per_batch": files_per_batch,
            **({} if checkpoint_interval is None else {"checkpoint_interval": checkpoint_interval / 1000}),
        }
        self._databases = databases
        self._python = (python_module, py_files)
        self._functions = dict(functions)
        self._mode = mode
        self._how_shown = (log_format, quiet)
        self._watched = Watched(report, ui, metrics_port, ui_host, metrics_host)
        self._running: list[Job] = []
        self._stack = ExitStack()
        self._progress: Progress = Silent()

    def __enter__(self) -> JobRunner:
        self._signals = self._stack.enter_context(Signals())
        if not self._debug:
            self._keep_quiet()
        if self._sends_lineage:
            from .openlineage.emitting import emitter

            self._lineage = self._stack.enter_context(emitter())
        watching = self._stack.enter_context(self._watched.watching(self._diagnoses))
        self._progress = self._stack.enter_context(shown(*self._how_shown, *watching))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for job in self._running:
                job.stop()
                self._end_run(job, "ABORT")
                self._progress.job_ended(partial(_diagnosed, job))
        except Exception:
            if not self._signals.came:
                raise  # after a signal, which the JVM may have received too, it may not answer any more
        finally:
            if self._signals.came:
                end_process(self._signals)
            self._stack.__exit__(kind, error, trace)

    def start(
        self,
        plan: Plan,
        options: Mapping[str, str],
        *,
        single: bool = False,
        collector: Collector | None = None,
        warm_up: WarmUp | None = None,
    ) -> Job:
        """Start a plan.  A bounded job has ended when this returns, unless a collector takes its rows.

        ``options`` are the session's.  ``single`` says that no other job will run.  ``warm_up`` is history that a new
        job begins with.

        Raises :class:`RestartError` where the plan cannot continue from the checkpoint.
        """
        checkpoint = None if collector else self._next_checkpoint()
        plan = self._with_functions(plan)
        self._check_restart(checkpoint, plan, options)
        from ..executor.jobs.job import JobOptions, execute
        from ..executor.jobs.progress import SilentListener
        from ..executor.jvm.quiet import quiet_jvm
        from ..executor.prepare.modes import Mode
        from ..executor.prepare.python_classes import PythonCode
        from ..table.java_jars import function_jars
        from ..table.jobs import allowed_databases
        from ..table.saved_states import read_states

        if checkpoint is not None:
            self._warn_of_settings(checkpoint)
        mode = Mode(self._mode) if self._mode else None
        how = JobOptions(
            **self._settings,
            options=options,
            databases=(*self._databases, *allowed_databases(options)),
            checkpoint=checkpoint,
            mode=mode,
            listener=SilentListener() if collector else self._progress,
            single=single,
            lean=True,
            collector=collector,
            python=PythonCode(*self._python),
            tells_lag=self._watched.is_on or self._how_shown == ("json", False),
            saved_states=read_states,
            java_jars=function_jars,
        )
        run = None if collector else self._start_run(plan)
        try:
            with nullcontext(_STDERR) if self._debug else quiet_jvm(self._log_file) as terminal:
                begin = partial(execute, plan, how)
                if warm_up is not None:
                    from ..executor.checkpoints.warm_up import execute_warm

                    begin = partial(execute_warm, plan, how, warm_up, partial(self._notify, terminal))
                job = self._signals.obeyed_by(self._signals.started(begin))
        except BaseException as error:
            if run is not None:
                run.ended("FAIL" if isinstance(error, Exception) else "ABORT", error)
            raise
        if collector is not None:
            return job
        self._running.append(job)
        if run is not None:
            self._runs[job] = run
        if not job.mode.is_endless:
            self._wait_for(job)
        return job

    def _notify(self, terminal: int, sentence: str) -> None:
        """Write to a terminal how far something has come, unless nothing but errors is wanted."""
        if not self._how_shown[1]:
            os.write(terminal, f"{one_line(sentence)}\n".encode())

    def _start_run(self, plan: Plan) -> Run | None:
        """Send the event of OpenLineage that a job has started, if that is wanted."""
        if self._lineage is None:
            return None
        from .openlineage.events import JobName

        name = JobName.of(self._name)
        if self._started > 1:
            name = JobName(name.namespace, f"{name.name}.{self._started}")
        return self._lineage.started(plan, name, self._settings["variables"])

    def _end_run(self, job: Job, state: str, error: BaseException | None = None) -> None:
        if job in self._runs:
            self._runs[job].ended(state, error)

    def _with_functions(self, plan: Plan) -> Plan:
        """The plan with the functions that the user allows it to call."""
        from ..plan.user_functions import unbound_functions
        from .inputs import project_files

        if not any(map(unbound_functions, plan.nodes)):
            return plan
        from ..table.plan_functions import bind_to_files

        modules, files = self._python
        return bind_to_files(plan, (*files, *project_files()), modules, self._functions)

    def _next_checkpoint(self) -> str | None:
        """The checkpoint of the next job: the given directory for the first one, directories in it for further ones."""
        self._started += 1
        if self._checkpoint is None or self._started == 1:
            return self._checkpoint
        return f"{self._checkpoint}/job-{self._started}"

    def _check_restart(self, checkpoint: str | None, plan: Plan, options: Mapping[str, str]) -> None:
        from ..compat.diff import Exceptions
        from ..compat.restart import check_restart
        from ..compat.settings import check_rule, read_settings

        for entry in self._allowed:
            check_rule(entry)
        settings = read_settings(Path())
        exceptions = Exceptions(settings.ignore, (*settings.allow, *self._allowed))
        check_restart(checkpoint, plan, exceptions, options)

    def _warn_of_settings(self, checkpoint: str) -> None:
        from ..compat.restart import ignored_settings
        from ..executor.jvm.session import chosen_settings
        from ..state.checkpoint import CheckpointRecord
        from .errors import print_warning

        for finding in ignored_settings(CheckpointRecord(checkpoint), chosen_settings(self._settings["conf"])):
            print_warning(finding)

    def wait(self) -> None:
        """Wait until all jobs have ended; streaming jobs run until they are interrupted."""
        while self._running:
            self._wait_for(self._running[0])

    def _wait_for(self, job: Job) -> None:
        try:
            job.wait()
        except Exception as error:
            self.obey()  # a signal to the process group has ended the JVM too
            self._end_run(job, "FAIL", error)
            raise
        self._end_run(job, "COMPLETE")
        self._running.remove(job)
        self._progress.job_ended(partial(_diagnosed, job))

    def _diagnoses(self) -> list[dict[str, Any]]:
        """Why rows do not come out of the jobs that run."""
        return [found for job in tuple(self._running) for found in _diagnosed(job)]

    def _keep_quiet(self) -> None:
        """Suppress py4j's log messages about calls to a JVM that has ended.

        Such calls also happen after the end of the command: Python's garbage collector releases objects of the JVM.
        """
        if not logging.root.handlers:
            logging.root.addHandler(logging.NullHandler())

    def obey(self) -> None:
        """Raise the interrupt of a signal that arrived since the last call."""
        self._signals.obey()


def _diagnosed(job: Job) -> list[dict[str, Any]]:
    """Why rows do not come out of a job, as JSON has it."""
    from ..doctor.examining import Patient, examined
    from ..doctor.model import as_json
    from ..executor.jobs.counting import now_ms

    job.counter.refresh()
    return [as_json(found) for found in examined(Patient.of_job(job, now_ms()))]
