"""How views tell OpenAPI about themselves: parameters, bodies, answers, problems and examples."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from api.columns import Resource
from api.idempotency import HEADER

FIELDS = OpenApiParameter("fields", str, description="Names of the columns to show, with commas.")
PAGE_PARAMETERS = [
    OpenApiParameter("limit", int, description="1 to 200 rows; 50 unless given."),
    OpenApiParameter("cursor", str, description="`next` of the page before."),
    OpenApiParameter("reverse", bool, description="Turns the order round."),
    OpenApiParameter("status", str, enum=["held", "all"], description="all: also what was."),
    OpenApiParameter("filter", str, description="A filter as JSON: AND, OR, NOT and operators."),
    FIELDS,
]
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag that was read."
)
ROW_PARAMETERS = [
    FIELDS,
    OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
]
WRITE_PARAMETERS = [
    OpenApiParameter(
        HEADER, str, OpenApiParameter.HEADER, description="Makes the request happen once."
    )
]
# Of writes on a row that has a version.
VERSIONED_PARAMETERS = [*WRITE_PARAMETERS, IF_MATCH]
PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["type", "status", "code", "detail"],
}


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # it has no types
    """Keys as OpenAPI has them. Registers itself by being defined."""

    target_class = "api.authentication.ApiKeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mh_…"}


def page_schema(resource: Resource) -> dict[str, Any]:
    """A page of a list, as JSON Schema."""
    return {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": resource.schema()},
            "total": {"type": "integer"},
            "next": {"type": ["string", "null"]},
        },
        "required": ["items", "total", "next"],
    }


class HubSchema(AutoSchema):
    """Reads `parameters`, `answers()`, `about`, `serializer_class` and `example` of a view."""

    def get_operation_id(self) -> str:
        """Of the path and the method: `facts_correct_post`, `facts_one_get`."""
        parts = [part for part in self.path.split("/")[3:] if not part.startswith("{")]
        one = ["one"] if self.path.endswith("}") else []
        return "_".join([*parts, *one, self.method.lower()]).replace("-", "_")

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        return str(getattr(self.view, "about", "") or super().get_description())

    def get_override_parameters(self) -> list[Any]:
        return list(getattr(self.view, "parameters", []))

    def get_request_serializer(self) -> Any:
        return getattr(self.view, "serializer_class", None) if self.method != "GET" else None

    def get_response_serializers(self) -> Any:
        answers = getattr(self.view, "answers", None)
        schema = answers() if answers else {"type": "object"}
        status = getattr(self.view, "answer_status", 200)
        return {status: OpenApiResponse(schema), "default": OpenApiResponse(PROBLEM)}

    def get_examples(self) -> list[Any]:
        example = getattr(self.view, "example", None)
        if not example or self.method == "GET":
            return []
        return [OpenApiExample("A request", value=example, request_only=True)]
