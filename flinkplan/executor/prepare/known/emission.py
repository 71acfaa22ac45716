"""When windows of the older syntax emit results beside the one at their end.

Source: Flink's ``WindowEmitStrategy``.  Its options are not part of a plan, but of the session that executes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.durations import parse_duration
from ....plan.errors import PlanError
from ....plan.nodes import GroupWindowAggregate
from ....plan.record import Record
from ....plan.session import option_of
from ....plan.specs import SessionGroupWindow

EARLY = "table.exec.emit.early-fire"
LATE = "table.exec.emit.late-fire"
LATENESS = "table.exec.emit.allow-lateness"

NEVER = -1


class Emission(Record):
    """``early`` and ``late``: how many milliseconds behind a row a window that is still open, or has emitted its
    result, emits; 0: at once.  ``lateness``: how long beyond its end it takes rows.
    """

    early: int = NEVER
    late: int = NEVER
    lateness: int = 0

    @property
    def updates(self) -> bool:
        """Whether a window may emit more than one result."""
        return self.early >= 0 or self.late >= 0


AT_THE_END = Emission()


def emission_of(node: GroupWindowAggregate, is_proctime: bool, options: Mapping[str, str]) -> Emission:
    """What the options say; ``is_proctime``: windows go by the clock.

    Raises :class:`PlanError` for what Flink refuses.
    """
    early, late = _delay(EARLY, node, options), _delay(LATE, node, options)
    lateness = parse_duration(option_of(node, LATENESS, options))
    if early == late == NEVER:
        return AT_THE_END
    if isinstance(node.window, SessionGroupWindow):
        raise PlanError("sessions emit at their end only", hint=f"take '{EARLY}.enabled' and '{LATE}.enabled' away")
    if is_proctime:
        return Emission(early)
    if late != NEVER and lateness <= 0:
        raise PlanError(f"'{LATE}.enabled' needs '{LATENESS}'", hint="say how late rows may come")
    if late > lateness:
        raise PlanError(f"'{LATE}.delay' is longer than '{LATENESS}'")
    return Emission(early, late, lateness if late != NEVER else 0)


def _delay(prefix: str, node: GroupWindowAggregate, options: Mapping[str, str]) -> int:
    if option_of(node, f"{prefix}.enabled", options).lower() != "true":
        return NEVER
    delay = option_of(node, f"{prefix}.delay", options)
    if not delay:
        raise PlanError(f"'{prefix}.enabled' needs '{prefix}.delay'")
    return parse_duration(delay)
