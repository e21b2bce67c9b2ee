"""Whose word counts, and what is no word about the world at all (spec E24, X11)."""

from __future__ import annotations

import re
import unicodedata

from memoryhub.engines.local.attribution.passed_on import strip_hidden

# Who may make claims. An assistant may, but changes nothing people said; documents, tools and
# system messages are data.
TRUSTED_ROLES = frozenset({"user"})
CLAIMANT_ROLES = frozenset({"user", "assistant"})

_INSTRUCTION_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
        r"\b(?:instruction|rule|prompt|guideline|directive|restriction|safeguard)s?\b",
        r"\b(?:delete|erase|wipe|remove|purge|clear|forget|drop)\b.{0,20}\b(?:all|every|entire)\b"
        r".{0,20}\b(?:memor\w+|facts?|records?|notes?|data|database|tables?)\b",
        r"\ball (?:of )?(?:the |its |your |their )?(?:memories|facts|records)\b.{0,20}"
        r"\b(?:deleted|erased|wiped|removed|purged|forgotten)\b",
        r"\b(?:system|developer) (?:prompt|message|instructions?)\b",
        r"\byou (?:are now|must now|will now|must always|must never)\b",
        r"\b(?:reveal|print|output|repeat)\b.{0,20}\b(?:prompt|instructions?|api keys?|password)\b",
        r"(?:忽略|无视|忘记|忘掉|不要理会|绕过).{0,12}(?:指令|规则|提示词|提示|限制)",
        r"(?:删除|清除|清空|抹去|忘记|忘掉).{0,6}(?:所有|全部|一切).{0,6}(?:记忆|记录|数据|事实)",
        r"(?:所有|全部)的?(?:记忆|记录|数据).{0,6}(?:删除|清除|清空|抹去)",
        r"系统提示",
    )
)


def is_instruction(text: str) -> bool:
    """Whether a candidate reads like a command to the hub or its models, and not like a claim."""
    plain = unicodedata.normalize("NFKC", strip_hidden(text))
    return any(pattern.search(plain) for pattern in _INSTRUCTION_PATTERNS)


def find_distrust_reason(role: str, text: str) -> str:
    """Why a candidate said in this role is held back for a person, "" if it is not."""
    if role not in CLAIMANT_ROLES:
        return f"said by {role}, whose words are data"
    return "reads like an instruction, not like a claim" if is_instruction(text) else ""
