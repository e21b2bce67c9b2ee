"""What is wrong, in words, and what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memoryhub.console.pages.models.endpoint_errors import describe_problem
from memoryhub.console.pages.overview.queries import QueueState


@dataclass(frozen=True, slots=True)
class HealthNotice:
    """`level`: bad, warn, info or good. `url_name` and `query` lead to the rows behind it."""

    level: str
    text: str
    todo: str = ""
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


def list_notices(
    queue: QueueState, *, llm: bool, empty: bool, unreached: int = 0, hub: HubState = HubState()
) -> list[HealthNotice]:
    """The worst first. With nothing wrong, one that says so. `unreached`: webhooks that fail."""
    found = [
        *_list_setup_notices(hub),
        *_list_stuck_notices(queue),
        *_list_postponed_notices(queue),
        *_list_webhook_notices(unreached),
    ] or [_build_good_notice(queue)]
    return [*found, *_list_hints(llm, empty)]


def _list_setup_notices(hub: HubState) -> Iterator[HealthNotice]:
    if hub.unmigrated:
        yield HealthNotice(
            "bad",
            _format_count(
                ngettext(
                    "The database is %(count)s step behind the program.",
                    "The database is %(count)s steps behind the program.",
                    hub.unmigrated,
                ),
                hub.unmigrated,
            ),
            _("Pages and answers may fail until it is brought up to date:"),
            "python manage.py migrate --database owner",
        )
    if hub.model_unset:
        yield HealthNotice(
            "bad",
            _("This tenant is read by a language model, and none is configured."),
            _("Set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL, or choose the local engine."),
            "",
            "models",
        )
    elif hub.model_error:
        code, _colon, message = hub.model_error.partition(":")
        told = describe_problem(message.strip() or code, code)
        yield HealthNotice(
            "warn",
            _("The latest question to a model failed: %(what)s.") % {"what": told.what},
            told.todo,
            "",
            "usage",
            "status=failed",
        )


def _list_stuck_notices(queue: QueueState) -> Iterator[HealthNotice]:
    if queue.unheard:
        yield HealthNotice(
            "bad",
            _format_count(
                ngettext(
                    "No worker has been heard: %(count)s job due for over a minute.",
                    "No worker has been heard: %(count)s jobs due for over a minute.",
                    queue.unheard,
                ),
                queue.unheard,
            ),
            _("What was said is safe and is read as soon as a worker runs. Start one:"),
            "celery -A memoryhub worker -P threads",
            "jobs",
            "state=open",
        )
    if queue.dead:
        yield HealthNotice(
            "bad",
            _format_count(
                ngettext(
                    "%(count)s job given up after the last attempt.",
                    "%(count)s jobs given up after the last attempt.",
                    queue.dead,
                ),
                queue.dead,
            ),
            _("Read the error, put its cause right, then retry."),
            "",
            "jobs",
            "state=dead",
        )


def _list_postponed_notices(queue: QueueState) -> Iterator[HealthNotice]:
    if queue.over_budget:
        yield HealthNotice(
            "warn",
            _format_count(
                ngettext(
                    "Today's budget for models is spent: %(count)s job will go on tomorrow.",
                    "Today's budget for models is spent: %(count)s jobs will go on tomorrow.",
                    queue.over_budget,
                ),
                queue.over_budget,
            ),
            _(
                "Messages are taken in and search works without a model. An admin can raise the "
                "budget on the policy page, and retry the jobs."
            ),
            "",
            "usage",
        )
    if queue.left_alone:
        yield HealthNotice(
            "warn",
            _format_count(
                ngettext(
                    "A model keeps failing and is left alone for a while: %(count)s job put off.",
                    "A model keeps failing and is left alone for a while: %(count)s jobs put off.",
                    queue.left_alone,
                ),
                queue.left_alone,
            ),
            _("They go on by themselves. The failures are on the usage page."),
            "",
            "usage",
            "status=failed",
        )
    failed = queue.retrying - queue.over_budget - queue.left_alone
    if failed > 0:
        yield HealthNotice(
            "warn",
            _format_count(
                ngettext(
                    "%(count)s job failed and will be tried again.",
                    "%(count)s jobs failed and will be tried again.",
                    failed,
                ),
                failed,
            ),
            _("Nothing to do unless it goes on."),
            "",
            "jobs",
            "state=retry",
        )


def _list_webhook_notices(unreached: int) -> Iterator[HealthNotice]:
    if unreached:
        yield HealthNotice(
            "warn",
            _format_count(
                ngettext(
                    "%(count)s webhook can't be reached.",
                    "%(count)s webhooks can't be reached.",
                    unreached,
                ),
                unreached,
            ),
            _(
                "What waits is sent once they answer. See the errors; one that was switched off is "
                "told nothing until somebody switches it on again."
            ),
            "",
            "webhooks",
            "state=failing",
        )


def _build_good_notice(queue: QueueState) -> HealthNotice:
    if queue.open:
        told = ngettext(
            "Working: %(count)s job to do.", "Working: %(count)s jobs to do.", queue.open
        )
        return HealthNotice("good", _format_count(told, queue.open), "", "", "jobs", "state=open")
    return HealthNotice("good", _("All is well: everything that was said has been read."))


def _format_count(told: str, count: int) -> str:
    return told % {"count": f"{count:,}"}


def _list_hints(llm: bool, empty: bool) -> Iterator[HealthNotice]:
    if empty:
        yield HealthNotice(
            "info", _("Nothing has been said yet."), _("Say something in the chat."), "", "chat"
        )
    if not llm:
        yield HealthNotice(
            "info",
            _("No language model is configured."),
            _(
                "Memories are made by the local engine, and the chat answers by quoting them. "
                "Set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL to change that."
            ),
        )
