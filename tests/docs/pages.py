"""The project's pages as text: which there are, their headings, links and code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Such a comment before a block decides about it: `<!-- not run: needs containers -->`.
_FENCE = re.compile(r"^(?: *<!-- ([^\n]+) -->\n)? *```(\w*)\n(.*?)^ *```$", re.M | re.S)
_FOLDERS = (
    "docs",
    "memoryhub",
    "api",
    "notes",
    "personas",
    "static",
    "benchmarks",
    "clients",
    "docker",
)


def list_pages() -> list[Path]:
    """Every Markdown file of the project, without what is installed or generated."""
    inner = (file for folder in _FOLDERS for file in (ROOT / folder).rglob("*.md"))
    found = (*ROOT.glob("*.md"), *inner)
    return sorted(page for page in found if "node_modules" not in page.parts)


def list_headings(page: Path, level: int) -> list[str]:
    """Without the backticks, in the page's order."""
    found = re.findall(rf"^{'#' * level} (.+)$", read_prose(page), re.M)
    return [text.replace("`", "").strip() for text in found]


def read_prose(page: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def list_blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in list_fenced_blocks(page) if name == language]


def list_fenced_blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of each code block, in order."""
    return [(block.language, block.text) for block in list_marked_blocks(page)]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`mark`: what the comment before it says; empty where there is none."""

    mark: str
    language: str
    text: str

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        return self._read_mark("not run: ")

    @property
    def runner(self) -> str:
        """The test file that runs it, where that is one of its own; else empty."""
        return self._read_mark("run by ")

    def _read_mark(self, beginning: str) -> str:
        return self.mark.removeprefix(beginning) if self.mark.startswith(beginning) else ""


def list_marked_blocks(page: Path) -> list[CodeBlock]:
    return parse_blocks(page.read_text(encoding="utf-8"))


def parse_blocks(text: str) -> list[CodeBlock]:
    return [CodeBlock(*found) for found in _FENCE.findall(text)]
