"""A grounded answer: what the model is shown, and what of its reply rests on what it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from memoryhub.engines.llm.replies import AnswerReply
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import Answer, Quote, Support, TimeSpan

_UNKNOWN = {"zh": "没有找到相关的记忆。", "en": "I found nothing about that."}
_TEXT = 2000  # characters of a memory (spec §16)
# Handles behind a statement, as asked for; some models take other brackets.
_MARK = re.compile(r"\s*[\[(【（]\s*(m\d+(?:\s*[,;、，]\s*m\d+)*)\s*[\])】）]")


def abstaining(question: str, wording: str = "") -> Answer:
    known = "zh" if language_of(question) == "zh" else "en"
    said = _MARK.sub("", wording).strip()
    return Answer(said or _UNKNOWN[known], quoted=False)


def grounded(reply: AnswerReply, offered: int) -> tuple[Answer | None, int]:
    """(the answer with the handles taken out, or None if it rests on nothing; invented handles).

    What stands before a handle rests on it; a handle that is only listed supports all of it.
    """
    handles = {_handle(index): index for index in range(offered)}
    text, marked = _unmarked(reply.answer)
    named = [*re.findall(r"m\d+", " ".join(_MARK.findall(reply.answer))), *reply.used]
    invented = len({handle for handle in named if handle not in handles})
    used = tuple(dict.fromkeys(handles[handle] for handle in named if handle in handles))
    if not (reply.known and used and text):
        return None, invented
    supports = tuple(Support(handles[h], part) for h, part in marked if h in handles)
    return Answer(text, quoted=False, used=used, supports=supports), invented


def _unmarked(written: str) -> tuple[str, list[tuple[str, tuple[int, int]]]]:
    """(the text without marks, each mark's handle with the part of the text before it)."""
    text, marked = "", list[tuple[str, tuple[int, int]]]()
    start = at = 0
    for match in _MARK.finditer(written):
        said, at = written[at : match.start()], match.end()
        said = said if text else said.lstrip()
        text += said
        if re.search(r"\w", said):  # else the mark stands beside the one before
            start = len(text) - len(said.lstrip(" .,;。，；\n"))
        if start < len(text):
            marked += [(handle, (start, len(text))) for handle in re.findall(r"m\d+", match[1])]
    rest = written[at:].rstrip()
    return (text + rest if text else rest.lstrip()), marked


def memories(quotes: Sequence[Quote]) -> list[dict[str, str]]:
    """The quotes under their handles, as data."""
    return [_memory(_handle(index), quote) for index, quote in enumerate(quotes)]


def _memory(handle: str, quote: Quote) -> dict[str, str]:
    shown = dict(_facets(quote))
    return {"handle": handle, "text": quote.text[:_TEXT]} | shown


def _facets(quote: Quote) -> Iterator[tuple[str, str]]:
    if quote.speaker:
        yield "speaker", quote.speaker
    elif quote.owner:
        yield "owner", quote.owner
    if quote.said_at:
        yield "said_at", quote.said_at.date().isoformat()
    if quote.event:
        yield "about", _period(quote.event)
    if quote.until:
        yield "until", quote.until.date().isoformat()


def _period(span: TimeSpan) -> str:
    """One day, or the first and the last."""
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    return first.isoformat() if first >= last else f"{first}/{last}"


def _handle(index: int) -> str:
    return f"m{index + 1}"
