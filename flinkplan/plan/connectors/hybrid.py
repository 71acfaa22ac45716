"""The connector of tables that are read from several sources one after the other.

Source: FLIP-278 for the options, and FLIP-150 for the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..errors import FlinkplanError
from ..options import BOOLEAN, Option, OptionType
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE
from .model import Connector, Options, Problem, Source

IDENTIFIERS = "source-identifiers"
BY_CLOCK = "use-processing-time"

_IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")


def parse_identifiers(text: str) -> tuple[str, ...]:
    """Parse a list of names such as ``history,live``.  Raises :class:`FlinkplanError`."""
    names = tuple(name.strip() for name in text.split(","))
    if len(names) < 2 or len(set(names)) < len(names) or not all(map(_IDENTIFIER.fullmatch, names)):
        raise FlinkplanError(
            f"'{text}' are no names of sources",
            hint="they are two or more different ones of letters, digits and underscores: 'history,live'",
        )
    return names


def parts(options: Options) -> Mapping[str, Options]:
    """The options of each source, by its name and in the order of reading."""
    try:
        names = parse_identifiers(options.get(IDENTIFIERS, ""))
    except FlinkplanError:
        return {}
    return {
        name: {key.removeprefix(f"{name}."): value for key, value in options.items() if key.startswith(f"{name}.")}
        for name in names
    }


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    for name, part in parts(options).items():
        if part.get("connector") == HYBRID.name:
            yield Problem(f"{name}.connector", f"the source '{name}' is a hybrid one itself", "name its sources here")
    if options.get(BY_CLOCK, "false").lower() == "true" and not schema.watermark_specs:
        yield Problem(BY_CLOCK, "the table has no watermark that could be the clock", "declare one: WATERMARK FOR …")


HYBRID = Connector(
    "hybrid",
    "one table, read from several sources in turn",
    Source(None),
    None,
    (
        *EVERYWHERE,
        Option(
            IDENTIFIERS,
            OptionType("names between commas", parse_identifiers),
            None,
            "the sources in turn; the options of each begin with its name: 'history.connector'",
            required=True,
        ),
        Option(BY_CLOCK, BOOLEAN, "false", "once the last source is read, the watermark is the clock (FLIP-326)"),
    ),
    problems=_problems,
    parts=parts,
    executed=True,
)
