"""What is wrong, in words, and what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memoryhub.console.connecting import trouble
from memoryhub.console.queries.overview import Queue
from memoryhub.console.wording import plural


@dataclass(frozen=True, slots=True)
class Notice:
    """`level`: bad, warn, info or good. `url_name` and `query` lead to the rows behind it."""

    level: str
    text: str
    todo: str = ""
    command: str = ""
    url_name: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Hub:
    """`unmigrated`: steps the database is behind the code. `model_unset`: the tenant's engine wants
    a model that nobody named. `model_error`: what the latest question to a model failed with."""

    unmigrated: int = 0
    model_unset: bool = False
    model_error: str = ""


def notices(
    queue: Queue, *, llm: bool, empty: bool, unreached: int = 0, hub: Hub = Hub()
) -> list[Notice]:
    """The worst first. With nothing wrong, one that says so. `unreached`: webhooks that fail."""
    found = [*_unready(hub), *_wrong(queue), *_untold(unreached)] or [_fine(queue)]
    return [*found, *_hints(llm, empty)]


def _unready(hub: Hub) -> Iterator[Notice]:
    if hub.unmigrated:
        yield Notice(
            "bad",
            f"The database is {plural(hub.unmigrated, 'step')} behind the program.",
            "Pages and answers may fail until it is brought up to date:",
            "python manage.py migrate --database owner",
        )
    if hub.model_unset:
        yield Notice(
            "bad",
            "This tenant is read by a language model, and none is configured.",
            "Set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL, or choose the local engine.",
            "",
            "models",
        )
    elif hub.model_error:
        code, _, message = hub.model_error.partition(":")
        told = trouble(message.strip() or code, code)
        yield Notice(
            "warn",
            f"The latest question to a model failed: {told.what}.",
            told.todo,
            "",
            "usage",
            "status=failed",
        )


def _wrong(queue: Queue) -> Iterator[Notice]:
    if queue.unheard:
        yield Notice(
            "bad",
            f"No worker has been heard: {plural(queue.unheard, 'job')} due for over a minute.",
            "What was said is safe and is read as soon as a worker runs. Start one:",
            "celery -A memoryhub worker -P threads",
            "jobs",
            "state=open",
        )
    if queue.dead:
        yield Notice(
            "bad",
            f"{plural(queue.dead, 'job')} given up after the last attempt.",
            "Read the error, put its cause right, then retry.",
            "",
            "jobs",
            "state=dead",
        )
    if queue.over_budget:
        yield Notice(
            "warn",
            f"Today's budget for models is spent: {plural(queue.over_budget, 'job')} will go on "
            "tomorrow.",
            "Messages are taken in and search works without a model. An admin can raise the "
            "budget on the policy page, and retry the jobs.",
            "",
            "usage",
        )
    if queue.left_alone:
        yield Notice(
            "warn",
            f"A model keeps failing and is left alone for a while: "
            f"{plural(queue.left_alone, 'job')} put off.",
            "They go on by themselves. The failures are on the usage page.",
            "",
            "usage",
            "status=failed",
        )
    failed = queue.retrying - queue.over_budget - queue.left_alone
    if failed > 0:
        yield Notice(
            "warn",
            f"{plural(failed, 'job')} failed and will be tried again.",
            "Nothing to do unless it goes on.",
            "",
            "jobs",
            "state=retry",
        )


def _untold(unreached: int) -> Iterator[Notice]:
    if unreached:
        yield Notice(
            "warn",
            f"{plural(unreached, 'webhook')} can't be reached.",
            "What waits is sent once they answer. See the errors; one that was switched off is "
            "told nothing until somebody switches it on again.",
            "",
            "webhooks",
            "state=failing",
        )


def _fine(queue: Queue) -> Notice:
    if queue.open:
        return Notice(
            "good", f"Working: {plural(queue.open, 'job')} to do.", "", "", "jobs", "state=open"
        )
    return Notice("good", "All is well: everything that was said has been read.")


def _hints(llm: bool, empty: bool) -> Iterator[Notice]:
    if empty:
        yield Notice("info", "Nothing has been said yet.", "Say something in the chat.", "", "chat")
    if not llm:
        yield Notice(
            "info",
            "No language model is configured.",
            "Memories are made by the local engine, and the chat answers by quoting them. "
            "Set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL to change that.",
        )
