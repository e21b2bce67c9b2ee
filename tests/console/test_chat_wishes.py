"""Remembering and forgetting by button and by word, and conversations to begin with."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.chat import samples
from memoryhub.console.pages.chat.memory_requests import asks_to_forget_last, asks_to_keep
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact
from tests.console.conftest import ConsoleWorld
from tests.console.test_chat import make_turn_item, memory, show_chat_answer  # noqa: F401  # a fixture
from tests.support.factories import make_fact

HTMX = {"HX-Request": "true"}
pytestmark = pytest.mark.usefixtures("memory")


def list_console_turns(world: ConsoleWorld) -> list[Turn]:
    with tenant_scope(world.tenant.id):
        return list(Turn.objects.filter(session__channel="console").order_by("seq"))


def list_fact_texts(world: ConsoleWorld) -> set[str]:
    with tenant_scope(world.tenant.id):
        rows = Fact.objects.filter(space=world.space, retired_at=None)
        return set(rows.values_list("text", flat=True))


def test_remember_this_keeps_the_message_word_by_word(browser: Client, world: ConsoleWorld) -> None:
    page = show_chat_answer(browser, world, "Blue gate, third on the left.", keep="1")
    assert "Kept verbatim" in page
    assert "Kept, word by word." in page
    assert "Blue gate, third on the left." in list_fact_texts(world)
    with tenant_scope(world.tenant.id):
        seq = list_console_turns(world)[0].seq
        jobs = Job.objects.filter(step="derive", first_seq=seq).exclude(id=world.job.id)
        assert not jobs.exists(), "nothing is read"


@pytest.mark.parametrize(
    ("text", "reply"),
    [("Remember this: gate 4711.", "Kept, word by word."), ("请记住：4711。", "已逐字记住")],
)
def test_remember_this_in_words(
    browser: Client, world: ConsoleWorld, text: str, reply: str
) -> None:
    assert reply in show_chat_answer(browser, world, text)
    assert text in list_fact_texts(world)


@pytest.mark.parametrize(
    "text",
    ["Remember when we met?", "Do you remember my dog?", "Remember me?", "Hi"],
)
def test_what_is_talk_is_not_kept_word_by_word(text: str) -> None:
    assert not asks_to_keep(Turn(text=text, speaker="Nora", occurred_at=timezone.now()))


def test_a_message_is_remembered_afterwards_and_once(browser: Client, world: ConsoleWorld) -> None:
    show_chat_answer(browser, world, "Good morning")
    where = reverse("chat-keep", args=[world.space.id, list_console_turns(world)[0].id])
    for _ in range(2):
        assert "Remembered" in browser.post(where, headers=HTMX).content.decode()
    with tenant_scope(world.tenant.id):
        assert Fact.objects.filter(text="Good morning").count() == 1
    assert browser.post(where)["Location"] == reverse("chat-with", args=[world.space.id])


def test_replies_can_not_be_kept(browser: Client, world: ConsoleWorld) -> None:
    show_chat_answer(browser, world, "Good morning")
    where = reverse("chat-keep", args=[world.space.id, list_console_turns(world)[1].id])
    assert browser.post(where).status_code == 404


def test_forget_that_by_button_can_be_undone(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("chat-forget", args=[world.space.id, world.fact.id])
    page = browser.post(where, headers=HTMX).content.decode()
    assert "Forgotten" in page
    assert world.fact.text not in list_fact_texts(world)
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.filter(reason="forgotten in the chat").get()
    assert event.actor == world.admin.username
    assert reverse("space-event", args=[world.space.id, event.id]) in page
    browser.post(reverse("space-event", args=[world.space.id, event.id]))
    assert world.fact.text in list_fact_texts(world)


def test_forget_that_in_words_takes_back_the_last_message(
    browser: Client, world: ConsoleWorld
) -> None:
    show_chat_answer(browser, world, "I keep a goat.")
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "I keep a goat", list_console_turns(world)[0])
    page = show_chat_answer(browser, world, "Forget that.")
    assert "Forgotten. The history can bring it back." in page
    assert "I keep a goat" not in list_fact_texts(world)
    assert world.fact.text in list_fact_texts(world)
    assert "Nothing is remembered from your last message" in show_chat_answer(
        browser, world, "forget it"
    )


@pytest.mark.parametrize("text", ["忘掉刚才说的", "忘了这个吧", "No, forget that please!"])
def test_words_that_take_back(text: str) -> None:
    assert asks_to_forget_last(text)


@pytest.mark.parametrize("text", ["I forget that often.", "Forget that I keep bees.", "别忘了这个"])
def test_words_that_do_not(text: str) -> None:
    assert not asks_to_forget_last(text)


def test_the_same_message_sent_twice_is_one(browser: Client, world: ConsoleWorld) -> None:
    for _ in range(2):
        show_chat_answer(browser, world, "I bought a hive.", once="a1")
    assert [turn.role for turn in list_console_turns(world)] == ["user", "assistant"]


def test_nul_and_huge_messages(browser: Client, world: ConsoleWorld) -> None:
    show_chat_answer(browser, world, "a\0b")
    assert list_console_turns(world)[0].text == "ab"
    assert "Not sent: at most" in show_chat_answer(browser, world, "x" * 1_048_577)
    assert len(list_console_turns(world)) == 2


def test_without_scripts_the_strip_is_there_too(
    browser: Client,
    world: ConsoleWorld,
    memory: list[MemoryItem],  # noqa: F811  # the fixture
) -> None:
    memory.append(make_turn_item(world.turn, "fact", id=world.fact.id, text=world.fact.text))
    where = reverse("chat-say", args=[world.space.id])
    page = browser.post(where, {"text": "Bees?", "beside": "nothing"}).content.decode()
    assert "1.50 · meaning 1.00" in page
    assert "Without memory" in page
    assert 'value="nothing" selected' in page


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda each: each.name)
def test_a_sample_is_loaded_once(
    browser: Client, world: ConsoleWorld, sample: samples.SampleConversation
) -> None:
    for _ in range(2):
        answer = browser.post(reverse("chat-load"), {"sample": sample.name}, follow=True)
    page = answer.content.decode()
    assert f"Chat as {sample.person}" in page
    assert sample.example_messages[0] in page
    assert f"{sample.count} messages not read yet" in page
    with tenant_scope(world.tenant.id):
        space = Space.objects.get(subject=sample.subject)
        turns = Turn.objects.filter(space=space)
        assert turns.count() == sample.count
        assert not turns.filter(occurred_at__gt=timezone.now()).exists()


def test_an_unknown_sample_is_refused(browser: Client, world: ConsoleWorld) -> None:
    page = browser.post(reverse("chat-load"), {"sample": "<b>"}, follow=True).content.decode()
    assert "There is no such conversation" in page
