"""Functions of users by name.

A function is loaded when a statement first uses it, as Flink does, so that a definition can stand before its module
is there.  Source: ``FunctionCatalog``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...plan.functions.java import JavaDeclaration
from ...plan.functions.model import Argument, ArgumentRule, Signature
from ...plan.functions.user import PythonDeclaration, PythonFunction, UserFunction
from ...plan.record import Json, Record, Struct, field
from ...plan.types import LogicalType
from ...plan.user_functions import FunctionId
from ..rex.casts import can_cast_implicitly
from .errors import FUNCTION_EXISTS, NO_FUNCTION, CatalogError
from .identifier import Identifier
from .java_functions import java_function

Declaration: TypeAlias = PythonDeclaration | JavaDeclaration


class Registered(Record):
    """A registered function: the path of its code, or its declaration where the function itself was given.

    ``path`` is ``module.name`` of a Python function, the name of a class in Java; ``jars`` are the paths of the jars
    in which it is looked for, ``resources`` those that its statement names.
    """

    path: str
    declaration: Declaration | None = None
    is_permanent: bool = False
    is_java: bool = False
    jars: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


Loader: TypeAlias = Callable[[Registered], Declaration]
"""Gives the declaration of a function."""


class Functions(Struct):
    """The functions that are registered: of the system, and temporary and permanent ones of catalogs.

    Names are case-insensitive.
    """

    load: Loader
    system: dict[str, Registered] = field(default_factory=dict)
    temporary: dict[Identifier, Registered] = field(default_factory=dict)
    permanent: dict[Identifier, Registered] = field(default_factory=dict)
    loaded: dict[tuple[int, str, bool], tuple[Registered, UserFunction]] = field(default_factory=dict)

    def add_system(self, name: str, function: Registered, *, if_not_exists: bool = False) -> None:
        """Register a temporary system function.  Raises :class:`CatalogError` if there is one of the name."""
        key = name.lower()
        if key in self.system:
            if if_not_exists:
                return
            raise CatalogError(f"a temporary system function '{name}' exists already", hint="DROP it first")
        self.system[key] = function

    def add(self, identifier: Identifier, function: Registered, *, if_not_exists: bool = False) -> None:
        """Register a function of a catalog.  Raises :class:`CatalogError` if there is one of the name."""
        place, key = self.permanent if function.is_permanent else self.temporary, _normalized(identifier)
        if key in place:
            if if_not_exists:
                return
            in_flink = (
                f"Function {identifier.database}.{identifier.name} already exists in Catalog {identifier.catalog}."
            )
            raise CatalogError(
                f"the function '{identifier.summary}' exists already",
                hint="DROP it first",
                in_flink=in_flink,
                of_class=FUNCTION_EXISTS,
            )
        place[key] = function

    def drop_system(self, name: str, *, if_exists: bool = False) -> bool:
        """Remove a temporary system function.  Raises :class:`CatalogError` if there is none."""
        if self.system.pop(name.lower(), None) is not None:
            return True
        if not if_exists:
            message = f"Could not drop temporary system function. A function named '{name}' doesn't exist."
            raise CatalogError(f"there is no temporary system function '{name}'", in_flink=message)
        return False

    def drop(self, identifier: Identifier, *, permanent: bool, if_exists: bool = False) -> bool:
        """Remove a function of a catalog.  Raises :class:`CatalogError` if there is none."""
        place = self.permanent if permanent else self.temporary
        if place.pop(_normalized(identifier), None) is not None:
            return True
        if not if_exists:
            if not permanent:
                message = f"Temporary catalog function {identifier} doesn't exist"
                raise CatalogError(f"there is no temporary function '{identifier.summary}'", in_flink=message)
            raise CatalogError(
                f"there is no function '{identifier.summary}'",
                in_flink=f"Function {identifier.database}.{identifier.name} does not exist in Catalog "
                f"{identifier.catalog}.",
                of_class=NO_FUNCTION,
            )
        return False

    def find_system(self, name: str) -> UserFunction | None:
        """The temporary system function of a name, which hides a built-in one."""
        registered = self.system.get(name.lower())
        return None if registered is None else self._function(registered, name, Json(systemName=name))

    def find(self, identifier: Identifier) -> UserFunction | None:
        """The function of a catalog."""
        key = _normalized(identifier)
        registered = self.temporary.get(key) or self.permanent.get(key)
        if registered is None:
            return None
        return self._function(registered, identifier.name, Json(catalogName=str(identifier)))

    def registered(self, names: Sequence[str], identifier: Identifier) -> tuple[Registered, bool] | None:
        """What a name stands for, and whether it is a function of the system, which a short name prefers."""
        system = self.system.get(names[0].lower()) if len(names) == 1 else None
        if system is not None:
            return system, True
        key = _normalized(identifier)
        function = self.temporary.get(key) or self.permanent.get(key)
        return None if function is None else (function, False)

    def of_plan(self, function: FunctionId) -> UserFunction | None:
        """The function that a plan names."""
        if function.is_system:
            return self.find_system(function.name)
        names = [part.replace("``", "`") for part in function.name.strip("`").split("`.`")]
        return self.find(Identifier(*names)) if len(names) == 3 else None

    def _function(self, registered: Registered, name: str, reference: Json) -> UserFunction:
        key = (id(registered), name, "systemName" in reference)
        known = self.loaded.get(key)
        if known is None:
            declaration = registered.declaration or self.load(registered)
            function = user_function(name, reference, declaration, registered.is_permanent)
            known = self.loaded[key] = (registered, function)
        return known[1]

    def names(self) -> Iterator[str]:
        """The short names of all functions, in lower case."""
        yield from self.system
        yield from (identifier.name for identifier in {**self.permanent, **self.temporary})


def _normalized(identifier: Identifier) -> Identifier:
    return Identifier(identifier.catalog, identifier.database, identifier.name.lower())


def user_function(name: str, reference: Json, declaration: Declaration, is_permanent: bool = False) -> UserFunction:
    """The function as it is called by ``name``; ``reference`` is the JSON by which plans name it."""
    if isinstance(declaration, JavaDeclaration):
        return java_function(name, reference, declaration, is_permanent)
    return python_function(name, reference, declaration, is_permanent)


def python_function(
    name: str, reference: Json, declaration: PythonDeclaration, is_permanent: bool = False
) -> PythonFunction:
    """The same of a Python function."""
    return PythonFunction(
        name,
        "",
        (_signature(declaration.arguments),),
        lambda arguments: declaration.result,
        kind=declaration.kind,
        deterministic=declaration.deterministic,
        sees_null=True,
        declaration=declaration,
        reference=reference,
        is_permanent=is_permanent,
    )


def _signature(arguments: Sequence[LogicalType] | None) -> Signature:
    if arguments is None:
        return Signature((), Argument("any", lambda types, position: types[position]))
    return Signature(tuple(Argument(str(t), _declared(t)) for t in arguments))


def _declared(expected: LogicalType) -> ArgumentRule:
    """A parameter of a declared type, to which arguments are cast implicitly."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        return expected if can_cast_implicitly(types[position], expected) else None

    return rule
