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


def pages() -> list[Path]:
    """Every Markdown file of the project, without what is installed or generated."""
    inner = (file for folder in _FOLDERS for file in (ROOT / folder).rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *inner])


def headings(page: Path, level: int) -> list[str]:
    """Without the backticks, in the page's order."""
    found = re.findall(rf"^{'#' * level} (.+)$", prose(page), re.M)
    return [text.replace("`", "").strip() for text in found]


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in fenced(page) if name == language]


def fenced(page: Path) -> list[tuple[str, str]]:
    """(language, text) of each code block, in order."""
    return [(block.language, block.text) for block in marked(page)]


@dataclass(frozen=True, slots=True)
class Block:
    """`mark`: what the comment before it says; empty where there is none."""

    mark: str
    language: str
    text: str

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        return self._marked("not run: ")

    @property
    def runner(self) -> str:
        """The test file that runs it, where that is one of its own; else empty."""
        return self._marked("run by ")

    def _marked(self, beginning: str) -> str:
        return self.mark.removeprefix(beginning) if self.mark.startswith(beginning) else ""


def marked(page: Path) -> list[Block]:
    return blocks_of(page.read_text(encoding="utf-8"))


def blocks_of(text: str) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(text)]
