"""How views tell OpenAPI about themselves: parameters, bodies, answers, problems and examples."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from api.core.fields import (
    TIME_TEXT_SCHEMA,
    AtLeastOneSerializer,
    ExactlyOneSerializer,
    StrictSerializer,
    TextField,
    list_choice_fields,
)
from api.core.idempotency import IDEMPOTENCY_HEADER
from api.rows.columns import Resource
from api.schema.components import describe_answer
from api.schema.lists import describe_filter, describe_list_query

FIELDS_PARAMETER = OpenApiParameter(
    "fields", str, description="The columns to show, in an address with commas."
)
FILTER_PARAMETER = OpenApiParameter("filter", dict, description="Conditions, as JSON.")
CURSOR_PARAMETER = OpenApiParameter(
    "cursor", {"type": "string", "format": "cursor"}, description="`next` of the page before."
)
STATUS_PARAMETER = OpenApiParameter(
    "status", str, enum=["held", "all"], description="all: also what was."
)
PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        description="1 to 200 rows; 50 unless given.",
    ),
    CURSOR_PARAMETER,
    OpenApiParameter("reverse", bool, description="Turns the order round."),
    STATUS_PARAMETER,
    FILTER_PARAMETER,
    FIELDS_PARAMETER,
]
# Of rows of which nothing is held or not.
LOG_PARAMETERS = [each for each in PAGE_PARAMETERS if each is not STATUS_PARAMETER]
# The version that was read, with or without what was shown of it.
VERSION_TAG_PATTERN = r'"?([0-9]{1,9})(?:\.[0-9a-f]{16})?"?'
IF_MATCH_PARAMETER = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": rf"^(?:\*|{VERSION_TAG_PATTERN})$"},
    OpenApiParameter.HEADER,
    description="The ETag that was read.",
)
IF_NONE_MATCH_PARAMETER = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of what is known already."
)
ROW_PARAMETERS = [FIELDS_PARAMETER, IF_NONE_MATCH_PARAMETER]
WRITE_PARAMETERS = [
    OpenApiParameter(
        IDEMPOTENCY_HEADER,
        {"type": "string", "maxLength": 200, "pattern": "^[ -~]*$"},
        OpenApiParameter.HEADER,
        description="Makes the request happen once.",
    )
]
# Of writes on a row that has a version.
VERSIONED_PARAMETERS = [*WRITE_PARAMETERS, IF_MATCH_PARAMETER]
_PARAMETERS_OF_READS = [*PAGE_PARAMETERS, *ROW_PARAMETERS]
_PARAMETERS_OF_WRITES = VERSIONED_PARAMETERS
PROBLEM_MEDIA_TYPE = "application/problem+json"
PROBLEM_SCHEMA: dict[str, Any] = {
    "description": "What is wrong with a request: `code` for programs, `detail` for people.",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                "required": ["field", "message"],
            },
        },
    },
    "required": ["type", "status", "code", "detail"],
}


def build_time_parameter(name: str, about: str, *, required: bool = False) -> OpenApiParameter:
    """A time in the query string."""
    return OpenApiParameter(name, TIME_TEXT_SCHEMA, required=required, description=about)


class ApiKeyExtension(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # it has no types
    """Keys as OpenAPI has them. Registers itself by being defined."""

    target_class = "api.core.authentication.ApiKeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mh_…"}


class TextFieldExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # it has no types
    """The pattern of texts that have one. Registers itself by being defined."""

    target_class = TextField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        found = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        shape = self.target.shape
        if not shape:
            return dict(found)
        # Said twice, as readers that join pattern and length would take the empty text for valid.
        least = {} if re.search(shape, "") else {"minLength": 1}
        return {**found, **least, "pattern": shape}


class StrictExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # it has no types
    """Registers itself by being defined, as the next."""

    target_class: type[serializers.Serializer[Any]] = StrictSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        found: dict[str, Any] = auto_schema._map_serializer(
            self.target, direction, bypass_extensions=True
        )
        unread = "|".join(name for name in self.target.unread if name not in self.target.fields)
        others: dict[str, Any] = {"patternProperties": {f"^({unread})$": {}}} if unread else {}
        # What takes no body at all is told by there being none.
        return {**found, **others, "additionalProperties": False} if self.target.fields else found


class ExactlyOneExtension(StrictExtension):  # type: ignore[no-untyped-call]  # it has no types
    target_class: type[serializers.Serializer[Any]] = ExactlyOneSerializer
    priority = 1  # before the one above, which it is one of
    schema_keyword = "oneOf"

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        return {
            **super().map_serializer(auto_schema, direction),
            self.schema_keyword: [{"required": [name]} for name in list_choice_fields(self.target)],
        }


class AtLeastOneExtension(ExactlyOneExtension):  # type: ignore[no-untyped-call]  # it has no types
    target_class = AtLeastOneSerializer
    schema_keyword = "anyOf"


def list_parameters(view: Any, method: str) -> list[OpenApiParameter]:
    """Those of a view's parameters that a method takes: pages are read, and writes done once."""
    of_others = _PARAMETERS_OF_WRITES if method in ("GET", "HEAD") else _PARAMETERS_OF_READS
    return [each for each in getattr(view, "parameters", []) if each not in of_others]


class HubSchema(AutoSchema):
    """Reads `parameters`, `get_answer_type()` (by method and status), `answer_statuses`, `about`,
    `serializer_class` and `example` of a view; of one whose bodies are no JSON, `request_body` (by
    media type) and `answer_media_type`."""

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        """A shape says by itself whether the empty text is taken, which would fit twice beside it;
        and where a list must have items, an empty one is not."""
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]  # no types
        if not getattr(field, "allow_empty", True):
            schema["minItems"] = 1
        if getattr(field, "shape", "") and "oneOf" in schema:
            schema.update(schema.pop("oneOf")[0])

    def get_operation_id(self) -> str:
        """Of the path and the method: `facts_correct_post`, `facts_one_get`."""
        parts = [part for part in self.path.split("/")[3:] if not part.startswith("{")]
        one = ["one"] if self.path.endswith("}") else []
        return "_".join([*parts, *one, self.method.lower()]).replace("-", "_")

    def is_deprecated(self) -> bool:
        return bool(getattr(self.view, "deprecated", False))

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        return str(getattr(self.view, "about", "") or super().get_description())

    def get_override_parameters(self) -> list[Any]:
        return self._fit_to_resource(list_parameters(self.view, self.method))

    def _fit_to_resource(self, named: list[OpenApiParameter]) -> list[OpenApiParameter]:
        """With the columns that there are."""
        return [
            self._build_fields_parameter() if each is FIELDS_PARAMETER else each for each in named
        ]

    def get_operation(self, *args: Any) -> Any:
        """A filter in an address is JSON."""
        made = super().get_operation(*args)
        for each in (made or {}).get("parameters", ()):
            if each["name"] == FILTER_PARAMETER.name:
                shape = describe_filter(self._get_resource(), self.registry)
                del each["schema"]
                each["content"] = {"application/json": {"schema": shape}}
        return made

    def _build_fields_parameter(self) -> OpenApiParameter:
        names = list(self._get_resource().columns)
        return OpenApiParameter(
            "fields",
            {"type": "array", "items": {"type": "string", "enum": names}, "minItems": 1},
            style="form",
            explode=False,
            description=FIELDS_PARAMETER.description,
        )

    def _get_resource(self) -> Resource:
        found: Resource = self.view.resource  # type: ignore[attr-defined]  # of views of rows
        return found

    def get_request_serializer(self) -> Any:
        if members := getattr(self.view, "members", None):
            name = self.get_operation_id().removesuffix("_post").title().replace("_", "")
            asked = self._fit_to_resource(members)
            query = describe_list_query(name, self._get_resource(), asked, self.registry)
            return {"application/json": query}
        body = getattr(self.view, "request_body", None)
        taken = body or getattr(self.view, "serializer_class", None)
        return taken if self.method != "GET" else None

    def get_response_serializers(self) -> Any:
        view: Any = self.view
        return {
            (status, view.answer_media_type): OpenApiResponse(
                describe_answer(view.get_answer_type(self.method, status), self.registry)
            )
            for status in ((200,) if self.method == "GET" else view.answer_statuses)
        }

    def get_examples(self) -> list[Any]:
        example = getattr(self.view, "example", None)
        if not example or self.method == "GET":
            return []
        return [OpenApiExample("A request", value=example, request_only=True)]
