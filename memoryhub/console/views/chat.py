"""A person talks as a subject, and watches what is recalled and remembered."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from memoryhub.console import chatting
from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries import spaces, work
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space


@tenant_page()
def choose(request: ConsoleRequest) -> HttpResponse:
    """Whom to be. A new subject's space is made on the spot."""
    if request.method == "POST":
        return _enter(request)
    filters = read_filters(request.GET)
    page = page_of(spaces.matching(filters.q), filters.page)
    return render(request, "chat_choose.html", {"filters": filters, "page": page})


@tenant_page(role=Membership.Role.EDITOR)
def _enter(request: ConsoleRequest) -> HttpResponse:
    try:
        space = ensure_space(request.tenant.id, request.POST.get("subject", ""))
    except InvalidInput as error:
        messages.error(request, f"{error.message.capitalize()}.")
        return redirect("chat")
    return redirect("chat-with", space_id=space.id)


@tenant_page()
def talk(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = spaces.space_or_404(space_id, now)
    turns = work.conversation(space, chatting.session_name(request.user.id, now))
    return render(request, "chat.html", {"space": space, "turns": turns})


@require_POST
@tenant_view(role=Membership.Role.EDITOR)
def say(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Outside a scope: a model is asked. Without htmx the page is simply shown again."""
    with tenant_scope(request.tenant.id):
        space = Space.objects.filter(id=space_id).first()
    if space is None:
        raise Http404
    try:
        said = chatting.say(request, space, request.POST.get("text", ""), timezone.now())
    except MemoryHubError as error:
        return _refused(request, space, error)
    if not request.htmx:
        return redirect("chat-with", space_id=space.id)
    return render(request, "parts/chat_said.html", {"space": space, "said": said})


def _refused(request: ConsoleRequest, space: Space, error: MemoryHubError) -> HttpResponse:
    if request.htmx:
        return render(request, "parts/chat_refused.html", {"error": error})
    messages.error(request, f"Not sent: {error.message}.")
    return redirect("chat-with", space_id=space.id)


@tenant_page()
def decisions(request: ConsoleRequest, space_id: UUID, job_id: UUID) -> HttpResponse:
    """What became of a message; asked again and again until its job has ended."""
    job = work.job_or_404(job_id)
    if job.space_id != space_id:
        raise Http404
    return render(request, "parts/decisions.html", {"space": job.space, "job": job})
