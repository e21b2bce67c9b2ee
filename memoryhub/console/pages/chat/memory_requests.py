"""Wishes said in the chat in so many words: to remember something, or to forget it."""

from __future__ import annotations

import re

from memoryhub.console.pages.chat.readings import MAX_READ_LENGTH, read_message
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import detect_read_language
from memoryhub.engines.types import GroundedAnswer

_KEEP_PATTERN = re.compile(
    r"^\W*(?:please\s+)?(?:remember|keep in mind|note)\b\s*(?:this\b|that\b)?\s*[:,，：]?\s*\S"
    r"|^\W*(?:请|帮我|请帮我)?(?:记住|记一下|记下)",
    re.I,
)
# "Remember when we …?" is talk.
_SMALL_TALK_PATTERN = re.compile(
    r"^\W*(?:please\s+)?remember\s+(?:when|how|why|what|who|me|to)\b|[?？]\s*$", re.I
)
_FORGET_LAST_PATTERN = re.compile(
    r"^\W*(?:no\W+|please\s+|just\s+)*forget\s+(?:that|this|it|what i (?:just )?said)"
    r"(?:\s+please)?\W*$"
    r"|^\W*(?:请)?(?:忘了|忘掉|忘记)(?:这个|那个|它|这件事|刚才[^，。]{0,6})?(?:吧)?\W*$",
    re.I,
)
# By what comes of a wish, which the policy says (E20). What is forgotten is not said again.
_ANSWERS = {
    "asked_auto": {
        "en": "I will look for what you mean. What is clear is taken out in a moment, with a "
        "receipt that says until when that can be undone; where it is not clear, nothing is erased "
        "until an operator has chosen.",
        "zh": "正在查找你指的内容。明确的部分会马上移除，回执会说明在何时之前可以撤销；"
        "不明确的，在操作员选定之前不会抹除。",
    },
    "asked_confirm": {
        "en": "Your wish to forget is noted. An operator chooses what goes; nothing is erased "
        "until then.",
        "zh": "你的请求已经记下。由操作员选定要抹除的内容，在那之前不会抹除任何内容。",
    },
    "kept": {"en": "Kept, word by word.", "zh": "已逐字记住。"},
    "forgotten": {
        "en": "Forgotten. The history can bring it back.",
        "zh": "已遗忘。可以在历史中恢复。",
    },
    "nothing": {
        "en": "Nothing is remembered from your last message.",
        "zh": "你的上一条消息没有留下记忆。",
    },
}


def asks_to_forget(turn: Turn) -> bool:
    return read_message(turn).speech_acts.get("turn") == "forget"


def asks_to_keep(turn: Turn) -> bool:
    """Whether it asks to be remembered and the rules find no claim in it: what they can read is
    judged against what is held, the rest is kept word by word."""
    text = turn.text[:MAX_READ_LENGTH]
    if not _KEEP_PATTERN.search(text) or _SMALL_TALK_PATTERN.search(text):
        return False
    # A bare fragment ("gate 4711") says less in any other words.
    return all(fact.verb == ":" for fact in read_message(turn).facts)


def asks_to_forget_last(text: str) -> bool:
    """ "Forget that": what the last message said."""
    return bool(_FORGET_LAST_PATTERN.search(text[:MAX_READ_LENGTH]))


def build_canned_answer(done: str, turn: Turn) -> GroundedAnswer:
    """In the language of the wish."""
    language = detect_read_language(turn.text)
    return GroundedAnswer(_ANSWERS[done][language], quoted=False)
