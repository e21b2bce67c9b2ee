"""What the model sends of notes: descriptors, links, and what neighbours learn (spec §4.4)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memoryhub.engines.llm.replies import Text, Words


def _listed(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, dict) else value


class _Part(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


class DescriptionReply(_Part):
    handle: Text = ""
    keywords: Words = []
    tags: Words = []
    context: Text = ""


class NoteBuildReply(_Part):
    notes: Annotated[list[DescriptionReply], BeforeValidator(_listed)]


class LinkReply(_Part):
    first: Text = Field("", alias="from")
    to: Text = ""
    kind: Text = "related"
    reason: Text = ""


class EvolutionReply(_Part):
    handle: Text = ""
    keywords: Words = []
    tags: Words = []
    context: Text = ""
    why: Text = ""


class LinkEvolveReply(_Part):
    """Either list may be left out when it was not asked for, but not both: that is no reply."""

    links: Annotated[list[LinkReply], BeforeValidator(_listed)] = []
    neighbours: Annotated[list[EvolutionReply], BeforeValidator(_listed)] = []

    @model_validator(mode="before")
    @classmethod
    def _says_something(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.keys() & {"links", "neighbours"}:
            raise ValueError("it has neither `links` nor `neighbours`")
        return given
