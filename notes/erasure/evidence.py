"""Whether a text gives away another that is to be erased (spec §11.9 step 4). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.language import CJK, HAN
from notes.facts.words import extract_stems

SPAN_LENGTH = 4  # tokens in a row that two texts don't share by chance
_TOKEN = re.compile(rf"[{CJK}]|[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_HAN = re.compile(f"[{HAN}]+$")


def split_tokens(text: str) -> list[str]:
    """Words without case and punctuation; CJK character by character."""
    return _TOKEN.findall(normalise_text(text))


def list_token_runs(text: str, size: int = SPAN_LENGTH) -> set[tuple[str, ...]]:
    """Every run of `size` tokens."""
    words = split_tokens(text)
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def extract_names(text: str) -> set[str]:
    """Words that begin with a capital within a sentence: names, more or less, in lower case."""
    found = set()
    for sentence in _SENTENCE.split(text):
        words = _WORD.findall(sentence)
        found |= {word.casefold() for word in words[1:] if word[0].isupper() and len(word) > 1}
    return found


def has_erased_words(
    derived: str, erased: Iterable[str], remaining: Iterable[str], known: Collection[str] = ()
) -> bool:
    """Whether `derived` holds words that only the erased texts account for.

    Those are runs of at least four tokens, and names (`known` ones in lower case, besides those
    that look like one), that occur in none of the remaining texts it rests on.
    """
    erased, remaining = list(erased), list(remaining)
    shared = _collect_token_runs(erased) & list_token_runs(derived)
    if shared - _collect_token_runs(remaining):
        return True
    held = {token for text in remaining for token in split_tokens(text)}
    said = {token for text in erased for token in split_tokens(text)}
    names = {name for text in erased for name in extract_names(text)} | (said & set(known))
    return bool((names - held) & set(split_tokens(derived)))


def is_repetition(text: str, said: Iterable[str], values: Iterable[tuple[str, str]]) -> bool:
    """Whether `text` says again what the texts `said` say, so that it must go with them.

    It does with four tokens in a row, or with any word of the `values`, which are (what a claim is
    about, its owner): "Forget my address" repeats nothing, "Forget Elm Street" does.
    """
    if list_token_runs(text) & _collect_token_runs(said):
        return True
    here, pairs = _filter_telling_stems(extract_stems(text)), list_token_runs(text, 2)
    for value, owner in values:
        if here & _filter_telling_stems(extract_stems(value, owner)):
            return True
        if any(_HAN.match("".join(pair)) for pair in pairs & list_token_runs(value, 2)):
            return True
    return False


def _filter_telling_stems(words: Iterable[str]) -> set[str]:
    """Of stems those that tell something; a single Han character does not."""
    return {word for word in words if not _HAN.match(word)}


def _collect_token_runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    return {span for text in texts for span in list_token_runs(text)}
