"""The tokens: enough contrast in both themes, one scale; the templates: what the policy allows."""

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
SHEETS = [ROOT / f"static/css/{name}.css" for name in ("console", "admin")]
# What the scale is of: sizes of type and its weight, distances, corners, how long a change takes.
ON_THE_SCALE = re.compile(
    r"[{;\s](font-size|font-weight|font|letter-spacing|[\w-]*radius|box-shadow|transition[\w-]*"
    r"|animation[\w-]*|padding[\w-]*|margin[\w-]*|(?:row-|column-)?gap|inset[\w-]*): ([^;}]*)"
)
# A hairline, nothing at all, a share of the type around it.
FREE = re.compile(r"-?1px|-?0(?:\.\d+)?em|1lh|400|0")
SIZE = re.compile(r"(?<![\w-])-?\d*\.?\d+(?:px|rem|em|ms|s|lh)\b|(?<![\w.-])\d{3}(?!\w)")
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(")
TEMPLATES = sorted(path for folder in settings.TEMPLATE_DIRS for path in folder.rglob("*.html"))

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


@pytest.mark.parametrize("path", SHEETS, ids=lambda p: p.name)
def test_sizes_distances_and_colours_are_the_scale_s(path: Path) -> None:
    css = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    off = [
        f"{what}: {value}"
        for what, value in ON_THE_SCALE.findall(css)
        # How high a line stands is a ratio of its type, or the height of the badge around it.
        for size in SIZE.findall(re.sub(r"(?<=\))/\S+", "", value))
        if not FREE.fullmatch(size)
    ]
    assert off == []
    assert COLOUR.findall(re.sub(r"#[\w-]+(?=[^{}]*\{)", "", css)) == []


def test_every_token_is_there_and_used() -> None:
    css = "".join(path.read_text() for path in SHEETS)
    scripts = "".join(path.read_text() for path in (ROOT / "static/js").rglob("*.js"))
    templates = "".join(path.read_text() for path in TEMPLATES)
    of_their_own = set(re.findall(r"(--[\w-]+):", css + templates))
    known = set(re.findall(r"^\s*(--[\w-]+):", TOKENS, flags=re.MULTILINE))
    used = set(re.findall(r"var\((--[\w-]+)", css + TOKENS))
    assert used - known - of_their_own == set()
    # Scripts and figures read them by number.
    unused = {name for name in known - used if name.strip("-0123456789") not in scripts}
    assert unused == set()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT)))
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
