"""Questions that people ask of what they once said, with the clause that answers each: JSON lines
by author (`benchmarks/asked`, docs/reference/lab.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

# Takes a likeness out of the softmax.
_NEVER = -1e4


class AskedStatement(NamedTuple):
    """A question and the clause that answers it, of one message."""

    question: str
    clause: str
    message: str


def load_asked(folder: Path, language: str, without: Sequence[str] = ()) -> list[AskedStatement]:
    """Of all authors in this language below `folder` but those named: folders such as `zh-1`."""
    return [
        AskedStatement(asked["q"], asked["clause"], told["text"])
        for file in sorted(folder.rglob("*.jsonl"))
        if file.parent.name.startswith(f"{language}-") and file.parent.name not in without
        for told in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for asked in told["asked"]
    ]


def number_messages(asked: Sequence[AskedStatement]) -> list[int]:
    """A number for each one's message: another clause of the same message is no wrong answer."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(each.message, len(numbers)) for each in asked]


def compute_contrast(likeness: torch.Tensor, messages: torch.Tensor) -> torch.Tensor:
    """How hard it is to tell each question's clause, the one of its own number, from the others of
    the batch: (questions, clauses) sharpened likeness; InfoNCE (van den Oord et al. 2018)."""
    import torch  # heavy, and needed by whoever trains

    other = ~torch.eye(len(messages), dtype=torch.bool)
    same = (messages[:, None] == messages[None]) & other
    right = torch.arange(len(messages))
    return torch.nn.functional.cross_entropy(likeness.masked_fill(same, _NEVER), right)
