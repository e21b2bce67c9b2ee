"""What the model is asked to send about spans of dialogue."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel

from memoryhub.engines.llm.replies import Text, Texts


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("it must not be empty")
    return text.strip()


Written = Annotated[Text, AfterValidator(_written)]


class GateReply(BaseModel):
    open: bool
    cause: Text = "none"


class EpisodeReply(BaseModel):
    title: Text = ""
    text: Written


class FoldReply(BaseModel):
    text: Written


class DigestReply(BaseModel):
    text: Written
    title: Text = ""
    points: Texts = []
    traits: Texts = []
    mood: Text = ""
    reply_strategy: Text = ""
