"""Catalogs that are kept in files, so that scripts need not create them.

Source: ``FileCatalogStore`` of Flink: a folder with a file ``NAME.yaml`` for each catalog, which has its options.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...plan.errors import FlinkplanError
from ...plan.settings import CATALOG_STORE, CATALOG_STORE_FOLDER

_FILE = "file"
_SUFFIX = ".yaml"


def store_folder(config: Mapping[str, str]) -> Path | None:
    """The folder of the catalog store; ``None``: catalogs are in memory.  Raises :class:`FlinkplanError` for none."""
    if config.get(CATALOG_STORE, "").lower() != _FILE:
        return None
    if CATALOG_STORE_FOLDER not in config:
        return None  # it may still be set
    folder = Path(config[CATALOG_STORE_FOLDER].removeprefix("file://"))
    if not folder.is_dir():
        raise FlinkplanError(f"'{CATALOG_STORE_FOLDER}': there is no folder {folder}")
    return folder


def stored_catalogs(folder: Path) -> Mapping[str, str]:
    """CREATE CATALOG statements by the paths of the files that they are from.

    Raises :class:`FlinkplanError` for a file that does not have options.
    """
    return {str(path): _statement(path) for path in sorted(folder.glob(f"*{_SUFFIX}"))}


def _statement(path: Path) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        options = YAML(typ="safe").load(path)
    except YAMLError as e:
        raise FlinkplanError(f"the file is no YAML: {e}", where=str(path)) from None
    if not isinstance(options, dict) or "type" not in options:
        raise FlinkplanError("the file of a catalog has its options, of which one is 'type'", where=str(path))
    pairs = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in options.items())
    name = path.name.removesuffix(_SUFFIX).replace("`", "``")
    return f"CREATE CATALOG `{name}` WITH ({pairs});"


def _literal(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "'" + text.replace("'", "''") + "'"
