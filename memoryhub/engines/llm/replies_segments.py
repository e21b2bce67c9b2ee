"""What the model is asked to send about chains, themes and segments."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from memoryhub.engines.llm.replies import Text, Texts, Words, _listed, _Part, _text


class ChainedPage(_Part):
    handle: Text = ""
    continues: bool = False
    summary: Text = ""


class ChainReply(BaseModel):
    pages: Annotated[list[ChainedPage], BeforeValidator(_listed)]


class ThemeReply(_Part):
    name: Text = ""
    keywords: Words = []
    text: Text = ""
    pages: Texts = []


class ThemesReply(BaseModel):
    themes: Annotated[list[ThemeReply], BeforeValidator(_listed)]


class SegmentReply(BaseModel):
    text: Annotated[str, BeforeValidator(_text), Field(min_length=1)]
    keywords: Words = []
