"""What questions take."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from api.core.fields import (
    NOT_BLANK,
    IntegerField,
    NameField,
    StrictBooleanField,
    TextField,
    TimestampField,
)
from memoryhub.policies.schema import Channel, SelectMode
from memoryhub.recall.render.pack import LEAST_TOKENS, MOST_TOKENS
from memoryhub.recall.render.results import MemoryKind


class RecallSerializer(serializers.Serializer[Any]):
    """What every question may say, however it is answered."""

    subject = TextField(max_length=200, shape=NOT_BLANK)
    query = TextField(shape=NOT_BLANK)
    session = NameField(required=False, default="", max_length=200)
    channels = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(Channel)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    select = serializers.ChoiceField(
        choices=get_args(SelectMode), required=False, allow_null=True, default=None
    )
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = StrictBooleanField(required=False, default=False)
    deep = StrictBooleanField(required=False, default=False)
    explain = StrictBooleanField(required=False, default=False)


class SearchSerializer(RecallSerializer):
    limit = IntegerField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(MemoryKind)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    budget_tokens = IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=LEAST_TOKENS,
        max_value=MOST_TOKENS,
    )


class ContextSerializer(RecallSerializer):
    agent = NameField(required=False, default="", max_length=120)
    budget_tokens = IntegerField(
        required=False, default=2000, min_value=LEAST_TOKENS, max_value=MOST_TOKENS
    )


class AnswerSerializer(serializers.Serializer[Any]):
    """A question about a subject. `session`: the conversation it is asked in, by name."""

    subject = TextField(max_length=200, shape=NOT_BLANK)
    question = TextField(shape=NOT_BLANK)
    session = NameField(required=False, default="", max_length=200)
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = StrictBooleanField(required=False, default=False)
    deep = StrictBooleanField(required=False, default=False)
    limit = IntegerField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    budget_tokens = IntegerField(required=False, default=2000, min_value=100, max_value=1_000_000)
    explain = StrictBooleanField(required=False, default=False)
