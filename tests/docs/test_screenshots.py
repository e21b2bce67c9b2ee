"""The pictures of the pages: each is shown, described, and small; the command knows them all."""

from __future__ import annotations

import re
from runpy import run_path

from tests.docs.pages import ROOT, list_pages

FOLDER = ROOT / "docs/screenshots"
PICTURE = re.compile(r"!\[([^\]]*)\]\((?:[\w./-]*/)?screenshots/([\w-]+)\.webp\)")


def list_screenshots() -> set[str]:
    """The names of the pictures that the command takes."""
    command = run_path(str(ROOT / "docs/screenshots.py"))
    return {shot.name for shot in command["shots"]("space", "fact", "/me/")}


def test_every_picture_is_taken_by_the_command() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == list_screenshots()


def test_every_picture_that_is_shown_is_there_and_says_what_it_shows() -> None:
    shown = [each for page in list_pages() for each in PICTURE.findall(page.read_text("utf-8"))]
    assert {name for _, name in shown} <= list_screenshots()
    assert [name for words, name in shown if not words.strip()] == []


def test_the_pictures_are_small() -> None:
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    assert sum(sizes) < 1_500_000
    assert max(sizes) < 150_000
