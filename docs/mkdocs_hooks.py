"""Hooks of MkDocs, by which the site has what the pages link to outside ``docs/``.

Markdown becomes pages of the site, other files come along as they are.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

TOP = Path(__file__).parent.parent
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md")
"""The pages at the top of the repository that the site has."""

_LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def site_path(path: str) -> str:
    """Where the site has a file, by its path from the top of the repository.

    >>> site_path("docs/sql.md"), site_path("CONTRIBUTING.md"), site_path("tests/compat/truths/broken.py")
    ('sql.md', 'CONTRIBUTING.md', 'files/tests/compat/truths/broken.py')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in PAGES:
        return path
    return "index.md" if path == "README.md" else f"files/{path}"


def with_links_of_the_site(markdown: str, folder: str) -> str:
    """A page whose links lead to files of the site; ``folder`` is where the page is in the repository."""

    def replaced(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link["path"]))
        return site_path(target) + (link["anchor"] or "")

    return _LINK.sub(replaced, markdown)


def _linked_files(markdown: str, folder: str) -> set[str]:
    """The files of the repository outside ``docs/`` that a page links to and that are no pages."""
    targets = {posixpath.normpath(posixpath.join(folder, link["path"])) for link in _LINK.finditer(markdown)}
    return {path for path in targets if site_path(path).startswith("files/")}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages at the top of the repository, and the files that pages link to."""
    from mkdocs.structure.files import File

    linked: set[str] = set()
    for page in (TOP / "docs").glob("*.md"):
        linked |= _linked_files(page.read_text("utf-8"), "docs")
    for name in PAGES:
        text = (TOP / name).read_text("utf-8")
        linked |= _linked_files(text, "")
        files.append(File.generated(config, name, content=text))
    for path in sorted(linked):
        if (TOP / path).is_file():
            files.append(File.generated(config, site_path(path), abs_src_path=str(TOP / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links into the repository at the site's own files."""
    return with_links_of_the_site(markdown, "" if page.file.src_uri in PAGES else "docs")
