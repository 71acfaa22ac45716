"""ALTER CATALOG."""

from __future__ import annotations

from ...plan.record import replace
from ..catalog.catalog import Catalog, Properties
from ..catalog.errors import CatalogError
from ..catalog.external import IN_MEMORY, TYPE
from ..catalog.options import check_catalog_options
from ..sql import ast


def alter_catalog(catalog: Catalog, node: ast.AlterCatalog) -> None:
    """Change options or the comment of a catalog.  Raises :class:`CatalogError` for options that it cannot have."""
    options = {option.key: option.value for option in node.options or ()}
    keys = node.reset_keys or ()
    if node.reset_keys is not None and not keys:
        message = "ALTER CATALOG RESET does not support empty key"
        raise CatalogError("RESET needs the key of an option", in_flink=message)
    if TYPE in keys:
        message = "ALTER CATALOG RESET does not support changing 'type'"
        raise CatalogError("the type of a catalog cannot be changed", in_flink=message)

    def changed(properties: Properties) -> Properties:
        if options and node.name.name not in catalog.external:
            check_catalog_options({TYPE: IN_MEMORY, **options}, node.span)
        if node.comment is not None:
            return replace(properties, comment=node.comment)
        if node.options is not None:
            return properties.with_options(options)
        return properties.without_options(keys)

    catalog.alter_catalog(node.name.name, changed)
