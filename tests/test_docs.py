"""The generated parts of the documentation are what the code says today, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "sample_plans").glob("**/*.md")])


def module(name: str) -> Any:
    """A program of ``docs/``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def generated(page: str) -> str:
    text: str = module("generate").generated(page)
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


def test_the_site_has_every_page_once() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert sorted(listed) == sorted([*pages, *module("mkdocs_hooks").PAGES])


def test_links_of_the_site_stay_in_it() -> None:
    text = "[a](../CONTRIBUTING.md#tests) [b](sql.md) [c](https://example.org) [d](../schemas/x.json) [e](../README.md)"
    moved = "[a](CONTRIBUTING.md#tests) [b](sql.md) [c](https://example.org) [d](files/schemas/x.json) [e](index.md)"
    assert module("mkdocs_hooks").with_links_of_the_site(text, "docs") == moved
    assert module("mkdocs_hooks").with_links_of_the_site("[a](docs/sql.md#b)", "") == "[a](sql.md#b)"
