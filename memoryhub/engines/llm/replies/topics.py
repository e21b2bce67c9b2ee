"""What the model is asked to send about spans of dialogue."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from memoryhub.engines.llm.replies.claims import (
    Text,
    Texts,
    Words,
    _coerce_list,
    _coerce_text,
    _ReplyPart,
)


def _check_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it must not be empty")
    return text.strip()


WrittenText = Annotated[Text, AfterValidator(_check_not_blank)]


class GateReply(BaseModel):
    open: bool
    cause: Text = "none"


class EpisodeReply(BaseModel):
    title: Text = ""
    text: WrittenText


class FoldReply(BaseModel):
    text: WrittenText


class DigestReply(BaseModel):
    text: WrittenText
    title: Text = ""
    points: Texts = []
    traits: Texts = []
    mood: Text = ""
    reply_strategy: Text = ""


# What the model is asked to send about chains, themes and segments.


class ChainedPage(_ReplyPart):
    handle: Text = ""
    continues: bool = False
    summary: Text = ""


class ChainReply(BaseModel):
    pages: Annotated[list[ChainedPage], BeforeValidator(_coerce_list)]


class ThemeReply(_ReplyPart):
    name: Text = ""
    keywords: Words = []
    text: Text = ""
    pages: Texts = []


class ThemesReply(BaseModel):
    themes: Annotated[list[ThemeReply], BeforeValidator(_coerce_list)]


class SegmentReply(BaseModel):
    text: Annotated[str, BeforeValidator(_coerce_text), Field(min_length=1)]
    keywords: Words = []
