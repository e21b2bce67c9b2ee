"""What the model is asked to send. Lists must be there; what is in them is judged one by one,
so that one bad item costs that item and not the reply (spec E13).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


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


Text = Annotated[str, BeforeValidator(_coerce_text)]
Texts = Annotated[list[Text], BeforeValidator(_coerce_list)]


def limit_items(count: int) -> Any:
    """Told to the model only: a small one repeats itself until it is cut off. What sends more all
    the same is cut by whoever reads it, and never costs the reply."""
    return Field(json_schema_extra={"maxItems": count})


Words = Annotated[Texts, limit_items(12)]  # spec §16


class _ReplyPart(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


class FactReply(_ReplyPart):
    text: Text = ""
    source: Text = ""
    quote: Text = ""
    owner: Text = ""
    subject: Text = ""
    verb: Text = ""
    object: Text = ""
    second_object: Text = ""
    complement: Text = ""
    predicate: Text = ""
    kind: Text = "state"
    polarity: Text = "holds"
    correction: bool = False
    first: Text = Field("", alias="from")
    last: Text = Field("", alias="to")
    when: Text = ""
    confidence: Annotated[float, BeforeValidator(_coerce_share)] = 0.8


class ChangeReply(_ReplyPart):
    """What a message changes of what is known; as a claim, the same as a `FactReply`."""

    do: Text = "add"
    targets: Texts = []
    source: Text = ""
    quote: Text = ""
    owner: Text = ""
    text: Text = ""
    relation: Text = ""
    value: Text = ""
    state: Text = "now"
    first: Text = Field("", alias="from")
    last: Text = Field("", alias="to")
    one_at_a_time: bool | None = None

    def to_fact(self) -> FactReply:
        """The claim that it makes. What was so on some day, and is told as past, is an event."""
        planned, over = self.state == "planned", self.state == "past"
        is_event = over and self.first and self.last in ("", self.first)
        polarity = "planned" if planned else "ended" if self.do == "end" else "holds"
        return FactReply.model_construct(
            text=self.text,
            source=self.source,
            quote=self.quote,
            owner=self.owner,
            verb=self.relation.replace("_", " "),
            object=self.value,
            predicate=self.relation,
            kind="plan" if planned else "event" if is_event else "state",
            polarity="denied" if self.do == "wrong" and not self.value else polarity,
            correction=self.do == "wrong",
            first=self.first,
            last=self.last,
            confidence=0.9,
        )


class EntityReply(_ReplyPart):
    name: Text = ""
    type: Text = ""
    aliases: Annotated[Texts, limit_items(5)] = []


class RelationReply(_ReplyPart):
    source: Text = ""
    label: Text = ""
    target: Text = ""
    fact: int = -1


class ActReply(_ReplyPart):
    handle: Text = ""
    act: Text = ""


class NoteReply(_ReplyPart):
    keywords: Words = []
    tags: Words = []
    context: Text = ""


class ExchangeReply(NoteReply):
    exchange: Text = ""
    continues: bool | None = None
    new_topic: bool = False
    related: Texts = []


class FactsReply(_ReplyPart):
    facts: Annotated[list[FactReply], BeforeValidator(_coerce_list)]
    speech_acts: Annotated[list[ActReply], BeforeValidator(_coerce_list)] = []


class EntitiesReply(_ReplyPart):
    entities: Annotated[list[EntityReply], BeforeValidator(_coerce_list)]


class RelationsReply(_ReplyPart):
    relations: Annotated[list[RelationReply], BeforeValidator(_coerce_list)]


class ConstructReply(_ReplyPart):
    """`facts` where a call of its own asks for them, `changes` where one call asks for all."""

    facts: list[FactReply] = []
    changes: Annotated[list[ChangeReply], BeforeValidator(_coerce_list)] = []
    entities: Annotated[list[EntityReply], BeforeValidator(_coerce_list)] = []
    relations: Annotated[list[RelationReply], BeforeValidator(_coerce_list)] = []
    speech_acts: list[ActReply] = []
    exchanges: Annotated[list[ExchangeReply], BeforeValidator(_coerce_list)] = []

    @model_validator(mode="before")
    @classmethod
    def _adopt_single_exchange(cls, value: Any) -> Any:
        """Models asked about one exchange like to say of the whole what is its own."""
        if not isinstance(value, dict) or value.get("exchanges"):
            return value
        note: dict[str, Any] = value["note"] if isinstance(value.get("note"), dict) else {}
        own = {name: value[name] for name in ("new_topic", "continues", "related") if name in value}
        return value | ({"exchanges": [note | own]} if note or own else {})


class AnswerReply(_ReplyPart):
    answer: Text
    used: Texts = []
    known: bool


class SummaryReply(_ReplyPart):
    summary: Annotated[str, BeforeValidator(_coerce_text), Field(min_length=1)]


# Replies of the purposes that decide about claims: lenient item by item (spec E13).


class VerdictReply(BaseModel):
    candidate: Text = ""
    op: Text = ""
    target: Text = ""
    text: Text = ""
    reason: Text = ""


class ResolveReply(BaseModel):
    decisions: Annotated[list[VerdictReply], BeforeValidator(_coerce_list)]


class PairReply(BaseModel):
    pair: Text = ""
    same: bool | None = None


class MergeReply(BaseModel):
    decisions: Annotated[list[PairReply], BeforeValidator(_coerce_list)]
