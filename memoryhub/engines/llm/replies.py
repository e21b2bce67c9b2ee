"""What the model is asked to send. Lists must be there; what is in them is judged one by one,
so that one bad item costs that item and not the reply (spec E13)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, dict) and len(value) == 1:
        return _text(next(iter(value.values())))
    return str(value) if isinstance(value, int | float) else value


def _listed(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


def _share(value: Any) -> Any:
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return 0.5


Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[Text], BeforeValidator(_listed)]


def at_most(count: int) -> Any:
    """Told to the model only: a small one repeats itself until it is cut off. What sends more all
    the same is cut by whoever reads it, and never costs the reply."""
    return Field(json_schema_extra={"maxItems": count})


Words = Annotated[Texts, at_most(12)]  # spec §16


class _Part(BaseModel):
    model_config = ConfigDict(populate_by_name=True)


class FactReply(_Part):
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
    confidence: Annotated[float, BeforeValidator(_share)] = 0.8


class EntityReply(_Part):
    name: Text = ""
    type: Text = ""
    aliases: Annotated[Texts, at_most(5)] = []


class RelationReply(_Part):
    source: Text = ""
    label: Text = ""
    target: Text = ""
    fact: int = -1


class ActReply(_Part):
    handle: Text = ""
    act: Text = ""


class NoteReply(_Part):
    keywords: Words = []
    tags: Words = []
    context: Text = ""


class ExchangeReply(NoteReply):
    exchange: Text = ""
    continues: bool | None = None
    new_topic: bool = False
    related: Texts = []


class FactsReply(_Part):
    facts: Annotated[list[FactReply], BeforeValidator(_listed)]
    speech_acts: Annotated[list[ActReply], BeforeValidator(_listed)] = []


class EntitiesReply(_Part):
    entities: Annotated[list[EntityReply], BeforeValidator(_listed)]


class RelationsReply(_Part):
    relations: Annotated[list[RelationReply], BeforeValidator(_listed)]


class ConstructReply(_Part):
    facts: Annotated[list[FactReply], BeforeValidator(_listed)]
    entities: Annotated[list[EntityReply], BeforeValidator(_listed)] = []
    relations: Annotated[list[RelationReply], BeforeValidator(_listed)] = []
    speech_acts: Annotated[list[ActReply], BeforeValidator(_listed)] = []
    exchanges: Annotated[list[ExchangeReply], BeforeValidator(_listed)] = []

    @model_validator(mode="before")
    @classmethod
    def _of_the_only_one(cls, value: Any) -> Any:
        """Models asked about one exchange like to say of the whole what is its own."""
        if not isinstance(value, dict) or value.get("exchanges"):
            return value
        note: dict[str, Any] = value["note"] if isinstance(value.get("note"), dict) else {}
        own = {name: value[name] for name in ("new_topic", "continues", "related") if name in value}
        return value | ({"exchanges": [note | own]} if note or own else {})


class AnswerReply(_Part):
    answer: Text
    used: Texts = []
    known: bool


class SummaryReply(_Part):
    summary: Annotated[str, BeforeValidator(_text), Field(min_length=1)]
