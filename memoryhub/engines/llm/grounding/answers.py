"""A grounded answer: what the model is shown, and what of its reply rests on what it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from memoryhub.engines.llm.replies import AnswerReply
from memoryhub.engines.local.language import detect_read_language
from memoryhub.engines.types import AnswerSupport, GroundedAnswer, Quote, TimeSpan

_NOTHING_FOUND = {"zh": "没有找到相关的记忆。", "en": "I found nothing about that."}
_MAX_MEMORY_CHARACTERS = 2000  # characters of a memory (spec §16)
# Handles behind a statement, as asked for; some models take other brackets.
_HANDLE_MARK = re.compile(r"\s*[\[(【（]\s*(m\d+(?:\s*[,;、，]\s*m\d+)*)\s*[\])】）]")


def build_abstention(question: str, wording: str = "") -> GroundedAnswer:
    known = detect_read_language(question)
    said = _HANDLE_MARK.sub("", wording).strip()
    return GroundedAnswer(said or _NOTHING_FOUND[known], quoted=False)


def ground_answer(reply: AnswerReply, offered: int) -> tuple[GroundedAnswer | None, int]:
    """(the answer with the handles taken out, or None if it rests on nothing; invented handles).

    What stands before a handle rests on it; a handle that is only listed supports all of it.
    """
    handles = {_format_handle(index): index for index in range(offered)}
    text, marked = _strip_handle_marks(reply.answer)
    named = [*re.findall(r"m\d+", " ".join(_HANDLE_MARK.findall(reply.answer))), *reply.used]
    invented = len({handle for handle in named if handle not in handles})
    used = tuple(dict.fromkeys(handles[handle] for handle in named if handle in handles))
    if not (reply.known and used and text):
        return None, invented
    supports = tuple(AnswerSupport(handles[h], part) for h, part in marked if h in handles)
    return GroundedAnswer(text, quoted=False, used=used, supports=supports), invented


def _strip_handle_marks(written: str) -> tuple[str, list[tuple[str, tuple[int, int]]]]:
    """(the text without marks, each mark's handle with the part of the text before it)."""
    text, marked = "", list[tuple[str, tuple[int, int]]]()
    start = at = 0
    for match in _HANDLE_MARK.finditer(written):
        said, at = written[at : match.start()], match.end()
        said = said if text else said.lstrip()
        text += said
        if re.search(r"\w", said):  # else the mark stands beside the one before
            start = len(text) - len(said.lstrip(" .,;。，；\n"))
        if start < len(text):
            marked += [(handle, (start, len(text))) for handle in re.findall(r"m\d+", match[1])]
    rest = written[at:].rstrip()
    return (text + rest if text else rest.lstrip()), marked


def render_memories(quotes: Sequence[Quote]) -> list[dict[str, str]]:
    """The quotes under their handles, as data."""
    return [_render_memory(_format_handle(index), quote) for index, quote in enumerate(quotes)]


def _render_memory(handle: str, quote: Quote) -> dict[str, str]:
    shown = dict(_list_facets(quote))
    return {"handle": handle, "text": quote.text[:_MAX_MEMORY_CHARACTERS]} | shown


def _list_facets(quote: Quote) -> Iterator[tuple[str, str]]:
    if quote.speaker:
        yield "speaker", quote.speaker
    elif quote.owner:
        yield "owner", quote.owner
    if quote.said_at:
        yield "said_at", quote.said_at.date().isoformat()
    if quote.event:
        yield "about", _format_period(quote.event)
    if quote.note:
        yield "note", quote.note
    if quote.until:
        yield "until", quote.until.date().isoformat()


def _format_period(span: TimeSpan) -> str:
    """One day, or the first and the last."""
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    return first.isoformat() if first >= last else f"{first}/{last}"


def _format_handle(index: int) -> str:
    return f"m{index + 1}"
