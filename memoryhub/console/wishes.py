"""Wishes to forget in the chat: confirmed without saying again what should be forgotten (E20)."""

from __future__ import annotations

from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import Answer, Exchange, Utterance
from memoryhub.models_in_use import engine_named

# A wish stands in the first words of a message, not at the end of a pasted document.
_READ = 4_000
_NOTED = {
    "en": "Your wish to forget is noted. It waits for an operator, and nothing is deleted yet.",
    "zh": "您的请求已经记下，等待管理员确认，目前还没有删除任何内容。",
}


def asks_to_forget(turn: Turn) -> bool:
    """Read by rules, whatever engine the tenant has: a model is too slow to ask twice."""
    said = Utterance("turn", turn.speaker, "user", turn.text[:_READ], turn.occurred_at)
    (built,) = engine_named("local").construct([Exchange([said])])
    return built.speech_acts.get("turn") == "forget"


def noted(turn: Turn) -> Answer:
    """In the language of the wish. Deleting is left to a person."""
    return Answer(_NOTED["zh" if language_of(turn.text) == "zh" else "en"], quoted=False)
