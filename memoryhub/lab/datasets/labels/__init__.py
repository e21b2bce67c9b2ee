"""Which turns answer questions that their set itself does not label.

MemoryBank's questions name no evidence. Its Chinese ones were read beside the dialogues by hand;
a file here holds, in the data's order, the turns that answer each question, and whose bytes it is
about. It holds none of the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

EvidenceLabels = Sequence[Sequence[frozenset[str]]]


def find_evidence_labels(data: Path, questions: Path) -> EvidenceLabels:
    """By dialogue and question; none unless both files are those that were labelled."""
    if not questions.exists():
        return ()
    about = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (data, questions)]
    for held in _read_label_files():
        if [held["data_sha256"], held["questions_sha256"]] == about:
            return [[frozenset(refs) for refs in dialogue] for dialogue in held["evidence"]]
    return ()


def _read_label_files() -> Iterator[dict[str, Any]]:
    for path in sorted(Path(__file__).parent.glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))
