"""The project's pages as text: which there are, their headings, links and code blocks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.M | re.S)
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
    return _FENCE.findall(page.read_text(encoding="utf-8"))
