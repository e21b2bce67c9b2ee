"""Prompts are versioned files beside this module; what people said travels as JSON data."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Purpose = Literal["construct", "answer", "summarise", "repair"]
VERSIONS: dict[Purpose, int] = {"construct": 1, "answer": 1, "summarise": 1, "repair": 1}


@cache
def template(purpose: Purpose) -> str:
    """The instructions of a purpose in their current version."""
    name = f"{purpose}.v{VERSIONS[purpose]}.md"
    return (files(__package__) / "prompts" / name).read_text(encoding="utf-8")


def messages(purpose: Purpose, data: dict[str, Any]) -> list[dict[str, str]]:
    """The instructions, and the data apart from them as one JSON document (spec E24)."""
    return [
        {"role": "system", "content": template(purpose)},
        {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
    ]
