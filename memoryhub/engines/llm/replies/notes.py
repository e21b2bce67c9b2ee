"""What the model sends of notes: descriptors, links, and what neighbours learn (spec §4.4)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memoryhub.engines.llm.replies.claims import Text, Words


def _coerce_list(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, dict) else value


class _ReplyPart(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


class DescriptionReply(_ReplyPart):
    handle: Text = ""
    keywords: Words = []
    tags: Words = []
    context: Text = ""


class NoteBuildReply(_ReplyPart):
    notes: Annotated[list[DescriptionReply], BeforeValidator(_coerce_list)]


class LinkReply(_ReplyPart):
    first: Text = Field("", alias="from")
    to: Text = ""
    kind: Text = "related"
    reason: Text = ""


class EvolutionReply(_ReplyPart):
    handle: Text = ""
    keywords: Words = []
    tags: Words = []
    context: Text = ""
    why: Text = ""


class LinkEvolveReply(_ReplyPart):
    """Either list may be left out when it was not asked for, but not both: that is no reply."""

    links: Annotated[list[LinkReply], BeforeValidator(_coerce_list)] = []
    neighbours: Annotated[list[EvolutionReply], BeforeValidator(_coerce_list)] = []

    @model_validator(mode="before")
    @classmethod
    def _check_not_empty(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.keys() & {"links", "neighbours"}:
            raise ValueError("it has neither `links` nor `neighbours`")
        return given
