"""Finds English that would stay English in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

_LETTERS = re.compile(r"[A-Za-z]{2,}")
_PROSE = re.compile(r"[A-Za-z]{2,} [a-z]|^[A-Z][a-z]+\b")
_SPOKEN_ATTRIBUTES = frozenset(("alt", "aria-label", "data-label", "label", "placeholder", "title"))
_SILENT_TAGS = frozenset(("code", "kbd", "pre", "script", "style"))
# Names that are the same in every language.
_NAME_PATTERN = re.compile(
    r"\b(MemoryHub|Django|OpenAI|ChatGPT|LangMem|LangGraph|Letta|Zep|Graphiti|Webhook|LoCoMo|"
    r"MemoryBank|MemGPT|MemoryOS|A-Mem|A-MEM|AMA|Mem0|LongMemEval|RAG|API|CSV|JSON(?: Lines)?|LLM|"
    r"URL|UTC|ID|SHA|HTTP|HMAC|MCP|curl|Python|JavaScript|F1|BLEU|ROUGE|METEOR|SBERT|ms|kB|MB)\b"
    r"|https://|#[a-z]+|\([A-Z][^()]* \d{4}\)"  # a paper
)
_QUOTED_PATTERN = re.compile(
    r"""(?P<before>[^\s"']+\s*|^)(?P<quote>["'])(?P<words>(?:(?!(?P=quote)).)*)(?P=quote)"""
)
# In these tags a quoted word is a name of the program's, or is translated.
_TAGS_OF_NAMES = frozenset(
    (
        *("url", "extends", "load", "static", "block", "if", "elif"),
        *("translate", "blocktranslate"),
    )
)
_BEFORE_NAMES = ("include", "icon", "cycle", "==", "!=", "in", "look=", "kind=", "_(")


def find_english_in_template(source: str) -> Iterator[tuple[int, str]]:
    """(line, words) that a template says without asking for a translation."""
    page = _PageParser()
    translated = commented = False
    for token in Lexer(source).tokenize():
        page.line = token.lineno or page.line
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            translated = name == "blocktranslate" or (translated and name != "endblocktranslate")
            commented = name == "comment" or (commented and name != "endcomment")
            yield from ((page.line, words) for words in _find_english_in_tag(name, token.contents))
            page.feed("\x00" if name in {"translate", "blocktranslate"} else "")
        elif token.token_type == TokenType.VAR:
            yield from ((page.line, words) for words in _find_english_in_tag("", token.contents))
            page.feed("\x00")
        elif token.token_type == TokenType.TEXT and not commented:
            # Markup within a translated text is the message's own.
            page.feed("" if translated else token.contents)
        yield from page.pop_texts()


def find_english_in_page(html: str) -> Iterator[str]:
    """What a page that is shown says in English, without names and what has a language of its
    own."""
    page = _PageParser()
    page.feed(html)
    return (_NAME_PATTERN.sub("", words) for _, words in page.pop_texts())


def _find_english_in_tag(name: str, contents: str) -> Iterator[str]:
    if "|pluralize" in contents:
        yield f"{{{{ {contents} }}}}"
    if name in _TAGS_OF_NAMES:
        return
    for found in _QUOTED_PATTERN.finditer(contents):
        before, words = found["before"].strip(), found["words"]
        if (not before.endswith(_BEFORE_NAMES) and _PROSE.search(words)) or (
            before.endswith(("default:", "yesno:", "default_if_none:"))
            and _LETTERS.search(_NAME_PATTERN.sub("", words))
        ):
            yield words
        elif before.endswith(("date:", "time:")) and _LETTERS.search(words):
            yield f"date:{words}"


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.line = 0
        self._inside: list[str] = []
        self._found: list[tuple[int, str]] = []

    def pop_texts(self) -> Iterator[tuple[int, str]]:
        found, self._found = self._found, []
        yield from found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in _SPOKEN_ATTRIBUTES:
                self._collect_text(value or "")
        named = dict(attrs)
        own = "lang" in named and tag != "html"
        if tag in _SILENT_TAGS or own or named.get("translate") == "no":
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._collect_text(data)

    def _collect_text(self, words: str) -> None:
        if _LETTERS.search(_NAME_PATTERN.sub("", words.replace("\x00", ""))):
            self._found.append((self.line, " ".join(words.replace("\x00", "…").split())))
