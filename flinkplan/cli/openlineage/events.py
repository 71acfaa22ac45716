"""The events about a plan: its job with the tables that it reads and writes, and the lineage of their columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...plan.document import Plan
from ...plan.errors import FlinkplanError
from ...plan.lineage import Kind, SinkLineage, origins_of
from ...plan.lineage.origins import Origin
from ...plan.lineage.report import is_masked
from ...plan.record import Record
from ...plan.secrets import without_secrets
from ...plan.specs import ContextResolvedTable
from .datasets import DatasetName, dataset_name

if TYPE_CHECKING:
    from openlineage.client.event_v2 import JobEvent, RunEvent

PRODUCER = f"https://pypi.org/project/flinkplan/{__version__}"
DEFAULT_NAMESPACE = "default"

_SUBTYPES = {
    Kind.IDENTITY: ("DIRECT", "IDENTITY"),
    Kind.TRANSFORMATION: ("DIRECT", "TRANSFORMATION"),
    Kind.AGGREGATION: ("DIRECT", "AGGREGATION"),
    Kind.CONDITIONAL: ("INDIRECT", "CONDITIONAL"),
    Kind.FILTER: ("INDIRECT", "FILTER"),
    Kind.JOIN: ("INDIRECT", "JOIN"),
    Kind.GROUP_BY: ("INDIRECT", "GROUP_BY"),
    Kind.SORT: ("INDIRECT", "SORT"),
    Kind.WINDOW: ("INDIRECT", "WINDOW"),
}
"""The type and subtype of a transformation.  Source: the facet ``columnLineage``."""


def check_installed() -> None:
    """Raise :class:`FlinkplanError` where the package of OpenLineage is not installed."""
    try:
        import openlineage.client  # noqa: F401
    except ImportError:
        hint = "pip install 'flinkplan[lineage]'"
        raise FlinkplanError("events of OpenLineage need the package openlineage-python", hint=hint) from None


class JobName(Record):
    """The job of a plan as OpenLineage knows it."""

    namespace: str
    name: str

    @classmethod
    def of(cls, reference: str, given: str | None = None) -> JobName:
        """The name that was given, else that of the file; the namespace is that of ``OPENLINEAGE_NAMESPACE``."""
        namespace = os.environ.get("OPENLINEAGE_NAMESPACE", DEFAULT_NAMESPACE)
        return cls(namespace, given or PurePath(reference.rpartition(":")[2]).stem or "flinkplan")


class Described(Record):
    """What the events about a plan say: the job, and the datasets with their facets."""

    job: Any
    inputs: list[Any]
    outputs: list[Any]


def described(plan: Plan, name: JobName, variables: Mapping[str, str]) -> Described:
    """The job of a plan, its inputs and its outputs."""
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset
    from openlineage.client.generated.job_type_job import JobTypeJobFacet

    origins = origins_of(plan)
    job_type = JobTypeJobFacet(
        "BATCH" if _is_bounded(plan, variables) else "STREAMING", "FLINKPLAN", "JOB", producer=PRODUCER
    )
    names = _Names(variables, name.namespace)
    return Described(
        Job(name.namespace, name.name, {"jobType": job_type}),
        [InputDataset(*names.of(table), facets=_facets(table)) for table, _ in origins.sources],
        [
            OutputDataset(*names.of(sink.table), facets={**_facets(sink.table), "columnLineage": _lineage(sink, names)})
            for sink in origins.sinks
        ],
    )


def _is_bounded(plan: Plan, variables: Mapping[str, str]) -> bool:
    """Whether a job of the plan reads its sources to an end; no where a source is not executed here."""
    from ...executor.connectors import is_bounded

    try:
        return is_bounded(plan, variables)
    except FlinkplanError:
        return False


def job_event(what: Described) -> JobEvent:
    """The event about a job as it was compiled, which says nothing of a run."""
    from openlineage.client.event_v2 import JobEvent

    return JobEvent(eventTime=_now(), job=what.job, inputs=what.inputs, outputs=what.outputs, producer=PRODUCER)


def run_event(what: Described, run_id: str, state: str, error: BaseException | None = None) -> RunEvent:
    """The event about a run: ``START``, ``COMPLETE``, ``FAIL`` or ``ABORT``."""
    from openlineage.client.event_v2 import Run, RunEvent, RunState
    from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
    from openlineage.client.generated.processing_engine_run import ProcessingEngineRunFacet

    facets: dict[str, Any] = {
        "processing_engine": ProcessingEngineRunFacet(_spark_version(), "spark", __version__, producer=PRODUCER)
    }
    if error is not None:
        message = without_secrets(f"{type(error).__name__}: {error}")
        facets["errorMessage"] = ErrorMessageRunFacet(message, "python", producer=PRODUCER)
    run = Run(run_id, facets)
    return RunEvent(
        eventTime=_now(),
        job=what.job,
        run=run,
        eventType=RunState[state],
        inputs=what.inputs,
        outputs=what.outputs,
        producer=PRODUCER,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _spark_version() -> str:
    from importlib.metadata import version

    return version("pyspark")


class _Names:
    """The datasets of tables, by their identifiers."""

    def __init__(self, variables: Mapping[str, str], namespace: str) -> None:
        self._variables, self._namespace = variables, namespace
        self._known: dict[str, DatasetName] = {}

    def of(self, table: ContextResolvedTable) -> DatasetName:
        """The dataset of a table."""
        return self._known.setdefault(table.identifier, dataset_name(table, self._variables, self._namespace))

    def known(self, identifier: str) -> DatasetName:
        """The dataset of a table that was asked for before."""
        return self._known[identifier]


def _facets(table: ContextResolvedTable) -> dict[str, Any]:
    """The schema of a table, and its name in the catalog."""
    from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields
    from openlineage.client.generated.symlinks_dataset import Identifier, SymlinksDatasetFacet

    name = ".".join(part.strip("`") for part in table.identifier.split("`.`"))
    facets: dict[str, Any] = {"symlinks": SymlinksDatasetFacet([Identifier("flink", name, "TABLE")], producer=PRODUCER)}
    if table.resolved_table is not None:
        fields = [
            SchemaDatasetFacetFields(column.name, str(column.data_type) if column.data_type else None)
            for column in table.resolved_table.schema.columns
        ]
        facets["schema"] = SchemaDatasetFacet(fields, producer=PRODUCER)
    return facets


def _lineage(sink: SinkLineage, names: _Names) -> Any:
    from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet, Fields

    fields = {name: Fields(_input_fields(found, names)) for name, found in sink.columns if found}
    return ColumnLineageDatasetFacet(fields, _input_fields(sink.rows, names), producer=PRODUCER)


def _input_fields(origins: Iterable[Origin], names: _Names) -> list[Any]:
    from openlineage.client.generated.column_lineage_dataset import InputField, Transformation

    by_column: dict[tuple[DatasetName, str], list[Any]] = {}
    for origin in origins:
        kind, subtype = _SUBTYPES[origin.kind]
        transformation = Transformation(kind, subtype, ", ".join(origin.functions), is_masked(origin))
        key = names.known(origin.column.identifier), origin.column.name
        by_column.setdefault(key, []).append(transformation)
    return [InputField(*dataset, column, transformations) for (dataset, column), transformations in by_column.items()]
