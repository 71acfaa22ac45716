"""The generated parts of the documentation are what the code says today, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "sample_plans").glob("**/*.md")])


def generated(page: str) -> str:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text: str = module.generated(page)
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_is_current(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == generated(text), "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    targets = [t for t in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_way_of_a_ttl_passes_these_functions() -> None:
    page = (ROOT / "docs/way-of-a-ttl.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (`[^|]+`) \|", page, re.MULTILINE)
    assert len(rows) > 10
    for file, names in rows:
        text = (ROOT / file).read_text("utf-8")
        for name in re.findall(r"(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b|[\w>] {name}\(", text, re.MULTILINE), (file, name)
