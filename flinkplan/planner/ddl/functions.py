"""CREATE, ALTER and DROP FUNCTION."""

from __future__ import annotations

from collections.abc import Iterable

from ..binder.errors import unsupported
from ..catalog.catalog import Catalog
from ..catalog.errors import CatalogError
from ..catalog.functions import Registered
from ..sql import ast


def create_function(catalog: Catalog, node: ast.CreateFunction, added_jars: Iterable[str]) -> None:
    """Register a function; a class of Java's may be in the jars of the statement, or in those that were added.

    Raises an error where the function exists already, or is written in another language.
    """
    language = node.language or "JAVA"
    if language not in ("PYTHON", "JAVA", "SCALA"):
        raise unsupported(f"a function in {language}", node.span, "write LANGUAGE JAVA or LANGUAGE PYTHON")
    is_java = language != "PYTHON"
    jars = tuple(dict.fromkeys((*node.jars, *added_jars))) if is_java else ()
    function = Registered(
        node.class_name, is_permanent=not node.temporary, is_java=is_java, jars=jars, resources=node.jars
    )
    if node.system:
        catalog.functions.add_system(node.name.names[-1], function, if_not_exists=node.if_not_exists)
    else:
        catalog.functions.add(catalog.qualify(node.name.names), function, if_not_exists=node.if_not_exists)
    catalog.expansions.clear()


def alter_function(catalog: Catalog, node: ast.AlterFunction, added_jars: Iterable[str]) -> None:
    """Replace the class of a function.  Raises an error where there is no such function."""
    if node.temporary:
        kind = "system" if node.system else "catalog"
        message = f"Alter temporary {kind} function is not supported"
        raise CatalogError("a temporary function cannot be altered", hint="DROP it first", in_flink=message)
    if catalog.functions.drop(catalog.qualify(node.name.names), permanent=True, if_exists=node.if_exists):
        definition = ast.CreateFunction(node.name, node.class_name, node.language, span=node.span)
        create_function(catalog, definition, added_jars)


def drop_function(catalog: Catalog, node: ast.Drop) -> None:
    """Remove a function.  Raises :class:`CatalogError` where there is none."""
    if node.system:
        catalog.functions.drop_system(node.name.names[-1], if_exists=node.if_exists)
    else:
        identifier = catalog.qualify(node.name.names)
        catalog.functions.drop(identifier, permanent=not node.temporary, if_exists=node.if_exists)
    catalog.expansions.clear()
