"""What learning to judge statements has in common in every language: which were worth keeping,
whose dialogues are left out, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.types import FactCandidate
from memoryhub.lab.truth.dialogues import TruthDialogue, is_matching

Places = NDArray[np.int64]


def is_kept(dialogue: TruthDialogue, fact: FactCandidate) -> bool:
    """Whether a careful person kept what was read of the turn: it is a claim of the reading, made
    there or spoken of again, or tells of an ending there, and was not said without being claimed.
    """
    ref = fact.sources[0].handle
    if any(
        said.ref == ref and is_matching(said.match, fact.text) for said in dialogue.not_asserted
    ):
        return False
    claims, changes = dialogue.claims, dialogue.changes.get(ref, ())
    matches = [change.match for change in changes if change.id]
    matches += [claims[target].match for change in changes for target in change.targets]
    over = fact.polarity == "ended" and any(change.do == "end" for change in changes)
    return over or any(is_matching(match, fact.text) for match in matches if match)


def leave_authors_out(authors: Sequence[str]) -> Iterator[tuple[Places, Places]]:
    """For each author in turn, the places of examples to learn from and of those left out.

    What is of nobody (""), sentences made for learning, is never left out.
    """
    named = np.array(authors)
    for author in sorted({*authors} - {""}):
        yield np.flatnonzero(named != author), np.flatnonzero(named == author)


def write_judgements(made: Mapping[str, Any], file: Path) -> None:
    """One line a decider, for people to compare."""
    lines = [
        f"  {json.dumps(n)}: {json.dumps(told, ensure_ascii=False)}" for n, told in made.items()
    ]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
