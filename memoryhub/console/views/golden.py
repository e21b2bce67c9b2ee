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

from memoryhub.console.access import need, tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import golden as queries
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoing
from memoryhub.console.views.spaces import tab
from memoryhub.errors import MemoryHubError
from memoryhub.golden import services
from memoryhub.golden.models import GoldenQuestion
from memoryhub.recall.results import Item
from memoryhub.recall.services import search
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope

EDITOR = Membership.Role.EDITOR


@tenant_page()
def every(request: ConsoleRequest) -> HttpResponse:
    """Of all spaces."""
    filters = read_filters(request.GET, (queries.tag_choice(),))
    page = queries.questions(filters)
    return render(request, "golden.html", {"filters": filters, "page": page, "all_spaces": True})


@tenant_page()
def of_space(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, (queries.tag_choice(space),))
    page = queries.questions(filters, space)
    latest = queries.runs(read_filters({}, (queries.STATE,)), space)
    return tab(request, space, "golden", filters=filters, page=page, runs=latest)


@dataclass(frozen=True, slots=True)
class Form:
    """What is being put together: the question, its tags, and what it should find."""

    text: str
    tags: str
    expected: list[str]

    @classmethod
    def read(cls, sent: Any) -> Form:
        values = (sent.get("text", ""), sent.get("tags", ""))
        text, tags = (value.replace("\0", "")[:4000] for value in values)
        return cls(text, tags, sent.getlist("expected")[: 2 * services.MOST_EXPECTED])

    @classmethod
    def of(cls, question: GoldenQuestion) -> Form:
        values = [f"{each['kind']}:{each['id']}" for each in question.expected]
        return cls(question.text, ", ".join(question.tags), values)

    @property
    def named(self) -> list[services.Named]:
        pairs = (queries.parsed(value) for value in self.expected)
        return [(kind, row_id) for kind, row_id in pairs if row_id is not None]

    @property
    def labels(self) -> list[str]:
        return self.tags.replace("，", ",").split(",")


@tenant_view()
def new(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """A question with ticked memories. Sent, it is saved; with `find`, memories are looked for."""
    return _edited(request, space_id, None)


@tenant_view()
def one(request: ConsoleRequest, space_id: UUID, question_id: UUID) -> HttpResponse:
    """The same for one that is there. Sent with `action=remove`, it is taken away."""
    return _edited(request, space_id, question_id)


def _edited(request: ConsoleRequest, space_id: UUID, question_id: UUID | None) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, timezone.now())
        question = queries.question_or_404(space, question_id) if question_id else None
    if request.method == "POST" and "find" in request.POST:
        return _page(request, space, question, Form.read(request.POST))
    if request.method == "POST":
        need(request, EDITOR)
        return _sent(request, space, question)
    asks = "find" in request.GET or "expected" in request.GET or "text" in request.GET
    form = Form.read(request.GET) if asks or not question else Form.of(question)
    return _page(request, space, question, form)


def _sent(request: ConsoleRequest, space: Any, question: GoldenQuestion | None) -> HttpResponse:
    form, now = Form.read(request.POST), timezone.now()
    actor = request.user.get_username()
    try:
        if question and request.POST.get("action") == "remove":
            services.remove_question(space, question.id, actor, now)
            said = _("It is asked no more.")
        elif question:
            services.change_question(
                space, question.id, form.text, form.named, actor, now, tags=form.labels
            )
            said = _("Changed.")
        else:
            services.save_question(space, form.text, form.named, actor, now, tags=form.labels)
            said = _("Saved: the next replay asks it.")
    except MemoryHubError as error:
        return _page(request, space, question, form, trouble=error.message)
    with tenant_scope(request.tenant.id):
        messages.success(request, said, extra_tags=undoing(space, actor, now))
    return redirect("space-golden", space_id=space.id)


def _page(
    request: ConsoleRequest,
    space: Any,
    question: GoldenQuestion | None,
    form: Form,
    *,
    trouble: str = "",
) -> HttpResponse:
    looks = bool(form.text.strip()) and ("find" in request.GET or "find" in request.POST)
    found, insufficient = _found(space, form) if looks else ([], False)
    with tenant_scope(request.tenant.id):
        chosen = _chosen(space, question, form)
        ticked = {each.value for each in chosen}
        shown = tab(
            request,
            space,
            "golden_question",
            question=question,
            form=form,
            chosen=chosen,
            found=[(v, item) for v, item in found if v not in ticked],
            looked=looks,
            insufficient=insufficient,
            latest=queries.latest_ranks(question) if question else [],
            trouble=trouble,
        )
    shown.status_code = 422 if trouble else 200
    return shown


def _chosen(space: Any, question: GoldenQuestion | None, form: Form) -> list[queries.Named]:
    """What is ticked: also memories that are gone but were named before."""
    known = {each.value: each for each in queries.asked([question])[0].expected} if question else {}
    there = {each.value: each for each in queries.named(space, form.expected)}
    all_named = known | there
    return [all_named[v] for v in dict.fromkeys(form.expected) if v in all_named]


def _found(space: Any, form: Form) -> tuple[list[tuple[str, Item]], bool]:
    """(memories that a search for the question finds now, whether it says that is too little).

    Looking leaves no trace. Asks models: no scope may be open.
    """
    result = search(space, form.text, limit=10, reinforce=False)
    rows = [(f"{item.kind}:{item.id}", item) for item in result.items]
    return [row for row in rows if row[1].kind in queries.KINDS], result.insufficient
