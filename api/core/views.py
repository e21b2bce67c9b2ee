"""What all views of the API have in common. Views parse, call one service, and answer."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.views import APIView

from api.core.authentication import get_request_key
from api.schema.openapi import list_parameters
from memoryhub.dialogues.models import Session
from memoryhub.errors import InvalidInput, MemoryHubError, NotFound
from memoryhub.tenants.database.prepared import load_prepared_rows
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject


class HubView(APIView):
    """Methods are those that have a scope; OPTIONS is answered with 405 like the others."""

    http_method_names = ("get", "head", "post")
    scopes: ClassVar[dict[str, str]] = {}
    # Where other programs' clients may send parameters of their own.
    takes_any_parameters = False
    # What it answers with, for the OpenAPI description: a type, or the schema of what is no JSON.
    answer: ClassVar[Any] = None
    answer_statuses: ClassVar[tuple[int, ...]] = (200,)  # of what is not only read
    answer_media_type = "application/json"

    def get_answer_type(self, method: str, status: int) -> Any:
        return self.answer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises InvalidInput for a parameter that is none: a misspelt one would do nothing."""
        super().initial(request, *args, **kwargs)
        if not self.takes_any_parameters:
            self._check_parameters(request)

    def _check_parameters(self, request: Request) -> None:
        taken = list_parameters(self, str(request.method))
        known = [each.name for each in taken if each.location == OpenApiParameter.QUERY]
        if unknown := sorted(set(request.query_params) - set(known)):
            told = f"known: {', '.join(known)}" if known else "none is known"
            raise InvalidInput(f"no such parameter; {told}", field=unknown[0][:60])

    def read_body(self, request: Request) -> Any:
        return read_body(request)

    def finalize_response(self, *args: Any, **kwargs: Any) -> Any:
        """With what the key has left of its minute."""
        response = super().finalize_response(*args, **kwargs)
        rate = getattr(self.request, "rate", None)
        for name, value in rate.build_headers().items() if rate else ():
            response[name] = value
        return response


def read_body(request: Request) -> Any:
    """The JSON object sent. Raises MemoryHubError 411 for a body of unknown length.

    A WSGI request without a length reads as empty, which would blame the caller's fields.
    """
    if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
        raise MemoryHubError("Send a Content-Length.", code="length_required", status=411)
    return request.data


def get_bound_space(request: Request) -> Space | None:
    """The only space that a key of one subject reaches: for it, the others do not exist (E30)."""
    key = get_request_key(request)
    if key.space_id is None:
        return None
    with tenant_scope(key.tenant_id):
        return Space.objects.get(id=key.space_id)


def get_whole_tenant_id(request: Request) -> UUID:
    """The key's tenant. Raises NotFound for a key of one subject."""
    key = get_request_key(request)
    if key.space_id is not None:
        raise NotFound("A key of one subject sees nothing of the tenant.")
    return key.tenant_id


def check_subjects_visible(request: Request, *subjects: str) -> Space | None:
    """The only space that the key reaches, if it is of one. Raises NotFound for other subjects."""
    bound = get_bound_space(request)
    if bound is not None and any(clean_subject(each) != bound.subject for each in subjects):
        raise NotFound("There is no such subject.")
    return bound


def get_space_by_subject(request: Request, subject: str) -> Space:
    """Raises NotFound for another's, and for one the key is not bound to."""
    key = get_request_key(request)
    with tenant_scope(key.tenant_id):
        values = [key.tenant_id, clean_subject(subject)]
        found = load_prepared_rows(Space, "tenant_id = %s AND subject = %s", values)
    if not found or key.space_id not in (None, found[0].id):
        raise NotFound("There is no such subject.")
    return found[0]


def get_session_id(space: Space, name: str) -> UUID | None:
    """Raises NotFound."""
    if not name:
        return None
    with tenant_scope(space.tenant_id):
        session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        raise NotFound("There is no such session.", field="session")
    return session.id


class NoSuchPath(APIView):
    """Of views of paths that do not exist."""

    authentication_classes = ()
    permission_classes = ()
    refusal = "There is no such resource."

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound(self.refusal)


class NotFoundView(NoSuchPath, HubView):
    """Answers like everything else: problem+json."""

    schema = None
