"""Wishes said in the chat in so many words: to remember something, or to forget it.

Read by rules, whatever engine the tenant has: a model is too slow to ask twice.
"""

from __future__ import annotations

import re

from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import Answer, Construction, Exchange, Utterance
from memoryhub.models_in_use import engine_named

# A wish stands in the first words of a message, not at the end of a pasted document.
_READ = 4_000
_REMEMBER = re.compile(
    r"^\W*(?:please\s+)?(?:remember|keep in mind|note)\b\s*(?:this\b|that\b)?\s*[:,，：]?\s*\S"
    r"|^\W*(?:请|帮我|请帮我)?(?:记住|记一下|记下)",
    re.I,
)
# "Remember when we …?" is talk.
_TALK = re.compile(
    r"^\W*(?:please\s+)?remember\s+(?:when|how|why|what|who|me|to)\b|[?？]\s*$", re.I
)
_FORGET_LAST = re.compile(
    r"^\W*(?:no\W+|please\s+|just\s+)*forget\s+(?:that|this|it|what i (?:just )?said)"
    r"(?:\s+please)?\W*$"
    r"|^\W*(?:请)?(?:忘了|忘掉|忘记)(?:这个|那个|它|这件事|刚才[^，。]{0,6})?(?:吧)?\W*$",
    re.I,
)
_NOTED = {
    "en": "Your wish to forget is noted. It waits for an operator, and nothing is deleted yet.",
    "zh": "您的请求已经记下，等待管理员确认，目前还没有删除任何内容。",
}
_KEPT = {"en": "Kept, word by word.", "zh": "已逐字记住。"}
_FORGOTTEN = {
    "en": "Forgotten. The history can bring it back.",
    "zh": "已忘记。可以在历史记录中恢复。",
}
_NOTHING = {
    "en": "Nothing is remembered from your last message.",
    "zh": "您的上一条消息没有留下记忆。",
}


def asks_to_forget(turn: Turn) -> bool:
    return _read(turn).speech_acts.get("turn") == "forget"


def asks_to_keep(turn: Turn) -> bool:
    """Whether it asks to be remembered and the rules find no claim in it: what they can read is
    judged against what is held, the rest is kept word by word."""
    text = turn.text[:_READ]
    if not _REMEMBER.search(text) or _TALK.search(text):
        return False
    return not _read(turn).facts


def takes_back(text: str) -> bool:
    """ "Forget that": what the last message said."""
    return bool(_FORGET_LAST.search(text[:_READ]))


def _read(turn: Turn) -> Construction:
    said = Utterance("turn", turn.speaker, "user", turn.text[:_READ], turn.occurred_at)
    (built,) = engine_named("local").construct([Exchange([said])])
    return built


def noted(turn: Turn) -> Answer:
    """In the language of the wish. Deleting is left to a person (E20)."""
    return _said(_NOTED, turn)


def kept(turn: Turn) -> Answer:
    return _said(_KEPT, turn)


def forgotten(turn: Turn, count: int) -> Answer:
    """Without saying again what it was."""
    return _said(_FORGOTTEN if count else _NOTHING, turn)


def _said(words: dict[str, str], turn: Turn) -> Answer:
    return Answer(words["zh" if language_of(turn.text) == "zh" else "en"], quoted=False)
