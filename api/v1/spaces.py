"""Subjects, and what there is about each."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.fields import NameField, StrictBooleanField, StrictSerializer
from api.rows.answers import define_answer
from api.rows.columns import Resource, pick_columns
from api.rows.read_views import SingleRowView, get_space_at_path
from api.rows.write_views import SpaceWriteRequest, SpaceWriteView
from memoryhub.pipeline.counts import COUNTED_KINDS, annotate_counts
from memoryhub.pipeline.naming import set_subject_name
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import pause_space, resume_space


def _count_memories(space_id: UUID) -> dict[str, dict[str, int]]:
    rows: QuerySet[Any] = annotate_counts(Space.objects.filter(id=space_id), timezone.now())
    return {"counts": rows.values(*COUNTED_KINDS, "waiting", "failed").get()}


SPACES = Resource(
    "subject",
    "A subject with its space: everything that is remembered about it.",
    Space,
    pick_columns(Space, "id subject name timezone speakers created_at last_activity_at paused_at"),
    order=("subject", "id"),
    details=define_answer(
        "SpaceDetails",
        counts=define_answer(
            "SpaceCounts",
            "How many memories of each kind there are, and jobs that are not done.",
            **dict.fromkeys(COUNTED_KINDS, int),
            waiting=Annotated[
                int,
                Field(
                    description="Jobs that are due: of reading, and of what follows it, such as"
                    " topics, episodes and vectors. Of a search, `pending_turns` tells how many"
                    " messages are not read yet."
                ),
            ],
            failed=Annotated[int, Field(description="Jobs that were given up.")],
        ),
    ),
    load_details=_count_memories,
    space_path="id",
    component="Space",
)


class SpaceView(SingleRowView):
    resource = SPACES

    def get(self, request: Request, subject: str) -> Response:
        space = get_space_at_path(request, subject)
        with tenant_scope(space.tenant_id):
            return self.build_row_response(request, SPACES.select_rows(), space.id)


class NameSpaceSerializer(StrictSerializer):
    """`subject_name` "": none is known; it is learned from what they say again."""

    subject_name = NameField(max_length=120)


class NameSpaceView(SpaceWriteView):
    """What the subject is called in what is written from now on; what was written follows."""

    serializer_class = NameSpaceSerializer
    answer_outlives_erasure = False
    answer: ClassVar = define_answer("NamedSpace", "The subject as it is now.", space=SPACES)
    example: ClassVar = {"subject_name": "Priya"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        set_subject_name(deed.space, deed.given["subject_name"], deed.actor, deed.now)
        return {"space": deed.render_row(SPACES, deed.space.id)}


class PauseSpaceSerializer(StrictSerializer):
    """`paused` false: go on."""

    paused = StrictBooleanField(default=True)


class PauseSpaceView(SpaceWriteView):
    """Keep nothing of what is said, from now on or no longer. What is remembered stays."""

    serializer_class = PauseSpaceSerializer
    answer_outlives_erasure = True
    answer: ClassVar = define_answer("PausedSpace", "The subject as it is now.", space=SPACES)
    example: ClassVar = {"paused": False}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        if deed.given["paused"]:
            pause_space(deed.space, deed.actor, deed.now)
        else:
            resume_space(deed.space)
        return {"space": deed.render_row(SPACES, deed.space.id)}
