"""The chat with a model that answers word by word, and what it is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from pytest_django import Settings

from memoryhub.console.pages.chat import exchanges, stream
from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.policies.services import set_policy
from memoryhub.recall.render.results import SearchResult
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.console.test_chat import STREAM, make_turn_item, post_chat_message, show_chat_answer
from tests.support.openai_server import OpenAIServer, ScriptedReply, make_chunk


@pytest.fixture
def upstream(settings: Settings, world: ConsoleWorld) -> Iterator[OpenAIServer]:
    """The model of the world's tenant, without tools: it replies in plain words."""
    world.tenant.engine = Tenant.Engine.LLM
    with tenant_scope(world.tenant.id):
        world.tenant.save()
    set_policy(world.tenant.id, actor="test", overrides={"core.tools": False})
    with OpenAIServer() as running:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = running.url, "sk-upstream"
        settings.LLM_MODEL = "large"
        yield running


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, world: ConsoleWorld) -> list[dict[str, Any]]:
    """Every search of the chat; each finds the fact of the world."""
    searches: list[dict[str, Any]] = []
    text = f"{world.space.subject} keeps bees in Ghent"  # as a fact is read from "I keep bees"
    fact = make_turn_item(world.turn, "fact", id=world.fact.id, text=text)

    def search(space: Space, query: str, **options: Any) -> SearchResult:
        searches.append(options)
        return SearchResult([fact], insufficient=False, took_ms={"embed": 2.0})

    monkeypatch.setattr(exchanges, "search_memories", search)
    return searches


def list_console_turns(world: ConsoleWorld) -> list[Turn]:
    with tenant_scope(world.tenant.id):
        return list(Turn.objects.filter(session__channel="console").order_by("seq"))


def list_streamed_words(told: list[tuple[str, Any]], side: str) -> list[str]:
    return [data[1] for name, data in told if name == "word" and data[0].endswith(f"-{side}")]


def test_all_of_an_answer_is_in_the_language_it_was_asked_for_in(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_render_part", lambda *part: translation.get_language())
    where = reverse("chat-say", args=[world.space.id])
    headers = {"Accept": "text/event-stream", "Accept-Language": "zh-CN"}
    answer = browser.post(where, {"text": "I keep bees."}, headers=headers)
    with translation.override("en"):  # as in another thread
        body = b"".join(answer).decode()
        assert translation.get_language() == "en"
    assert body.count("event: put") > 1
    assert '"zh-hans"' in body
    assert '"en"' not in body


def test_words_come_one_by_one_and_name_what_they_rest_on(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("In Ghent [f1].")
    told = post_chat_message(browser, world, "Where are my bees?")
    assert list_streamed_words(told, "with") == ["In ", "Ghent ", "[f1]."]
    assert [name for name, _ in told][-1] == "done"
    _, reply = list_console_turns(world)
    assert (reply.role, reply.text) == ("assistant", "In Ghent [f1].")
    ((_, system, message),) = [
        (r.body["model"], *(m["content"] for m in r.body["messages"])) for r in upstream.requests
    ]
    assert "Never make a memory up" in system
    assert message.endswith("\n\nWhere are my bees?")
    assert f"[f1] 2026-05-12 {world.space.subject} keeps bees in Ghent" in message
    pieces = {at: html for name, data in told if name == "put" for at, _, html in data}
    took = next(html for at, html in pieces.items() if at.startswith("took-"))
    assert "Answered from" in took
    assert f"expected=fact:{world.fact.id}" in took
    assert "<dd>10, 5</dd>" in took
    assert "first word" in took
    with tenant_scope(world.tenant.id):
        call = ModelCall.objects.get(purpose="chat")
    assert (call.model, call.prompt_tokens, call.completion_tokens) == ("large", 10, 5)


def test_the_conversation_so_far_is_shown_to_the_model(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("Hello Nora.", "Bees.")
    show_chat_answer(browser, world, "Good morning")
    show_chat_answer(browser, world, "What do I keep?")
    roles = [(m["role"], m["content"][-15:]) for m in upstream.requests[1].body["messages"][1:]]
    assert roles == [
        ("user", "Good morning"),
        ("assistant", "Hello Nora."),
        ("user", "What do I keep?"),
    ]


def test_E16_a_model_that_is_down_leaves_the_answer_to_the_rules(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat(ScriptedReply(status=503, content="overloaded"))
    page = show_chat_answer(browser, world, "Who keeps bees?")
    assert "Answered by rules instead: the model failed" in page
    assert "overloaded" in page
    assert "Ghent" in list_console_turns(world)[1].text
    assert list_console_turns(world)[1].metadata["quoted"] is True


def test_why_a_model_failed_is_kept_in_english_and_told_in_the_readers_language(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("")
    where = reverse("chat-say", args=[world.space.id])
    headers = {**STREAM, "Accept-Language": "zh-CN"}
    answer = browser.post(where, {"text": "Who keeps bees?"}, headers=headers)
    assert "模型没有给出回复" in b"".join(answer).decode()
    with tenant_scope(world.tenant.id):
        call = ModelCall.objects.get(purpose="chat")
    assert call.error == "engine_failed: The model gave no reply"


def test_a_spent_budget_asks_no_model(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    set_policy(
        world.tenant.id,
        actor="test",
        overrides={"core.tools": False, "llm.budget_tokens_per_day": 0},
    )
    page = show_chat_answer(browser, world, "Who keeps bees?")
    assert "Today&#x27;s budget for models is spent" in page
    assert upstream.requests == []


def test_what_was_said_before_the_model_broke_off_is_kept(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    half = [make_chunk({"content": "In "}), make_chunk({"content": "Ghe"})]
    upstream.script_chat(ScriptedReply(events=half, is_cut=True))
    page = show_chat_answer(browser, world, "Where are my bees?")
    assert "Ended early" in page
    assert [turn.text for turn in list_console_turns(world)] == ["Where are my bees?", "In Ghe"]
    with tenant_scope(world.tenant.id):
        assert ModelCall.objects.get(purpose="chat").status == "failed"


def test_who_leaves_in_the_middle_finds_what_was_said(
    world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("One two three four")
    request: Any = SimpleNamespace(user=world.admin, tenant=world.tenant)
    exchange = exchanges.start_exchange(
        request, world.space, exchanges.ChatInput("Count"), timezone.now()
    )
    with closing(exchange.stream_events()) as events:  # type: ignore[type-var]  # a generator
        next(each for each in events if getattr(each, "text", "") == "two ")
    assert [turn.text.strip() for turn in list_console_turns(world)] == ["Count", "One two"]


def test_beside_it_the_same_without_memory_and_nothing_of_that_is_kept(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("In Ghent [f1].", "I do not know.")
    told = post_chat_message(browser, world, "Where are my bees?", beside="nothing")
    assert list_streamed_words(told, "beside") == ["I ", "do ", "not ", "know."]
    first, second = (request.body["messages"] for request in upstream.requests)
    assert first[0] == second[0]
    assert second[1:] == [{"role": "user", "content": "Where are my bees?"}]
    assert [turn.text for turn in list_console_turns(world)] == [
        "Where are my bees?",
        "In Ghent [f1].",
    ]
    assert len(asked) == 1


def test_beside_it_another_preset_which_strengthens_nothing(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("In Ghent.", "In Ghent, too.")
    page = show_chat_answer(browser, world, "Where are my bees?", beside="rag")
    assert "Preset Plain retrieval" in page
    assert asked[1]["policy"].preset == "rag"
    assert asked[1]["inspect"] is True
    assert len(list_console_turns(world)) == 2


def test_words_of_a_model_become_no_markup(
    browser: Client, world: ConsoleWorld, upstream: OpenAIServer, asked: list[Any]
) -> None:
    upstream.script_chat("<script>alert(1)</script>", "<img src=x>")
    told = post_chat_message(browser, world, "<b>Hello</b>", beside="nothing")
    html = "".join(each[2] for name, data in told if name == "put" for each in data)
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>Hello" not in html
