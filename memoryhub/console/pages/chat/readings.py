"""A message of the chat as the rules read it, whatever engine the tenant has: a model is too slow
to ask twice."""

from __future__ import annotations

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Exchange, Extraction, Utterance
from memoryhub.inference.selection import get_named_engine

# What it does shows in the first words of a message, not at the end of a pasted document.
MAX_READ_LENGTH = 4_000


def read_message(turn: Turn) -> Extraction:
    """Its act is under "turn"."""
    said = Utterance("turn", turn.speaker, "user", turn.text[:MAX_READ_LENGTH], turn.occurred_at)
    (built,) = get_named_engine("local").extract_memories([Exchange([said])])
    return built
