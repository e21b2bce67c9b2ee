"""What is wrong, in words, and what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.text.nouns import GroupedCount
from memoryhub.console.pages.models.endpoint_check import describe_problem
from memoryhub.console.pages.overview.queries import QueueState

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class HealthNotice:
    """`level`: bad, warn, info or good. `url_name` and `query` lead to the rows behind it."""

    level: str
    text: StrOrPromise
    todo: StrOrPromise = ""
    command: str = ""
    url_name: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class HubState:
    """`unmigrated`: steps the database is behind the code. `model_unset`: the tenant's engine wants
    a model that nobody named. `model_error`: what the latest question to a model failed with."""

    unmigrated: int = 0
    model_unset: bool = False
    model_error: str = ""


# What is told of a number, if there is any.
_COUNTED_NOTICES = {
    "unmigrated": HealthNotice(
        "bad",
        ngettext_lazy(
            "The database is %(count)s migration behind the program.",
            "The database is %(count)s migrations behind the program.",
            "count",
        ),
        _("Pages and responses may fail until it is updated:"),
        "python manage.py migrate --database owner",
    ),
    "unheard": HealthNotice(
        "bad",
        ngettext_lazy(
            "No worker is responding: %(count)s job overdue by more than a minute.",
            "No worker is responding: %(count)s jobs overdue by more than a minute.",
            "count",
        ),
        _("Messages are safely stored and are read as soon as a worker runs. Start one:"),
        "celery -A memoryhub worker -P threads",
        "jobs",
        "state=open",
    ),
    "dead": HealthNotice(
        "bad",
        ngettext_lazy(
            "%(count)s job was given up after its last attempt.",
            "%(count)s jobs were given up after their last attempt.",
            "count",
        ),
        _("Read the error, fix the cause, then retry."),
        url_name="jobs",
        query="state=dead",
    ),
    "over_budget": HealthNotice(
        "warn",
        ngettext_lazy(
            "Today's model budget is used up: %(count)s job will continue tomorrow.",
            "Today's model budget is used up: %(count)s jobs will continue tomorrow.",
            "count",
        ),
        _("Messages are still accepted, and search works without a model. An admin can "
"raise the budget in the settings, under models, and retry the jobs."),
        url_name="usage",
    ),
    "left_alone": HealthNotice(
        "warn",
        ngettext_lazy(
            "A model keeps failing, so calls are paused for a while: %(count)s job "
"postponed.",
            "A model keeps failing, so calls are paused for a while: %(count)s jobs "
"postponed.",
            "count",
        ),
        _("They resume automatically. The failures are listed on the usage page."),
        url_name="usage",
        query="status=failed",
    ),
    "failed": HealthNotice(
        "warn",
        ngettext_lazy(
            "%(count)s job failed and will be retried.",
            "%(count)s jobs failed and will be retried.",
            "count",
        ),
        _("Nothing to do unless it persists."),
        url_name="jobs",
        query="state=retry",
    ),
    "unreached": HealthNotice(
        "warn",
        ngettext_lazy(
            "%(count)s webhook can't be reached.", "%(count)s webhooks can't be reached.", "count"
        ),
        _("Pending events are sent once they respond. Check the errors; a webhook that "
"is switched off receives nothing until it is switched on again."),
        url_name="webhooks",
        query="state=failing",
    ),
    "open": HealthNotice(
        "good",
        ngettext_lazy("Working: %(count)s job to do.", "Working: %(count)s jobs to do.", "count"),
        url_name="jobs",
        query="state=open",
    ),
}  # fmt: skip


def list_notices(
    queue: QueueState, *, llm: bool, empty: bool, unreached: int = 0, hub: HubState = HubState()
) -> list[HealthNotice]:
    """The worst first. With nothing wrong, one that says so. `unreached`: webhooks that fail."""
    found = [
        *_tell_counts(unmigrated=hub.unmigrated),
        *_list_model_notices(hub),
        *_tell_counts(
            unheard=queue.unheard,
            dead=queue.dead,
            over_budget=queue.over_budget,
            left_alone=queue.left_alone,
            failed=queue.retrying - queue.over_budget - queue.left_alone,
            unreached=unreached,
        ),
    ]
    well = HealthNotice("good", _("All is well: every message has been read."))
    return [*(found or list(_tell_counts(open=queue.open)) or [well]), *_list_hints(llm, empty)]


def _tell_counts(**counts: int) -> Iterator[HealthNotice]:
    for name, count in counts.items():
        if count > 0:
            notice = _COUNTED_NOTICES[name]
            yield replace(notice, text=notice.text % {"count": GroupedCount(count)})


def _list_model_notices(hub: HubState) -> Iterator[HealthNotice]:
    if hub.model_unset:
        yield HealthNotice(
            "bad",
            _("This tenant uses a language model, but none is configured."),
            _("Set an endpoint and a model, or choose the local engine."),
            url_name="models",
        )
    elif hub.model_error:
        code, _colon, message = hub.model_error.partition(":")
        told = describe_problem(message.strip() or code, code)
        said = gettext("The latest model call failed: %(what)s.") % {"what": told.what}
        yield HealthNotice("warn", said, told.todo, url_name="usage", query="status=failed")


def _list_hints(llm: bool, empty: bool) -> Iterator[HealthNotice]:
    if empty:
        said, todo = _("No messages yet."), _("Send a message in the chat.")
        yield HealthNotice("info", said, todo, url_name="chat")
    if not llm:
        yield HealthNotice(
            "info",
            _("No language model is configured."),
            _(
                "The local engine creates memories, and the chat answers by quoting them. The "
                "hub's operator can set up a model."
            ),
            url_name="models",
        )
