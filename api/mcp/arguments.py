"""What a tool may be told: typed, with limits, and nothing else. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from personas.blocks import MAX_LABEL_LENGTH


def _refuse_nuls(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "NUL characters can't be kept")
    return text


KeptText = Annotated[str, AfterValidator(_refuse_nuls)]
Subject = Annotated[KeptText, Field(max_length=200, description="Whose memory.")]
Text = Annotated[str, Field(min_length=1)]
# Limits belong to the type that has them: beside a null, pydantic writes them down as Python's
# words (`ge`), which no validator of JSON Schema knows.
TimeText = Annotated[str, Field(max_length=40)]
Moment = Annotated[
    TimeText | None,
    Field(description="As of then, ISO 8601."),
]
Since = Annotated[
    str | None,
    Field(max_length=40, description="It holds from then on, ISO 8601. Left out: now."),
]
Until = Annotated[str | None, Field(max_length=40, description="It holds until then.")]
SessionName = Annotated[
    str, Field(min_length=1, max_length=200, description="The conversation, by name.")
]
Reason = Annotated[str, Field(max_length=500, description="Kept beside it.")]
MemoryId = Annotated[UUID, Field(description="Its `id`, as a search shows it.")]


class ToolArguments(BaseModel):
    """Models send null for what they leave out; what nobody knows is refused by name."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None}

    def dump_set_fields(self, *names: str) -> dict[str, Any]:
        """Those of these that were given, as JSON has them; all without names."""
        chosen = set(names) or None
        return self.model_dump(mode="json", include=chosen, exclude_unset=True)


class SearchArguments(ToolArguments):
    subject: Subject = ""
    query: Text = Field(description="A question, or some words.")
    limit: int = Field(10, ge=1, le=100)
    kinds: list[Literal["fact", "turn", "note", "page", "episode"]] = Field(
        [], description="Only these kinds."
    )
    as_of: Moment = None
    include_past: bool = Field(False, description="Also facts that no longer hold.")
    sources: bool = Field(False, description="Also the messages that each memory rests on.")


class ContextArguments(ToolArguments):
    subject: Subject = ""
    query: Text = Field(description="What is to be answered.")
    budget_tokens: int = Field(2000, ge=100, le=100_000, description="Tokens of text at most.")
    session: str = Field("", max_length=200, description="The conversation, by name.")
    agent: str = Field("", max_length=120, description="Who asks, for its own blocks.")
    as_of: Moment = None


class MessageArguments(ToolArguments):
    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: Text
    speaker: str = Field("", max_length=120, description="Who says it, by name.")
    timestamp: TimeText | None = Field(
        None, description="When it was said, ISO 8601. Left out: now."
    )


class AddArguments(ToolArguments):
    subject: Subject = ""
    text: str = Field("", description="One message of the user; or send `messages`.")
    messages: list[MessageArguments] = Field(
        [], max_length=500, description="A dialogue, oldest first."
    )
    session: str = Field("", max_length=200, description="The conversation, by name.")
    agent: str = Field("", max_length=120, description="The agent who talks with the subject.")
    metadata: dict[str, Any] = Field({}, description="Kept with them.")
    wait: bool = Field(False, description="Answer once they are read.")
    dry_run: bool = Field(False, description="Say what would become of them; store nothing.")


class RememberArguments(ToolArguments):
    subject: Subject = ""
    text: Text = Field(description="One fact, a whole sentence, kept as it is.")
    role: Literal["user", "assistant", "tool"] = Field("user", description="Whose word it is.")
    predicate: str = Field(
        "", pattern="^$|^[a-z][a-z0-9_]{0,79}$", description="A key, as lives_in."
    )
    value: str = Field("", max_length=500, description="As Lisbon.")
    owner: str = Field("", max_length=120, description="Left out: the subject.")
    valid_from: Since = None
    valid_to: Until = None
    sources: list[UUID] = Field([], max_length=100, description="Ids of messages.")
    metadata: dict[str, Any] = Field({}, description="Kept as it is.")


class CorrectArguments(ToolArguments):
    subject: Subject = ""
    id: MemoryId
    text: Text = Field(description="The same fact in the right words.")
    reason: Reason = ""


# `ended` and `never_true`: as older agents say it; nobody learns them anew.
WayToForget = Annotated[
    Literal["forget", "end", "retract", "ended", "never_true"],
    WithJsonSchema({"type": "string", "enum": ["forget", "end", "retract"]}),
]


class ForgetArguments(ToolArguments):
    subject: Subject = ""
    id: MemoryId
    kind: Literal["fact", "note"] = "fact"
    how: WayToForget = Field(
        "forget",
        description="Of a fact. forget: hold it no longer; end: it was so, and is no more; "
        "retract: it was never so, and what it had replaced holds again.",
    )
    reason: Reason = ""


class HistoryArguments(ToolArguments):
    subject: Subject = ""
    id: UUID | None = Field(None, description="A fact's.")
    limit: int = Field(20, ge=1, le=100)
    cursor: str = Field("", max_length=500, description="`next` of the page before.")


class UndoArguments(ToolArguments):
    subject: Subject = ""
    event_id: UUID = Field(description="Of the change.")
    cascade: bool = Field(False, description="Undo later changes that built on it first.")
    dry_run: bool = Field(False, description="Say what would change; change nothing.")
    reason: Reason = ""


class BlocksArguments(ToolArguments):
    subject: Subject = ""
    agent: KeptText = Field("", max_length=120, description="Also this agent's own blocks.")


class EditBlockArguments(ToolArguments):
    subject: Subject = ""
    label: KeptText = Field(
        min_length=1, max_length=MAX_LABEL_LENGTH, description="The block's label."
    )
    append: KeptText = Field("", description="A line to add at its end.")
    old: KeptText = Field("", description="Exact words of it, that occur once.")
    new: KeptText = Field("", description="What stands in place of `old`; empty deletes it.")
    value: KeptText = Field("", description="All of it, written anew.")
    description: str = Field("", max_length=500, description="Of a new block: what belongs in it.")
    agent: KeptText = Field("", max_length=120, description="Who writes.")


class WindowArguments(ToolArguments):
    subject: Subject = ""
    session: SessionName


class OpenWindowArguments(WindowArguments):
    agent: str = Field("", max_length=120, description="Who sits at it, for its own blocks.")


class ToolCallArguments(ToolArguments):
    id: str = Field(min_length=1, max_length=120, description="What its result names.")
    name: str = Field(min_length=1, max_length=120)
    arguments: dict[str, Any] = {}


class WindowMessageArguments(MessageArguments):
    content: str = ""
    tool_calls: list[ToolCallArguments] = Field(
        [], max_length=64, description="Of an assistant: the tools that it calls."
    )
    tool_call_id: str = Field(
        "", max_length=120, description="Of a tool: the call that it answers."
    )


class AppendToWindowArguments(OpenWindowArguments):
    messages: list[WindowMessageArguments] = Field(
        min_length=1, max_length=500, description="Oldest first."
    )


class StepWindowArguments(OpenWindowArguments):
    text: str = Field("", description="What the user says now.")
    max_steps: Annotated[int, Field(ge=1, le=500)] | None = Field(
        None, description="Left out: as many as the policy has it."
    )


def build_input_schema(shape: type[ToolArguments]) -> dict[str, Any]:
    """As JSON Schema without titles, nulls and references, which some hosts trip over."""
    made = shape.model_json_schema()
    plain: dict[str, Any] = _simplify_schema(made, made.get("$defs", {}))
    return {"type": "object", "properties": {}} | plain


def _simplify_schema(node: Any, defs: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_simplify_schema(each, defs) for each in node]
    if not isinstance(node, dict):
        return node
    if "anyOf" in node:  # a null beside what is taken: the same as leaving it out
        node = {**node, **next(each for each in node["anyOf"] if each != {"type": "null"})}
        del node["anyOf"]
    if "$ref" in node:
        return _simplify_schema(defs[node["$ref"].rpartition("/")[2]], defs)
    left_out = {"title", "$defs"}
    if node.get("additionalProperties") is True:
        left_out.add("additionalProperties")
    if not node.get("default", True):
        left_out.add("default")  # that nothing is given is what leaving it out says
    if "properties" in node:
        left_out.add("description")  # our own docstrings, not the caller's business
    return {
        name: _simplify_schema(each, defs) for name, each in node.items() if name not in left_out
    }
