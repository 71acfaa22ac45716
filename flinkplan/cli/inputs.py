"""The plans and pipelines that commands are given, in the work tree or in a revision of git."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..compat.diff import Source
from ..plan.errors import FlinkplanError, Location, PlanError
from ..plan.record import Record, field
from .options import is_json

if TYPE_CHECKING:
    from ..compat.diff import Locate
    from ..compat.git import Repository
    from ..compat.settings import Settings
    from ..plan.document import Plan
    from ..plan.findings import Finding
    from ..plan.nodes import ExecNode
    from ..planner.catalog.functions import Declaration, Loader, Registered
    from ..table.function_loader import FunctionLoader


def _ignore(finding: Finding) -> None:
    """Takes no notice of a warning."""


class PlanInput(Record):
    """A plan that a command was given, or that of the pipeline that it was given.

    ``source`` is the text of the plan or pipeline with its name.
    """

    source: Source
    plan: Plan
    is_pipeline: bool

    def located(self, plan: Plan | None = None) -> Locate:
        """The places of nodes and values in the text; ``plan`` is the pipeline's plan with other ids."""
        if not self.is_pipeline:
            from ..compat.diff import located_in

            return located_in(self.source)
        file = self.source.file or self.source.name
        places: Callable[[], Mapping[int, Location]] = cache(lambda: _places(plan or self.plan, self.source, file))

        def locate(pointer: str, node: ExecNode | None) -> Location:
            return Location(file) if node is None else places().get(node.id, Location(file))

        return locate


def _places(plan: Plan, source: Source, file: str) -> Mapping[int, Location]:
    """The place of each operator's clause in a pipeline, by node id; none in a program."""
    from ..plan.files import is_program
    from ..planner.clauses import places
    from ..planner.script import parse_pipeline
    from ..planner.sql import ast

    if is_program(source.name):
        return {}
    located = {}
    for node, spans in places(plan, parse_pipeline(source.text, source.name)).items():
        span = next((span for span in spans if span is not ast.NO_SPAN), None)
        if span is not None:
            (line, column), (end_line, end_column) = span.source.position(span.start), span.source.position(span.end)
            located[node] = Location(file, line, column, end_column if end_line == line else None)
    return located


class Tree:
    """The files of the work tree: pipelines, their Python functions, and scripts with the tables of catalogs."""

    def __init__(self, py_files: Sequence[str] = (), catalog_tables: Sequence[str] = ()) -> None:
        self._py_files = py_files
        self._catalog_tables = catalog_tables

    def read(self, path: str) -> Source:
        """The text of a file, a checkpoint's plan, or standard input for ``-``.  Raises :class:`PlanError`."""
        from ..compat.references import read_plan
        from .options import read_input

        if path == "-":
            text, name = read_input(path)
            return Source(name, text)
        return read_plan(path)

    def py_files(self) -> Sequence[str]:
        """The files and folders from which Python functions may be loaded."""
        return (*self._py_files, *project_files())

    def catalog_tables(self) -> Mapping[str, str]:
        """The scripts that define the tables of external catalogs, by their names."""
        from ..compat.settings import catalog_scripts, read_settings

        return catalog_scripts(read_settings(Path.cwd()), self._catalog_tables)

    @contextmanager
    def program(self, path: str) -> Iterator[str]:
        """The path at which a program is run in the block."""
        yield path


class Revision(Tree):
    """The files of a revision of git; paths are relative to the top of the repository.

    They are read by git's plumbing commands.  Only where Python code of it has to run, all its files are written to a
    temporary folder, which :meth:`close` removes.
    """

    def __init__(self, repository: Repository, name: str, commit: str, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self._repository, self._name, self._commit = repository, name, commit
        self._temporary: TemporaryDirectory[str] | None = None
        self._contents: Mapping[str, bytes] = {}

    @classmethod
    def open(cls, repository: Repository, name: str, commit: str | None = None) -> Revision:
        """The revision ``name``, or under this name a commit.  Raises :class:`PlanError` for an unknown revision."""
        from ..compat.settings import SETTINGS_FILE, Settings, read_settings, settings_in

        commit = commit or repository.commit(name)
        folder = Path(read_settings(Path.cwd()).folder).absolute()
        settings = None
        if folder.is_relative_to(repository.top):
            file = (folder.relative_to(repository.top) / SETTINGS_FILE).as_posix()
            settings = settings_in(repository.text(commit, file), f"{name}:{file}", str(folder))
        return cls(repository, name, commit, settings or Settings(folder=str(folder)))

    def load(self, paths: Iterable[str]) -> None:
        """Read the contents of files at once; reading each would start a process for it."""
        self._contents = self._repository.contents(self._commit, paths)

    def read(self, path: str) -> Source:
        from ..compat.git import decoded

        name = f"{self._name}:{path}"
        if path in self._contents:
            return Source(name, decoded(self._contents[path], f"{self._commit}:{path}"))
        text = self._repository.text(self._commit, path)
        if text is None:
            raise PlanError("the revision has no such file", where=name)
        return Source(name, text)

    def py_files(self) -> Sequence[str]:
        folder = Path(self.settings.folder)
        if not folder.is_relative_to(self._repository.top):
            return ()
        project = self._folder / folder.relative_to(self._repository.top)
        return tuple(str(project / path) for path in self.settings.code)

    def catalog_tables(self) -> Mapping[str, str]:
        folder = Path(self.settings.folder)
        if not folder.is_relative_to(self._repository.top):
            return {}
        within = folder.relative_to(self._repository.top)
        sources = [self.read((within / path).as_posix()) for path in self.settings.catalog_tables]
        return {source.name: source.text for source in sources}

    @contextmanager
    def program(self, path: str) -> Iterator[str]:
        here, top = Path.cwd(), self._folder
        within = here.relative_to(self._repository.top) if here.is_relative_to(self._repository.top) else Path()
        try:
            with chdir(top / within if (top / within).is_dir() else top):
                yield str(top / path)
        except FlinkplanError as e:
            for error in e.errors:  # they name the files of the revision, not those of the temporary folder
                error.message = self._renamed(error.message)
                error.where = self._renamed(error.where) if isinstance(error.where, str) else error.where
            raise

    def _renamed(self, text: str) -> str:
        return text.replace(f"{self._folder}/", f"{self._name}:")

    @property
    def _folder(self) -> Path:
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="flinkplan-")
            self._repository.check_out(self._commit, Path(self._temporary.name).resolve())
        return Path(self._temporary.name).resolve()

    def close(self) -> None:
        """Remove the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()


class Compilation(Record):
    """How pipelines are compiled.

    ``options`` are those of the session, ``variables`` those of table options; ``complete`` as in
    :func:`~flinkplan.planner.compile_script`; ``warn`` gets what compiles but may not be meant; ``replace_pyflink``: in
    programs, ``pyflink`` is flinkplan's where the real one is installed, too.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    warn: Callable[[Finding], None] = _ignore
    replace_pyflink: bool = False


def read_input_plan(reference: str, compilation: Compilation, py_files: Sequence[str] = ()) -> PlanInput:
    """The plan, or the plan of the pipeline, that a reference names: a file, ``-`` or ``REVISION:PATH`` in git.

    A reference can also be a checkpoint directory, whose plan is read.  Raises :class:`FlinkplanError` where there is
    no such text, or where it is neither a plan nor a pipeline that compiles.
    """
    with open_tree(reference, py_files) as (tree, path, source):
        return read_in(tree, path, source, compilation)


@contextmanager
def open_tree(reference: str, py_files: Sequence[str] = ()) -> Iterator[tuple[Tree, str, Source]]:
    """The tree that a reference names a file of, its path there, and its text.  Raises :class:`PlanError`."""
    from ..compat.references import find_in_git

    located = find_in_git(reference)
    if located is None:
        tree = Tree(py_files)
        yield tree, reference, tree.read(reference)
        return
    repository, name, path = located
    revision = Revision.open(repository, name)
    try:
        yield revision, path, Source(reference, revision.read(path).text)
    finally:
        revision.close()


def is_pipeline(source: Source) -> bool:
    """Whether a text is a pipeline, and not a compiled plan."""
    return not is_json(source.text, source.name)


def read_in(tree: Tree, path: str, source: Source, compilation: Compilation) -> PlanInput:
    """The plan, or the plan of the pipeline, at a path of a tree; ``source`` is its text.

    Raises as :func:`read_input_plan`.
    """
    from ..plan.document import loads
    from ..plan.tables import with_variables
    from ..table.modules import isolated_modules

    compiled = is_pipeline(source)
    with isolated_modules():
        plan = compile_in(tree, path, source, compilation) if compiled else loads(source.text, source.name)
    return PlanInput(source, with_variables(plan, compilation.variables), compiled)


def compile_in(tree: Tree, path: str, source: Source, compilation: Compilation, *, load: Loader | None = None) -> Plan:
    """The plan of a pipeline at a path of a tree; ``source`` is its text, which is not read for a program.

    ``load`` gives the declarations of functions of a script; by default they are in the tree's files of code.

    Raises :class:`FlinkplanError` where it does not compile.
    """
    from ..plan.files import is_program
    from ..table.programs import compile_program

    if is_program(source.name):
        with tree.program(path) as program:
            return compile_program(
                program,
                compilation.options,
                compilation.warn,
                py_files=tree.py_files(),
                catalog_tables=tree.catalog_tables(),
                replace_pyflink=compilation.replace_pyflink,
            )
    from ..planner import compile_script
    from ..table.storable import check_classes

    plan = compile_script(
        source.text,
        file=source.name,
        options=compilation.options,
        complete=compilation.complete,
        warn=compilation.warn,
        load=load or loading_from(tree.py_files),
        catalog_tables=tree.catalog_tables(),
    )
    check_classes(plan)
    return plan


def loading_from(files: Callable[[], Sequence[str]]) -> Loader:
    """What loads the functions of a script from files, folders and jars, which are asked for when one is needed."""
    loaders: list[FunctionLoader] = []

    def load(function: Registered) -> Declaration:
        from ..table.function_loader import FunctionLoader

        if not loaders:
            loaders.append(FunctionLoader(files))
        return loaders[0](function)

    return load


def with_project_functions(plan: Plan) -> Plan:
    """The plan with the functions that the code of the project has of those that it calls."""
    from ..plan.user_functions import unbound_functions

    if not any(map(unbound_functions, plan.nodes)):
        return plan
    from ..table.plan_functions import bind_to_files

    return bind_to_files(plan, project_files())


def project_files() -> Sequence[str]:
    """The files and folders of code that the project's ``pyproject.toml`` names: of Python, and jars."""
    from pathlib import Path

    from ..compat.settings import read_settings

    return read_settings(Path.cwd()).code
