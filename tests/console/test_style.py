"""The tokens: enough contrast in both themes; the templates: nothing the policy forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TOKENS = (ROOT / "static/css/tokens.css").read_text()
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TOKENS
    )
}
KINDS = ("turn", "fact", "note", "segment", "episode", "trait", "entity")
TEXTS = ("text", "muted", "accent", "good", "warn", "bad", *KINDS)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))

Colour = tuple[float, float, float]


def rgb(text: str) -> Colour:
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: Colour) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Colour, other: Colour) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def mix_colours(colour: Colour, ground: Colour, share: float) -> Colour:
    red, green, blue = (c * share + g * (1 - share) for c, g in zip(colour, ground, strict=True))
    return red, green, blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", TEXTS)
def test_text_can_be_read_on_every_ground(name: str, theme: int) -> None:
    colour = rgb(PAIRS[name][theme])
    surface = rgb(PAIRS["surface"][theme])
    grounds = [rgb(PAIRS[ground][theme]) for ground in ("ground", "surface", "raised")]
    grounds.append(mix_colours(colour, surface, 0.10))  # badges
    assert min(contrast(colour, ground) for ground in grounds) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_marks_buttons_and_borders(theme: int) -> None:
    colour = {name: rgb(pair[theme]) for name, pair in PAIRS.items()}
    assert contrast(colour["text"], colour["mark"]) >= 4.5
    assert contrast(colour["on-accent"], colour["accent"]) >= 4.5
    assert contrast(colour["line-strong"], colour["surface"]) >= 3


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert len({PAIRS[kind] for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT / "templates")))
def test_no_inline_script_or_style_and_no_other_host(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", text)


def test_every_icon_used_is_in_the_sprite() -> None:
    sprite = (ROOT / "static/icons.svg").read_text()
    known = set(re.findall(r'id="([\w-]+)"', sprite))
    texts = "".join(path.read_text() for path in TEMPLATES)
    used = set(re.findall(r'{% icon "([\w-]+)"', texts))
    assert used <= known
