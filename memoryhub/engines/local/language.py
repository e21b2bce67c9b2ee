"""Which language a text is in, by script and common words.

By the share of characters, not by a trained identifier: those take short Chinese turns for
other languages, and only two languages have rules here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from memoryhub.engines.local.wordlists import split_words

LanguageCode = Literal["en", "zh", "other"]
# Of the name of an embedder that has vectors of its own for Chinese words.
CHINESE_WORDS_SUFFIX = "+zh1"

# Ranges of characters, for a class of a regular expression.
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CJK = f"{HAN}\u3040-\u30ff"
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_LETTER = re.compile(r"[A-Za-zÀ-ɏ]")
_ANY_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[a-zà-ɏ']+")
_ENGLISH_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
# Of a sentence; what is written close to an address of mail may be Chinese.
_NO_LANGUAGE = re.compile(r"[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9_.-]{1,100}|https?://[!-~]{1,300}")
_ENGLISH_WORDS = split_words("""
    the a an and or but to of in on at for with from is are was were be been i i'm my me you
    your we our they he she it this that have has had do did not what how when where who so just
    went like love yes no hi hey hello thanks thank good great will can would last next
""")
_FOREIGN_WORDS = split_words("""
    le la les des une est et je tu il elle nous vous dans pour avec que qui sur pas mon ma mes
    el los las un una es y yo con por para mi de en du au der die das und ich ist nicht ein eine
    mit zu wir sie il lo gli che sono di per non ho o os as um uma eu não com na no em se
""") - {"a", "an", "no", "die", "me", "as", "in", "on"}


# Of one text it is asked by whoever reads, compares, embeds or dates it.
@lru_cache(maxsize=1024)
def detect_language(text: str) -> LanguageCode:
    """The language of `text`; what has no letters at all counts as English."""
    text = _NO_LANGUAGE.sub(" ", text) if "@" in text or "://" in text else text
    letters = len(_ANY_LETTER.findall(text))
    if not letters:
        return "en"
    if _KANA_OR_HANGUL.search(text):
        return "other"
    # One Chinese character carries about as much as a short word.
    han = len(_HAN_CHARACTER.findall(text))
    if 3 * han >= letters or (han and _has_only_names(text, han)):
        return "zh"
    latin = 2 * len(_LATIN_LETTER.findall(text)) >= letters
    return "en" if latin and _is_english(text) else "other"


def detect_read_language(text: str) -> Literal["en", "zh"]:
    """As what rules read `text`: what is no Chinese they read as English."""
    return "zh" if detect_language(text) == "zh" else "en"


def _has_only_names(text: str, han: int) -> bool:
    """Whether the Latin words among `han` Chinese characters are no more than these and no English:
    "微信号linhai_fj", "Emily在哪"."""
    words = _WORD.findall(text.lower())
    return len(words) <= han and not any(word in _ENGLISH_WORDS for word in words)


def _is_english(text: str) -> bool:
    words = _WORD.findall(text.lower().replace("’", "'"))
    english = sum(word in _ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN_WORDS for word in words)
    return foreign <= english + (len(words) < 4)


def can_embed_language(model: str, language: LanguageCode) -> bool:
    """Whether the likeness of two statements by vectors of `model` means anything in `language`.

    To an English MiniLM all Chinese looks alike: there words tell more by themselves.
    """
    name = model.lower()
    return language != "zh" or "minilm" not in name or "multilingual" in name


def choose_floor(model: str, text: str, floor: float) -> float:
    """The least likeness that what is compared with `text` must have: none where likeness by
    vectors of `model` means nothing in its language, and only the order counts."""
    return floor if can_embed_language(model, detect_language(text)) else -1.0


def can_search_language(model: str, language: LanguageCode) -> bool:
    """Whether a question in `language` may be looked for by vectors of `model`.

    The packaged ones of Chinese words were learned from questions and what answers them; how near
    two statements are that tell the same is another matter, and words decide it.
    """
    return can_embed_language(model, language) or model.endswith(CHINESE_WORDS_SUFFIX)


def list_word_pairs(text: str) -> frozenset[str]:
    """The words and pairs of neighbours of an English text, in lower case."""
    words = _ENGLISH_WORD.findall(text.lower().replace("’", "'"))
    return frozenset([*words, *(f"{a} {b}" for a, b in pairwise(words))])
