"""How sure it is that what is told ends a claim held, by reading both in one.

MiniLM with corrections learned by `manage.py lab train-changes`, as the reader of questions is
(`engines/reranking/packaged.py`). The new claim is read, and the words of the message around it:
many a message tells by its circumstances alone that something is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from memoryhub.engines.local.comparison.pairs import UNREAD, ClaimView
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.reranking.packaged import PackagedReranker
from memoryhub.engines.types import ToldMessage

CHANGES_GRAPH_FILE = Path(__file__).with_name("minilm_changes.onnx")
MOST_TOLD_TOKENS = 64
# So many claims held are read beside a new one, those that resemble it most: what it ends is among
# them nearly always, and each more is read twice.
_MOST_READ = 4


@cache
def get_change_reader() -> PackagedReranker:
    """One for all of a process."""
    return PackagedReranker(1, CHANGES_GRAPH_FILE, MOST_TOLD_TOKENS)


def describe_reading(
    new: ClaimView,
    held: Sequence[ClaimView],
    rows: Sequence[dict[str, float]],
    *,
    assisted: bool,
) -> list[dict[str, float]]:
    """Of each claim held, whose pair with the new one `rows` describe, the logarithm of how much
    likelier it is that the new claim ends it than that it ends nothing, by the claim alone and by
    its message, and by how much each is ahead of the others. Among people nothing is read: they
    rarely take anything back."""
    near = sorted(range(len(held)), key=lambda at: -_measure_likeness(rows[at]))[:_MOST_READ]
    told = {"read": new.text, "read_said": new.said}
    described: list[dict[str, float]] = [{} for _ in held]
    for name, text in told.items():
        scores = [UNREAD] * len(held)
        if assisted and text:
            read = get_change_reader().score_texts(text, [held[at].text for at in near])
            for at, score in zip(near, read, strict=True):
                scores[at] = score
        first, second = [*sorted(scores, reverse=True), UNREAD, UNREAD][:2]
        for row, score in zip(described, scores, strict=True):
            other = second if score == first else first
            row |= {name: score, f"{name}_lead": score - other}
    return described


def write_message(message: ToldMessage, speaker: str) -> str:
    """A message as the reader learned to read one, with the question that it answers."""
    if not message.asked:
        return message.text
    if detect_language(message.text) == "zh":
        return f"{message.asked} {message.text}"
    return f'Asked "{message.asked}", {speaker} said: {message.text}'


def _measure_likeness(row: dict[str, float]) -> float:
    return row["cosine"] + row["grams"] + row["said_old_grams"]
