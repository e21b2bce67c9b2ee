"""What the model is asked to send. Lists must be there; what is in them is judged one by one,
so that one bad item costs that item and not the reply (spec E13).
"""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from memoryhub.engines.llm.client.ladder import tighten_schema
from memoryhub.engines.types import AgentTool

MAX_TRAITS = 20  # of one reply
ItemT = TypeVar("ItemT")


def _coerce_text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        return _coerce_text(next(iter(value.values())))
    return str(value) if isinstance(value, int | float) else value


def _coerce_list(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


def _coerce_share(value: Any) -> Any:
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return 0.5


def _coerce_count(value: Any) -> Any:
    try:
        return max(0, int(float(value)))
    except (TypeError, ValueError, OverflowError):
        return 0


def _coerce_flag(value: Any) -> Any:
    return bool(value) if value is None or isinstance(value, int | float) else value


def _coerce_conflicts(value: Any) -> Any:
    """One conflict for a list of them; what is no object is none."""
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, dict)]


def _coerce_knowledge(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _fold_word(text: str) -> str:
    return text.strip().lower()


def _check_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it must not be empty")
    return text.strip()


def limit_items(count: int) -> Any:
    """Told to the model only: a small one repeats itself until it is cut off. What sends more all
    the same is cut by whoever reads it, and never costs the reply."""
    return Field(json_schema_extra={"maxItems": count})


def limit_length(characters: int) -> Any:
    """The same for a text."""
    return Field(json_schema_extra={"maxLength": characters})


Text = Annotated[str, BeforeValidator(_coerce_text)]
Word = Annotated[Text, AfterValidator(_fold_word)]  # one of a list: read whatever its case
Sentence = Annotated[Text, limit_length(500)]  # spec §16
WrittenText = Annotated[Text, AfterValidator(_check_not_blank)]
Summary = Annotated[Text, Field(min_length=1)]
Share = Annotated[float, BeforeValidator(_coerce_share)]
Flag = Annotated[bool, BeforeValidator(_coerce_flag)]
Items = Annotated[list[ItemT], BeforeValidator(_coerce_list)]
Texts = Items[Text]
Words = Annotated[Texts, limit_items(12)]  # spec §16


class _Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


# Claims, entities, relations and speech acts.


class PlainFactReply(_Aliased):
    """What is read of a fact under every policy.

    The message and its words come before the sentence made of them: a small model that writes the
    sentence first goes over what it was told before, and quotes the message for all of it.
    """

    source: Text = ""
    quote: Text = ""
    owner: Text = ""
    text: Sentence = ""
    verb: Text = ""
    object: Text = ""
    predicate: Text = ""
    kind: Text = "state"
    polarity: Text = "holds"
    correction: bool = False
    first: Text = Field("", alias="from")
    last: Text = Field("", alias="to")
    # Read where a prompt of one's own asks for them: each costs a small model as much as a fact.
    when: SkipJsonSchema[Text] = ""
    confidence: SkipJsonSchema[Share] = 0.8


class FactReply(PlainFactReply):
    """With all parts of AMA's five patterns (spec §7.1)."""

    subject: Text = ""
    second_object: Text = ""
    complement: Text = ""


class ChangeReply(_Aliased):
    """What a message changes of what is known."""

    do: Word = "add"
    targets: Texts = []
    source: Text = ""
    quote: Text = ""
    owner: Text = ""
    text: Sentence = ""
    relation: Text = ""
    value: Text = ""
    state: Word = "now"
    first: Text = Field("", alias="from")
    last: Text = Field("", alias="to")
    one_at_a_time: bool | None = None

    def build_fact(self) -> FactReply:
        """The claim that it makes. What was so on one day, and is told as past, is an event; what
        never was so, without what is right instead, is denied."""
        planned = self.state == "planned"
        is_event = self.state == "past" and self.first and self.last in ("", self.first)
        polarity = "ended" if self.do == "end" else "planned" if planned else "holds"
        return FactReply.model_validate(
            {
                "text": self.text,
                "source": self.source,
                "quote": self.quote,
                "owner": self.owner,
                "verb": self.relation.replace("_", " "),
                "object": self.value,
                "predicate": self.relation,
                "kind": "plan" if planned else "event" if is_event else "state",
                "polarity": "denied" if self.do == "wrong" and not self.value else polarity,
                "correction": self.do == "wrong",
                "from": self.first,
                "to": self.last,
                "confidence": 0.9,
            }
        )


class EntityReply(BaseModel):
    name: Text = ""
    type: Text = ""
    aliases: Annotated[Texts, limit_items(5)] = []


class RelationReply(BaseModel):
    source: Text = ""
    label: Text = ""
    target: Text = ""
    fact: int = -1


class ActReply(BaseModel):
    handle: Text = ""
    act: Text = ""


class NoteReply(BaseModel):
    keywords: Words = []
    tags: Words = []
    context: Sentence = ""


class ExchangeReply(NoteReply):
    exchange: Text = ""
    continues: bool | None = None
    new_topic: bool = False
    related: Texts = []


class PlainFactsReply(BaseModel):
    """What Mem0 asks for."""

    facts: Items[PlainFactReply]
    speech_acts: Items[ActReply] = []


class FactsReply(BaseModel):
    """What AMA asks for: `related` are the earlier messages that the new ones bear on."""

    facts: Items[FactReply]
    speech_acts: Items[ActReply] = []
    related: Texts = []


class EntitiesReply(BaseModel):
    entities: Items[EntityReply]


class RelationsReply(BaseModel):
    relations: Items[RelationReply]


class ChangesReply(BaseModel):
    """What one call is asked for; the classes below add what a policy wants beside it."""

    changes: Items[ChangeReply]


class _GraphPart(BaseModel):
    entities: Items[EntityReply] = []
    relations: Items[RelationReply] = []


class _ExchangesPart(BaseModel):
    exchanges: Items[ExchangeReply] = []

    @model_validator(mode="before")
    @classmethod
    def _adopt_single_exchange(cls, value: Any) -> Any:
        """Models asked about one exchange like to say of the whole what is its own."""
        if not isinstance(value, dict) or value.get("exchanges"):
            return value
        note: dict[str, Any] = value["note"] if isinstance(value.get("note"), dict) else {}
        own = {name: value[name] for name in ("new_topic", "continues", "related") if name in value}
        return value | ({"exchanges": [note | own]} if note or own else {})


class ConstructReply(_ExchangesPart, _GraphPart, ChangesReply):
    pass


class ChangesGraphReply(_GraphPart, ChangesReply):
    pass


class ChangesExchangesReply(_ExchangesPart, ChangesReply):
    pass


class VerdictReply(BaseModel):
    candidate: Text = ""
    op: Text = ""
    target: Text = ""
    text: Sentence = ""


class ResolveReply(BaseModel):
    decisions: Items[VerdictReply]


class PairReply(BaseModel):
    pair: Text = ""
    same: bool | None = None


class MergeReply(BaseModel):
    decisions: Items[PairReply]


# Notes: descriptors, links, and what neighbours learn (spec §4.4).


class DescriptionReply(BaseModel):
    handle: Text = ""
    keywords: Words = []
    tags: Words = []
    context: Sentence = ""


class NoteBuildReply(BaseModel):
    notes: Items[DescriptionReply]


class LinkReply(_Aliased):
    first: Text = Field("", alias="from")
    to: Text = ""
    kind: Text = "related"
    reason: Sentence = ""


class EvolutionReply(DescriptionReply):
    why: Sentence = ""


class LinkEvolveReply(BaseModel):
    """Either list may be left out when it was not asked for, but not both: that is no reply."""

    links: Items[LinkReply] = []
    neighbours: Items[EvolutionReply] = []

    @model_validator(mode="before")
    @classmethod
    def _check_not_empty(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.keys() & {"links", "neighbours"}:
            raise ValueError("it has neither `links` nor `neighbours`")
        return given


# Spans of dialogue: chains, themes, segments, episodes, digests.


class ChainedPage(BaseModel):
    handle: Text = ""
    continues: bool = False
    summary: Text = ""


class ChainReply(BaseModel):
    pages: Items[ChainedPage]


class ThemeReply(BaseModel):
    name: Text = ""
    keywords: Words = []
    text: Text = ""
    pages: Texts = []


class ThemesReply(BaseModel):
    themes: Items[ThemeReply]


class SegmentReply(BaseModel):
    text: Summary
    keywords: Words = []


class GateReply(BaseModel):
    open: bool
    cause: Text = "none"


class EpisodeReply(BaseModel):
    title: Text = ""
    text: WrittenText


class PauseReply(BaseModel):
    after: Text


class PredictionReply(BaseModel):
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


class SummaryReply(BaseModel):
    summary: Summary


# A person, and an agent's own steps.


class KnowledgeReplyItem(BaseModel):
    text: Text = ""
    evidence: Texts = []


LenientItem = Annotated[KnowledgeReplyItem, BeforeValidator(_coerce_knowledge)]


class KnowledgeReply(BaseModel):
    user: Items[LenientItem]
    agent: Items[LenientItem] = []


class CalibrationReply(BaseModel):
    statements: Items[LenientItem]


class TraitReplyItem(BaseModel):
    key: Text = ""
    level: Text = ""
    why: Text = ""
    evidence: Texts = []
    confidence: Share = 0.7


class TraitsReply(BaseModel):
    traits: Annotated[Items[TraitReplyItem], limit_items(MAX_TRAITS)]


class StepReply(BaseModel):
    """`arguments` are kept as they came: the tool's executor says what is wrong with them."""

    tool: Text = ""
    text: Text = ""
    arguments: Any = None


_PYTHON_TYPES: dict[str, Any] = {
    "array": list[str],
    "string": str,
    "integer": int,
    "boolean": bool,
    "number": float,
}


def build_step_reply(tools: list[AgentTool]) -> type[StepReply]:
    """A step's shape for these tools: their parameters together, so that an endpoint that
    decodes by schema can write arguments at all. Only its schema differs; it reads alike."""
    fields: dict[str, Any] = {}
    for tool in tools:
        for name, about in tool.parameters.get("properties", {}).items():
            known = _PYTHON_TYPES.get(str(about.get("type")), str)
            fields.setdefault(name, (known | None, None))
    schema = create_model("Arguments", **fields).model_json_schema()
    tighten_schema(schema)
    told = Field(json_schema_extra={"anyOf": [schema, {"type": "null"}]})
    return create_model("StepReply", __base__=StepReply, arguments=(Annotated[Any, told], None))


def serialize_arguments(arguments: Any) -> str:
    """Arguments as JSON text, without parameters left null; text stays the text it was."""
    if arguments is None:
        return "{}"
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict):
        arguments = {name: value for name, value in arguments.items() if value is not None}
    return json.dumps(arguments, ensure_ascii=False)


# Questions.


class AnswerReply(BaseModel):
    answer: Text
    used: Texts = []
    known: bool


class RouteReply(BaseModel):
    query: Text
    fine: Flag = False
    abstract: Flag = False
    event: Flag = False
    atomic: Flag = True
    want: Annotated[int, BeforeValidator(_coerce_count)] = 0


class ConflictReply(BaseModel):
    handles: Texts = []
    why: Text = ""


class JudgeReply(BaseModel):
    relevant: Texts
    conflicts: Annotated[list[ConflictReply], BeforeValidator(_coerce_conflicts)] = []
    enough: Flag


class RerankReply(BaseModel):
    order: Texts


class NamesReply(BaseModel):
    names: Texts


class TermsReply(BaseModel):
    terms: Words


class GradeReply(BaseModel):
    correct: Flag
    why: Text = ""
