"""Replies of the purposes that decide about claims: lenient item by item (spec E13)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from memoryhub.engines.llm.replies import Text, _listed


class VerdictReply(BaseModel):
    candidate: Text = ""
    op: Text = ""
    target: Text = ""
    text: Text = ""
    reason: Text = ""


class ResolveReply(BaseModel):
    decisions: Annotated[list[VerdictReply], BeforeValidator(_listed)]


class PairReply(BaseModel):
    pair: Text = ""
    same: bool | None = None


class MergeReply(BaseModel):
    decisions: Annotated[list[PairReply], BeforeValidator(_listed)]
