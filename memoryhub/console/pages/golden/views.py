"""Golden questions: the list, and the page on which one is put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import EDITOR, check_role, page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.pages.golden import queries
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.console.pages.replays.queries import REPLAY_STATE_CHOICE, load_replays
from memoryhub.errors import MemoryHubError
from memoryhub.golden import services
from memoryhub.golden.models import GoldenQuestion
from memoryhub.recall.render.results import MemoryItem
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope


@page_at("golden/", "golden")
@tenant_page()
def golden_list_page(request: ConsoleRequest) -> HttpResponse:
    """Of all spaces."""
    filters = read_filters(request.GET, (queries.load_golden_tag_choice(),))
    page = queries.load_golden_questions(filters)
    return render(
        request, "golden/list.html", {"filters": filters, "page": page, "all_spaces": True}
    )


@page_at("spaces/<uuid:space_id>/golden/", "space-golden")
@tenant_page()
def space_golden_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, (queries.load_golden_tag_choice(space),))
    page = queries.load_golden_questions(filters, space)
    latest = load_replays(read_filters({}, (REPLAY_STATE_CHOICE,)), space)
    return render_tab(
        request, space, "golden", "golden/space.html", filters=filters, page=page, runs=latest
    )


@dataclass(frozen=True, slots=True)
class GoldenQuestionForm:
    """What is being put together: the question, its tags, and what it should find."""

    text: str
    tags: str
    expected: list[str]

    @classmethod
    def read(cls, sent: Any) -> GoldenQuestionForm:
        values = (sent.get("text", ""), sent.get("tags", ""))
        text, tags = (value.replace("\0", "")[:4000] for value in values)
        return cls(text, tags, sent.getlist("expected")[: 2 * services.MOST_EXPECTED])

    @classmethod
    def from_question(cls, question: GoldenQuestion) -> GoldenQuestionForm:
        values = [f"{each['kind']}:{each['id']}" for each in question.expected]
        return cls(question.text, ", ".join(question.tags), values)

    @property
    def expected_pairs(self) -> list[services.MemoryReference]:
        pairs = (queries.parse_expected(value) for value in self.expected)
        return [(kind, row_id) for kind, row_id in pairs if row_id is not None]

    @property
    def tag_list(self) -> list[str]:
        return self.tags.replace("，", ",").split(",")


@page_at("spaces/<uuid:space_id>/golden/new", "space-golden-new")
@page_at("spaces/<uuid:space_id>/golden/<uuid:question_id>/", "space-golden-question")
@tenant_view()
def golden_question_page(
    request: ConsoleRequest, space_id: UUID, question_id: UUID | None = None
) -> HttpResponse:
    """A question with ticked memories, a new one or one that is there. Sent, it is saved, or taken
    away with `action=remove`; with `find`, memories are looked for."""
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, timezone.now())
        question = queries.get_question_or_404(space, question_id) if question_id else None
    if request.method == "POST" and "find" in request.POST:
        form = GoldenQuestionForm.read(request.POST)
        return _render_golden_question(request, space, question, form)
    if request.method == "POST":
        check_role(request, EDITOR)
        return _save_golden_question(request, space, question)
    asks = "find" in request.GET or "expected" in request.GET or "text" in request.GET
    form = (
        GoldenQuestionForm.read(request.GET)
        if asks or not question
        else GoldenQuestionForm.from_question(question)
    )
    return _render_golden_question(request, space, question, form)


def _save_golden_question(
    request: ConsoleRequest, space: Any, question: GoldenQuestion | None
) -> HttpResponse:
    form, now = GoldenQuestionForm.read(request.POST), timezone.now()
    try:
        if question and request.POST.get("action") == "remove":
            made = services.remove_question(space, question.id, request.actor, now)
            said = _("Removed: replays no longer ask it.")
        elif question:
            made = services.update_question(
                space,
                question.id,
                form.text,
                form.expected_pairs,
                request.actor,
                now,
                tags=form.tag_list,
            )
            said = _("Changed.")
        else:
            made = services.save_question(
                space, form.text, form.expected_pairs, request.actor, now, tags=form.tag_list
            )
            said = _("Saved: the next replay will ask it.")
    except MemoryHubError as error:
        return _render_golden_question(request, space, question, form, trouble=error.message)
    messages.success(request, said, extra_tags=build_correction_undo_tags(made))
    return redirect("space-golden", space_id=space.id)


def _render_golden_question(
    request: ConsoleRequest,
    space: Any,
    question: GoldenQuestion | None,
    form: GoldenQuestionForm,
    *,
    trouble: str = "",
) -> HttpResponse:
    # What was found stays in sight when saving is refused.
    asked = request.GET.keys() | request.POST.keys()
    looks = bool(form.text.strip()) and not asked.isdisjoint(("find", "looked"))
    found, insufficient = _find_golden_candidates(space, form) if looks else ([], False)
    with tenant_scope(request.tenant.id):
        chosen = _list_ticked_memories(space, question, form)
        ticked = {each.value for each in chosen}
        shown = render_tab(
            request,
            space,
            "golden_question",
            "golden/question.html",
            question=question,
            form=form,
            chosen=chosen,
            found=[(v, item) for v, item in found if v not in ticked],
            looked=looks,
            insufficient=insufficient,
            latest=queries.load_latest_ranks(question) if question else [],
            trouble=trouble,
        )
    shown.status_code = 422 if trouble else 200
    return shown


def _list_ticked_memories(
    space: Any, question: GoldenQuestion | None, form: GoldenQuestionForm
) -> list[queries.ExpectedMemory]:
    """What is ticked: also memories that are gone but were named before."""
    known = queries.load_question_rows([question])[0].expected if question else []
    there = queries.load_expected_memories(space, form.expected)
    all_named = {each.value: each for each in (*known, *there)}
    return [all_named[v] for v in dict.fromkeys(form.expected) if v in all_named]


def _find_golden_candidates(
    space: Any, form: GoldenQuestionForm
) -> tuple[list[tuple[str, MemoryItem]], bool]:
    """(memories that a search for the question finds now, whether it says that is too little).

    Looking leaves no trace. Asks models: no scope may be open.
    """
    result = search_memories(space, form.text, limit=10, reinforce=False)
    rows = [(f"{item.kind}:{item.id}", item) for item in result.items]
    return [row for row in rows if row[1].kind in queries.EXPECTED_KINDS], result.insufficient
