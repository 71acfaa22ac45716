"""Starts jobs with the options of an environment.

====================================  ==========================================================
``execution.checkpointing.dir``       the directory for state; a temporary one by default
``flinkplan.master``                  Spark's master
``flinkplan.conf.<key>``              a setting of Spark
``flinkplan.var.<NAME>``              replaces ``${NAME}`` in table options
``flinkplan.mode``                    bounded, available-now, streaming or real-time; by default as the sources
``flinkplan.trigger-interval``        time between batches
``flinkplan.checkpoint-interval``     time between checkpoints in real-time mode
``flinkplan.files-per-batch``         maximum number of new files of a source in a batch; no limit by default
``flinkplan.allow``                   findings to accept when a job continues from a checkpoint, separated by commas
``flinkplan.allow-databases``         directories of embedded databases that loaded plans may open, separated by commas
``flinkplan.like``                    compiled plans keep the ids and TTLs of this plan: a file, ``REVISION:PATH``, a
                                      checkpoint
====================================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from ..plan.connectors.jdbc_urls import ANY
from ..plan.document import Plan
from ..plan.durations import parse_duration
from ..plan.errors import PlanError

if TYPE_CHECKING:
    from ..executor.jobs.collecting import Collector
    from ..executor.jobs.job import Job


class Starter(Protocol):
    """Starts a plan in a session with these options; with a collector, this gets the rows instead of the sink."""

    def __call__(self, plan: Plan, options: Mapping[str, str], *, collector: Collector | None = None) -> Job: ...


_DATABASES = "flinkplan.allow-databases"
_CONF, _VARIABLE = "flinkplan.conf.", "flinkplan.var."


def start(plan: Plan, options: Mapping[str, str], *, collector: Collector | None = None) -> Job:
    """Start a plan with these options; with a collector the state is temporary.

    Raises :class:`RestartError` where the plan cannot continue from the checkpoint.
    """
    from ..compat.diff import Exceptions
    from ..compat.restart import check_restart
    from ..executor.jobs.job import JobOptions, execute
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.prepare.modes import Mode
    from ..executor.prepare.python_classes import PythonCode
    from .java_jars import function_jars
    from .saved_states import read_states

    checkpoint = None if collector else options.get("execution.checkpointing.dir")
    allowed = [entry.strip() for entry in options.get("flinkplan.allow", "").split(",")]
    check_restart(checkpoint, plan, Exceptions(allowed=list(filter(None, allowed))), options)
    mode = options.get("flinkplan.mode")
    modes = {known.value: known for known in Mode}
    if mode is not None and mode not in modes:
        raise PlanError(f"there is no mode '{mode}'", hint=f"the modes are {', '.join(modes)}")
    master, conf = spark_settings(options)
    job_options = JobOptions(
        checkpoint=checkpoint,
        master=master,
        conf=conf,
        variables=_with_prefix(_VARIABLE, options),
        options=options,
        databases=allowed_databases(options),
        mode=None if mode is None else modes[mode],
        trigger_interval=parse_duration(options.get("flinkplan.trigger-interval", "0")) / 1000,
        checkpoint_interval=parse_duration(options.get("flinkplan.checkpoint-interval", "10 s")) / 1000,
        files_per_batch=int(files) if (files := options.get("flinkplan.files-per-batch")) else None,
        collector=collector,
        python=PythonCode(_list("flinkplan.python-modules", options), _list("flinkplan.py-files", options)),
        saved_states=read_states,
        java_jars=function_jars,
    )
    with quiet_jvm():
        return execute(_with_functions(plan, options), job_options)


def _with_functions(plan: Plan, options: Mapping[str, str]) -> Plan:
    """The plan with the functions that it calls by name, from the files that the options name."""
    from ..plan.user_functions import unbound_functions
    from .plan_functions import bind_to_files

    if not any(map(unbound_functions, plan.nodes)):
        return plan
    files = (*_list("flinkplan.py-files", options), *_list("python.files", options), *pipeline_jars(options))
    return bind_to_files(plan, files, _list("flinkplan.python-modules", options))


def pipeline_jars(options: Mapping[str, str]) -> tuple[str, ...]:
    """The jars that the option ``pipeline.jars`` names, as URLs or paths."""
    return tuple(jar.removeprefix("file://") for jar in options.get("pipeline.jars", "").split(";") if jar)


def allowed_databases(options: Mapping[str, str]) -> tuple[str, ...]:
    """The directories of embedded databases that plans may open in a session with these options."""
    return _list(_DATABASES, options)


def of_own_statements(options: Mapping[str, str]) -> dict[str, str]:
    """The options for a plan that was compiled from the user's own statements: it may open all databases."""
    return {**options, _DATABASES: ANY}


def spark_settings(options: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Spark's master and settings."""
    return options.get("flinkplan.master"), _with_prefix(_CONF, options)


def _list(key: str, options: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(filter(None, (entry.strip() for entry in options.get(key, "").split(","))))


def _with_prefix(prefix: str, options: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
