"""Brings ``pending.toml`` up to date with the last run: ``python -m tests.parity.pending [--add]``.

Cases that pass are struck off.  A case that has stopped passing is only entered with ``--add``.
"""

from __future__ import annotations

import json
import sys

from tests.parity.corpus import HERE, LEVELS, cases, pending
from tests.parity.results import load_results

_HEAD = """\
# Cases that do not reach a level yet, and why.  A case that is listed and passes fails its test, so this
# list only shrinks: `python -m tests.parity.pending` strikes off what passes.  A plan that misses one of
# shape, content and text is listed at the first of them only.
"""


def main(add: bool) -> None:
    """Rewrite the file; ``add`` lets new cases in."""
    results, lines, listed = load_results(), [_HEAD], set[str]()
    for level in LEVELS:
        entries = dict[str, str]()
        for case in cases():
            known = pending().get(level, {}).get(case.name)
            wrong = results.get(level, {}).get(case.name, known or "")
            earlier = level in ("content", "text") and case.name in listed
            if wrong and not earlier and (add or known is not None or _listed_above(case.name, level)):
                entries[case.name] = wrong
        if level in ("shape", "content", "text"):
            listed |= entries.keys()
        lines.append(f"[{level}]")
        lines += [f"{name} = {json.dumps(why[:300], ensure_ascii=False)}" for name, why in entries.items()]
        lines.append("")
    (HERE / "pending.toml").write_text("\n".join(lines), "utf-8")


def _listed_above(name: str, level: str) -> bool:
    """Whether the case was listed at an earlier plan level, and so may now be listed at this one."""
    earlier = {"content": ("shape",), "text": ("shape", "content")}.get(level, ())
    return any(name in pending().get(at, {}) for at in earlier)


if __name__ == "__main__":
    main("--add" in sys.argv[1:])
