"""Links lead somewhere, and nothing depends on the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, list_headings, list_pages, read_prose

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(
    r"(?<![\w./-])/(?:work|root|tmp|home|Users|mnt)(?:/|\b)|shared/data|\.cache\b"
)


def list_anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings, and those that the page sets itself."""
    words = (heading.lower() for level in range(1, 5) for heading in list_headings(page, level))
    made = {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in words}
    return made | set(re.findall(r'<a id="([^"]+)"></a>', read_prose(page)))


def get_page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", list_pages(), ids=get_page_name)
def test_every_relative_link_resolves(page: Path) -> None:
    broken = []
    for link in LINK.findall(read_prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", list_pages(), ids=get_page_name)
def test_no_page_names_a_place_on_somebodys_machine(page: Path) -> None:
    assert ELSEWHERE.findall(page.read_text(encoding="utf-8")) == []


def test_every_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = (
            link.partition("#")[0] for link in LINK.findall(read_prose(page)) if ":" not in link
        )
        ahead += [
            target for at in links if at and (target := (page.parent / at).resolve()).exists()
        ]
    documentation = set((ROOT / "docs").rglob("*.md"))
    assert documentation <= reached
