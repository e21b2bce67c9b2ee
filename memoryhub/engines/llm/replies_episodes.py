"""What the model is asked to send about spans of dialogue."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from memoryhub.engines.llm.replies import Text, Texts

Written = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1)]


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
