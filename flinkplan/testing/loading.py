"""Reading files of tests.  Each error names the file, the line and the column."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from ..plan.document import read_text
from ..plan.durations import DurationError, parse_duration
from ..plan.findings import did_you_mean
from ..planner.spec import nodes as yaml
from ..planner.spec.errors import Findings, SpecError
from ..planner.spec.reader import read
from ..planner.spec.validation import check_schema
from ..planner.sql.source import Source, Span, without_mark
from ..schemas.loader import TEST
from .model import ALL, KINDS, Case, Expectation, Rows, Step, Suite

SUFFIXES = (".test.yaml", ".test.yml")
"""How the names of files of tests end."""

_OF_EXPECTATION = ("rows", "changelog", "file", "columns", "ordered", "tolerance", "late", "dropped", "state")
_EMPTY = "empty"
"""How a state without entries is written."""

_OF_ROWS = ("file", "columns", "rows")


def is_test_file(path: Path) -> bool:
    """Whether a file's name says that it holds tests."""
    return path.name.lower().endswith(SUFFIXES)


def find_test_files(paths: Iterable[Path]) -> list[Path]:
    """The files of tests among some files and below some folders, in order.

    Raises :class:`PlanError` for a path that does not exist.
    """
    from ..plan.errors import PlanError

    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = (file for suffix in SUFFIXES for file in path.rglob(f"*{suffix}"))
            found += sorted(file for file in below if not any(part.startswith(".") for part in file.parts[:-1]))
        elif path.is_file():
            found.append(path)
        else:
            raise PlanError("no such file", where=str(path), hint=f"tests are in files *{SUFFIXES[0]}")
    return list(dict.fromkeys(found))


def load_tests(path: Path) -> Suite:
    """The tests in a file.

    Raises :class:`FlinkplanError`, an ErrorGroup for several, for a file that cannot be read or is not as the schema
    ``test-v1`` says.
    """
    text = without_mark(read_text(path))
    document = read(Source(text, str(path)))
    if not isinstance(document, yaml.Mapping):
        raise SpecError("a file of tests must be a mapping", document.span, "start with 'version: 1' and 'pipeline:'")
    check_schema(document, TEST)
    return _Loader(path, text).suite(document)


class _Loader:
    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text
        self._findings = Findings()

    def suite(self, document: yaml.Mapping) -> Suite:
        cases = [self._case(test) for test in document.sequence("tests") if isinstance(test, yaml.Mapping)]
        names: dict[str, Case] = {}
        for case in cases:
            if case.name in names:
                self._findings.add(SpecError(f"there are two tests '{case.name}'", case.span, "give each its own name"))
            names[case.name] = case
        suite = Suite(
            self._path,
            self._relative(document.text("pipeline") or ""),
            tuple(cases),
            self._text,
            self._texts(document.mapping("variables")),
            self._texts(document.mapping("options")),
        )
        self._findings.raise_if_any()
        return suite

    def _relative(self, path: str) -> Path:
        return self._path.parent / path

    def _texts(self, mapping: yaml.Mapping) -> dict[str, str]:
        texts = {}
        for key, value in mapping.entries:
            if isinstance(value, yaml.Scalar):
                texts[key.text] = value.text
            else:
                self._findings.add(SpecError(f"the value of '{key.text}' must be a text", value.span))
        return texts

    def _case(self, test: yaml.Mapping) -> Case:
        name = test.scalar("name")
        assert name is not None  # as the schema says
        steps = test.sequence("steps")
        own = self._step(test)
        if not steps:
            parts: tuple[Step, ...] = (own,)
        elif own.given:
            given = test.entry("given")
            assert given is not None
            self._findings.add(SpecError("'given' cannot stand beside 'steps'", given[0].span, "move it into a step"))
            parts = (own,)
        else:
            parts = tuple(self._step(step) for step in steps if isinstance(step, yaml.Mapping))
            parts = (*parts, Step(expected=own.expected, span=own.span)) if own.expected else parts
        if not any(_expects(part) for part in (test, *steps)):
            self._findings.add(SpecError(f"the test '{name.text}' expects nothing", name.span, "add 'expect:'"))
        ends = test.scalar("end-of-input")
        clock = test.scalar("clock")
        beginning = None if clock is None else self._findings.attempt(_time, clock)
        reaches_end = ends.data is not False if ends is not None else not any(part.watermarks for part in parts)
        return Case(name.text, parts, name.span, reaches_end, beginning)

    def _step(self, step: yaml.Mapping) -> Step:
        given = {}
        for key, value in step.mapping("given").entries:
            if (rows := self._rows(value)) is not None:
                given[key.text] = rows, key.span
        expected = tuple(filter(None, (self._expectation(*entry) for entry in step.mapping("expect").entries)))
        pipeline = step.text("pipeline")
        later = step.scalar("advance-clock")
        milliseconds = self._findings.attempt(_duration, later) or 0 if later is not None else 0
        changed = None if pipeline is None else self._relative(pipeline)
        return Step(given, expected, changed, step.span, milliseconds, self._watermarks(step.get("advance-watermark")))

    def _watermarks(self, value: yaml.Node | None) -> dict[str, tuple[int, Span]]:
        """The watermarks that tables reach: a time for all of them, or one for each."""
        if isinstance(value, yaml.Mapping):
            entries = {key.text: (each, key.span) for key, each in value.entries}
        else:
            entries = {} if value is None else {ALL: (value, value.span)}
        reached = {}
        for name, (each, span) in entries.items():
            if not isinstance(each, yaml.Scalar):
                self._findings.add(SpecError("this must be a time", each.span, "write 2024-01-31 12:00:00"))
            elif (time := self._findings.attempt(_watermark, each)) is not None:
                reached[name] = time, span
        return reached

    def _rows(self, value: yaml.Node) -> Rows | None:
        """Rows: a list, ``{file: …}``, or ``{columns: […], rows: [[…], …]}``."""
        if isinstance(value, yaml.Sequence):
            return Rows(value.items, value.span)
        if not isinstance(value, yaml.Mapping):
            return Rows((), value.span)  # an empty value is a table without rows
        if not self._check_keys(value, _OF_ROWS):
            return None
        file = value.text("file")
        if file is not None:
            return Rows((), value.span, file=self._relative(file))
        if value.get("rows") is None:
            hint = "write a list of rows, 'file: rows.csv', or 'columns: […]' and 'rows: [[…], …]'"
            self._findings.add(SpecError("these rows have neither 'rows' nor 'file'", value.span, hint))
            return None
        return Rows(value.sequence("rows"), value.span, tuple(s.text for s in value.scalars("columns")) or None)

    def _expectation(self, key: yaml.Scalar, value: yaml.Node) -> Expectation | None:
        if not isinstance(value, yaml.Mapping):
            items = value.items if isinstance(value, yaml.Sequence) else ()
            return Expectation(key.text, Rows(items, value.span), key.span)
        if not self._check_keys(value, _OF_EXPECTATION):
            return None
        given = [name for name in ("rows", "changelog", "file") if value.entry(name) is not None]
        late = value.scalar("late")
        dropped, state = (self._numbers(value, key) for key in ("dropped", "state"))
        has_numbers = any(value.entry(key) is not None for key in ("late", "dropped", "state"))
        if len(given) > 1 or (not given and not has_numbers):
            what = " and ".join(f"'{name}'" for name in given)
            message = f"{what} cannot stand together" if given else f"'{key.text}' has no 'rows', 'changelog' or 'file'"
            self._findings.add(SpecError(message, key.span))
            return None
        is_changelog = given == ["changelog"]
        ordered, tolerance = value.scalar("ordered"), value.scalar("tolerance")
        return Expectation(
            key.text,
            self._expected_rows(value, given[0]) if given else None,
            key.span,
            None if late is None else int(late.text),
            dropped,
            state,
            is_changelog,
            is_changelog if ordered is None else ordered.data is True,
            tuple(scalar.text for scalar in value.scalars("columns")) or None,
            0.0 if tolerance is None else float(tolerance.text),
        )

    def _numbers(self, expectation: yaml.Mapping, key: str) -> dict[str, int]:
        """Numbers by operator: a mapping, or one for all; ``empty`` is 0."""
        value = expectation.get(key)
        if isinstance(value, yaml.Mapping):
            entries: dict[str, yaml.Node] = {name.text: each for name, each in value.entries}
        else:
            entries = {} if value is None else {ALL: value}
        numbers = {}
        for name, each in entries.items():
            text = each.text if isinstance(each, yaml.Scalar) else ""
            if text == _EMPTY:
                numbers[name] = 0
            elif text.isdecimal():
                numbers[name] = int(text)
            else:
                hint = f"write a number, or '{_EMPTY}'; or one for each operator"
                self._findings.add(SpecError(f"the value of '{key}' is not a number", each.span, hint))
        return numbers

    def _expected_rows(self, value: yaml.Mapping, key: str) -> Rows:
        entry = value.entry(key)
        assert entry is not None
        if key == "file":
            return Rows((), entry[1].span, file=self._relative(value.text(key) or ""))
        return Rows(value.sequence(key), entry[1].span)

    def _check_keys(self, mapping: yaml.Mapping, known: tuple[str, ...]) -> bool:
        """Whether all keys are known; those that are not are noted."""
        unknown = [key for key, _ in mapping.entries if key.text not in known]
        for key in unknown:
            self._findings.add(SpecError(f"unknown key '{key.text}'", key.span, did_you_mean(key.text, known)))
        return not unknown


def _watermark(scalar: yaml.Scalar) -> int:
    """The milliseconds since 1970 at a time that may have a time zone; without one it is that of the rows."""
    try:
        moment = datetime.fromisoformat(scalar.text)
    except ValueError:
        raise SpecError(f"'{scalar.text}' is not a time", scalar.span, "write 2024-01-31 12:00:00") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _time(scalar: yaml.Scalar) -> int:
    """The milliseconds since 1970 at a time with a time zone."""
    try:
        moment = datetime.fromisoformat(scalar.text)
    except ValueError:
        raise SpecError(f"'{scalar.text}' is not a time", scalar.span, "write 2024-01-31 12:00:00Z") from None
    if moment.tzinfo is None:
        raise SpecError(f"'{scalar.text}' has no time zone", scalar.span, f"write {scalar.text}Z")
    return round(moment.timestamp() * 1000)


def _duration(scalar: yaml.Scalar) -> int:
    try:
        return parse_duration(scalar.text)
    except DurationError as error:
        raise SpecError(error.message, scalar.span, error.hint) from None


def _expects(part: yaml.Node) -> bool:
    return isinstance(part, yaml.Mapping) and bool(part.mapping("expect").entries)


def kind_and_values(item: yaml.Node) -> tuple[str, yaml.Node, Span]:
    """The kind of a row, ``+I`` if none is written, its values, and its place: ``{-D: {id: 1}}``."""
    if isinstance(item, yaml.Mapping) and len(item.entries) == 1 and item.entries[0][0].text in KINDS:
        key, values = item.entries[0]
        return key.text, values, item.span
    return KINDS[0], item, item.span
