"""The chat: the message is safe first, then answered from memory, then remembered."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.chat import exchanges
from memoryhub.console.templatetags.console import on_day
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import GroundedAnswer, Quote
from memoryhub.errors import EngineError
from memoryhub.inference import selection
from memoryhub.pipeline.models import Job
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.render.results import MemoryItem, SearchResult, TurnSource
from memoryhub.recall.services import SearchLimit
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.console.conftest import ConsoleWorld
from tests.support.factories import (
    MAY,
    make_fact,
    make_job,
    make_member,
    make_note,
    make_proposal,
    make_receipt,
    make_turns,
)

STREAM = {"Accept": "text/event-stream"}


class Parrot:
    """Answers with the first quote."""

    reads_by_rules = False

    def answer_question(
        self, question: str, quotes: list[Quote], *, subject: str = ""
    ) -> GroundedAnswer:
        return (
            GroundedAnswer(f"You said: {quotes[0].text}", True, (0,))
            if quotes
            else GroundedAnswer("?", True)
        )


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, world: ConsoleWorld) -> list[MemoryItem]:
    """What search finds; the test fills it."""
    found: list[MemoryItem] = []

    def search(
        space: Space, query: str, *, limit: SearchLimit, asked_by: SearchCaller, **options: Any
    ) -> SearchResult:
        shown = found[:limit] if isinstance(limit, int) else found
        return SearchResult(shown, insufficient=not found)

    monkeypatch.setattr(exchanges, "search_memories", search)
    monkeypatch.setattr(selection, "select_engine", lambda tenant, policy: Parrot())
    return found


def make_turn_item(turn: Turn, kind: str = "turn", **values: object) -> MemoryItem:
    source = TurnSource(turn.id, "D1:1", turn.speaker, turn.text, turn.occurred_at)
    whose = {"owner" if kind == "fact" else "speaker": turn.speaker}
    values = {"id": turn.id, "text": turn.text, "sources": (source,)} | whose | values
    return MemoryItem(kind=kind, score=1.5, parts={"dense": 1.0}, occurred_at=MAY, **values)  # type: ignore[arg-type]  # test values


def read_stream_events(answer: Any) -> list[tuple[str, Any]]:
    """(name, data) of every event of a streamed answer."""
    assert answer["Content-Type"] == "text/event-stream"
    text = b"".join(answer.streaming_content).decode()
    blocks = [block.split("\n") for block in text.split("\n\n") if block]
    return [(name.removeprefix("event: "), json.loads(data[6:])) for name, data in blocks]


def post_chat_message(
    browser: Client, world: ConsoleWorld, text: str, **form: str
) -> list[tuple[str, Any]]:
    address = reverse("chat-say", args=[world.space.id])
    return read_stream_events(browser.post(address, {"text": text, **form}, headers=STREAM))


def show_chat_answer(browser: Client, world: ConsoleWorld, text: str, **form: str) -> str:
    """What the page shows in the end: later pieces stand in the place of earlier ones."""
    pieces: dict[str, str] = {}
    for name, data in post_chat_message(browser, world, text, **form):
        for at, _, html in data if name == "put" else [data] if name == "refused" else []:
            pieces[at] = html
    return "".join(pieces.values())


def test_both_sides_are_stored_and_read_later(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    memory.append(make_turn_item(world.turn))
    page = show_chat_answer(browser, world, "Where are my bees?")
    assert "You said: Listen, I keep bees in Ghent" in page
    assert "quoted from memory" in page
    with tenant_scope(world.tenant.id):
        mine, reply = Turn.objects.filter(session__channel="console").order_by("seq")
        assert (mine.role, mine.text) == ("user", "Where are my bees?")
        rests_on = {"quoted": True, "cites": [str(world.turn.id)]}
        assert (reply.role, reply.metadata) == ("assistant", rests_on)
        assert Job.objects.filter(first_seq=mine.seq, state="queued").exists()


def test_what_was_recalled_is_shown_with_its_reasons(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    memory.append(make_turn_item(world.turn, "fact", id=world.fact.id, text=world.fact.text))
    page = show_chat_answer(browser, world, "Bees?")
    assert reverse("space-fact", args=[world.space.id, world.fact.id]) in page
    assert "1.50 · meaning 1.00" in page


def test_quoted_replies_are_not_quoted_again(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    memory.append(make_turn_item(world.turn))
    show_chat_answer(browser, world, "Where are my bees?")
    with tenant_scope(world.tenant.id):
        mine, reply = Turn.objects.filter(session__channel="console").order_by("seq")
    echo = [
        make_turn_item(reply),
        make_turn_item(mine),
        make_turn_item(reply, "fact"),
        make_turn_item(reply, "note"),
        make_turn_item(world.turn),
    ]
    memory[:] = echo
    page = show_chat_answer(browser, world, "Tell me again.")
    assert page.count('class="score"') == 1


@pytest.mark.parametrize(
    ("wish", "reply"),
    [
        ("Please forget that I keep bees in Ghent.", "I will look for what you mean."),
        ("请忘记我的地址", "正在查找你指的内容"),
    ],
)
def test_what_should_be_forgotten_is_not_said_again(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], wish: str, reply: str
) -> None:
    """E20."""
    memory.append(make_turn_item(world.turn))
    page = show_chat_answer(browser, world, wish)
    assert reply in page
    assert "You said" not in page
    assert "quoted from memory" not in page
    assert 'class="score"' not in page
    with tenant_scope(world.tenant.id):
        mine, theirs = Turn.objects.filter(session__channel="console").order_by("seq")
        assert mine.text == wish
        assert theirs.metadata == {"quoted": False}


def test_never_forgetting_is_no_wish_to_forget(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    page = show_chat_answer(browser, world, "I will never forget my first hive.")
    assert "what you mean" not in page


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("I live in Ghent.", "Noted: you live in Ghent."),
        ("我住在上海。", "记下了：你住在上海。"),
        ("Hi, I'm Nora, nice to meet you!", "Nice to meet you, Nora."),
        ("thanks!", "You are welcome."),
        ("谢谢！", "不客气。"),
        ("It is what it is.", "I noted no fact."),
    ],
)
def test_a_statement_is_acknowledged_with_what_was_noted(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], said: str, reply: str
) -> None:
    memory.append(make_turn_item(world.turn))
    page = show_chat_answer(browser, world, said)
    assert reply in page
    assert "You said" not in page


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("What colour is my door?", "I don’t know that yet."),
        ("Can you recommend a lunch for me?", "Without a language model"),
        ("帮我写一首诗", "没有接入语言模型"),
    ],
)
def test_what_nothing_answers_is_said_so(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch, asked: str, reply: str
) -> None:
    found = SearchResult([], insufficient=True)
    monkeypatch.setattr(exchanges, "search_memories", lambda *args, **options: found)
    assert reply in show_chat_answer(browser, world, asked)
    # Nor does it say that it is quoted when the conversation is opened again.
    page = browser.get(reverse("chat-with", args=[world.space.id])).content.decode()
    assert reply in page
    assert "quoted from memory" not in page


@pytest.mark.parametrize("state", ["pending", "processed"])
@pytest.mark.parametrize(
    ("said", "asked", "reply"),
    [
        ("My door is green.", "What colour is my door?", "I am still reading"),
        ("我家的门是绿色的。", "我家的门是什么颜色？", "我还在读"),
    ],
)
def test_what_is_not_read_yet_is_said_to_be_read(
    browser: Client,
    world: ConsoleWorld,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    asked: str,
    reply: str,
    state: str,
) -> None:
    found = SearchResult([], insufficient=True)
    monkeypatch.setattr(exchanges, "search_memories", lambda *args, **options: found)
    show_chat_answer(browser, world, said)
    with tenant_scope(world.tenant.id):
        Turn.objects.filter(space=world.space).update(state=state)
    assert (reply in show_chat_answer(browser, world, asked)) is (state == "pending")


def test_what_is_being_read_changes_nothing_without_memory(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    show_chat_answer(browser, world, "My door is green.")
    asked = "What colour is my door?"
    with_memory = "I am still reading"
    page = show_chat_answer(browser, world, asked, beside=exchanges.WITHOUT_MEMORY)
    assert page.count(with_memory) == 1
    assert "Without memory" in page


def test_how_many_more_are_known_is_said_of_one_too(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    things = [
        "boat",
        "canoe",
        "kayak",
        "lute",
        "drum",
        "harp",
        "flute",
        "tuba",
        "horn",
        "cello",
        "viola",
        "banjo",
    ]
    with tenant_scope(world.tenant.id):
        for thing in things:
            make_fact(world.space, f"{world.space.display_name} owns a {thing}.", world.turn)
    page = show_chat_answer(browser, world, "What do you know about me?")
    assert "And 1 more under All memories." in page


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(
    ("said", "asked", "reply"),
    [
        ("I moved to Braga.", "What do you know about me?", "I am still reading"),
        ("我搬到了布拉加。", "你都知道我什么？", "我还在读"),
    ],
)
def test_what_is_known_is_told_with_what_is_not_read_yet(
    browser: Client,
    world: ConsoleWorld,
    memory: list[MemoryItem],
    said: str,
    asked: str,
    reply: str,
    is_known: bool,
) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(space=world.space).delete()
        if is_known:
            make_fact(world.space, f"{world.space.display_name} works at Casa.", world.turn)
    show_chat_answer(browser, world, said)
    page = show_chat_answer(browser, world, asked)
    assert reply in page
    assert ("work at Casa" in page) is is_known
    assert "I know nothing of you yet" not in page
    with tenant_scope(world.tenant.id):
        Turn.objects.filter(space=world.space).update(state="processed")
    assert reply not in show_chat_answer(browser, world, asked)


@pytest.mark.parametrize(
    ("said", "is_told"), [("I moved to Braga.", True), ("What do I keep?", False), ("Hi!", False)]
)
def test_an_answer_says_that_more_is_being_read(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], said: str, is_told: bool
) -> None:
    with tenant_scope(world.tenant.id):
        Turn.objects.filter(space=world.space).update(state="processed")
    show_chat_answer(browser, world, said)
    memory.append(make_turn_item(world.turn, "fact", id=world.fact.id, text=world.fact.text))
    page = show_chat_answer(browser, world, "Where do I keep bees?")
    assert "Answered from" in page
    assert ("I am still reading what you said last" in page) is is_told


@pytest.mark.parametrize("asked", ["What do you know about me?", "你都知道我什么？"])
def test_what_is_known_is_listed_and_what_is_over_is_not(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], asked: str
) -> None:
    name = world.space.display_name
    with tenant_scope(world.tenant.id):
        over = {"valid_to": MAY + timedelta(days=1), "status": "superseded"}
        held = make_fact(world.space, f"{name} works at Casa.", world.turn)
        make_fact(world.space, f"{name} lives in Bruges.", world.turn, **over)
    page = show_chat_answer(browser, world, asked)
    assert "– You work at Casa." in page
    assert reverse("space-fact", args=[world.space.id, held.id]) in page
    assert "Bruges" not in page
    with tenant_scope(world.tenant.id):
        reply = Turn.objects.filter(session__channel="console").latest("seq")
    assert str(held.id) in reply.metadata["cites"]
    shown = browser.get(reverse("chat-with", args=[world.space.id])).content.decode()
    assert reverse("space-fact", args=[world.space.id, held.id]) in shown


@pytest.mark.parametrize("cites", ["kiln", 7, ["kiln", 7, {"id": None}]])
def test_what_a_client_wrote_beside_a_turn_is_not_taken_for_citations(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], cites: object
) -> None:
    show_chat_answer(browser, world, "Where is the kiln?")
    with tenant_scope(world.tenant.id):
        reply = Turn.objects.filter(session__channel="console").latest("seq")
        Turn.objects.filter(id=reply.id).update(metadata={"cites": cites})
    shown = browser.get(reverse("chat-with", args=[world.space.id]))
    assert shown.status_code == 200
    assert reply.text in shown.content.decode()


def test_a_wish_that_is_being_carried_out_is_not_said_to_wait(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        asked = {"decisions": [{"op": "forget", "text": "my bees", "reason": "asked to forget"}]}
        job = make_job(world.space, state="done", result=asked, finished_at=timezone.now())
        wish = make_proposal(world.space, kind="erase", payload={"auto": True})
    part = reverse("chat-decisions", args=[world.space.id, job.id])
    assert "Erasing…" in browser.get(part).content.decode()
    with tenant_scope(world.tenant.id):
        wish.delete()
    assert "Erasing…" not in browser.get(part).content.decode()


def test_a_wish_is_being_carried_out_until_its_receipt_is_there(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        now = timezone.now()
        asked = {"decisions": [{"op": "forget", "text": "my bees", "reason": "asked to forget"}]}
        (said,) = make_turns(world.space, "Forget my bees.")
        read = {"first_seq": said.seq, "last_seq": said.seq, "started_at": now, "finished_at": now}
        job = make_job(world.space, state="done", result=asked, **read)
        closed = {"state": "accepted", "decided_at": now}
        wish = make_proposal(world.space, kind="erase", payload={"auto": True}, **closed)
    part = reverse("chat-decisions", args=[world.space.id, job.id])

    def show_after(**told: object) -> str:
        with tenant_scope(world.tenant.id):
            Job.objects.filter(id=job.id).update(**told)
        return browser.get(part).content.decode()

    assert "Erasing…" in show_after(), "closed, and not erased yet"
    with tenant_scope(world.tenant.id):
        wish.delete()
        Turn.objects.filter(id=said.id).update(text="", state="redacted")
        receipt = make_receipt(world.tenant)
    assert "Erasing…" in show_after(result={}), "erased, and not told yet"
    late = now - timedelta(minutes=2)
    assert "Erasing…" not in show_after(finished_at=late), "not for ever"
    told = show_after(finished_at=now, result={"decisions": [], "receipts": [str(receipt.id)]})
    assert "Erasing…" not in told
    assert reverse("receipt", args=[receipt.id]) in told


def test_a_wish_to_forget_is_not_quoted_later(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    with tenant_scope(world.tenant.id):
        (wish,) = make_turns(world.space, "Please forget that I keep bees.")
        Turn.objects.filter(id=wish.id).update(speech_act="forget")
    memory[:] = [make_turn_item(wish), make_turn_item(world.turn)]
    page = show_chat_answer(browser, world, "What do I keep?")
    assert "You said: Listen" in page
    assert "Please forget" not in page


def test_a_reply_names_what_it_rests_on(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    memory.append(make_turn_item(world.turn, "fact", id=world.fact.id, text=world.fact.text))
    page = show_chat_answer(browser, world, "Bees?")
    answered = page.partition("Answered from")[2].partition("Recalled")[0]
    assert reverse("space-fact", args=[world.space.id, world.fact.id]) in answered
    assert "D1:1" in answered


def test_each_answer_shows_its_memories_with_their_days(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, and whenever the conversation is opened again."""
    every = GroundedAnswer("You keep bees.", True, (0, 1, 2))
    monkeypatch.setattr(Parrot, "answer_question", lambda *given, **more: every)
    days = [MAY + timedelta(days=40 * at) for at in range(3)]
    with tenant_scope(world.tenant.id):
        fact = make_fact(world.space, "I sold a hive", world.turn, asserted_at=days[0])
        note = make_note(world.space, "A hive for sale", occurred_at=days[1])
        (said,) = make_turns(world.space, "The hive is gone.")
        Turn.objects.filter(id=said.id).update(occurred_at=days[2])
        said.refresh_from_db()
    for row, kind, text in ((fact, "fact", fact.text), (note, "note", note.content)):
        item = make_turn_item(world.turn, kind, id=row.id, text=text)
        memory.append(replace(item, occurred_at=days[len(memory)]))
    memory.append(replace(make_turn_item(said), occurred_at=days[2]))
    answered = show_chat_answer(browser, world, "Bees?")
    shown = browser.get(reverse("chat-with", args=[world.space.id])).content.decode()
    for page in (answered, shown):
        _, _, list_of = page.rpartition('class="rests-on"')
        lines = list_of.partition("</ul>")[0].split("<li>")[1:]
        assert len(lines) == 3
        for line, item in zip(lines, memory, strict=True):
            assert item.text[:20] in line
            assert on_day(item.occurred_at, world.space.timezone) in line


def test_E16_a_model_that_fails_leaves_the_answer_to_the_rules(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Parrot:
        raise EngineError("the endpoint is closed")

    memory.append(make_turn_item(world.turn))
    monkeypatch.setattr(selection, "select_engine", broken)
    page = show_chat_answer(browser, world, "Who keeps bees?")
    assert "Answered by rules instead" in page
    assert "quoted from memory" in page


def test_a_search_that_fails_loses_nothing(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **options: object) -> SearchResult:
        raise EngineError("the endpoint is closed")

    monkeypatch.setattr(exchanges, "search_memories", broken)
    page = show_chat_answer(browser, world, "Who bought a third hive?")
    assert "could not be answered: the endpoint is closed" in page
    with tenant_scope(world.tenant.id):
        assert Turn.objects.filter(text="Who bought a third hive?").exists()
        assert not Turn.objects.filter(role="assistant", session__channel="console").exists()


def test_an_empty_message_is_refused(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    assert "Not sent: the text is empty" in show_chat_answer(browser, world, "  ")


def test_without_scripts_the_page_is_shown_again(
    browser: Client, world: ConsoleWorld, memory: list[MemoryItem]
) -> None:
    address = reverse("chat-say", args=[world.space.id])
    answer = browser.post(address, {"text": "Good morning"}, follow=True)
    assert "Good morning" in answer.content.decode()
    refused = browser.post(address, {"text": ""}, follow=True)
    assert "Not sent" in refused.content.decode()


def get_decisions(browser: Client, world: ConsoleWorld) -> str:
    address = reverse("chat-decisions", args=[world.space.id, world.job.id])
    return browser.get(address).content.decode()


def set_job(world: ConsoleWorld, **values: object) -> None:
    with tenant_scope(world.tenant.id):
        Job.objects.filter(id=world.job.id).update(**values)


def test_decisions_are_asked_for_until_the_job_has_ended(
    browser: Client, world: ConsoleWorld
) -> None:
    set_job(world, state="running")
    assert "every 1s" in get_decisions(browser, world)
    made = {
        "text": "Nora keeps bees in Bruges",
        "op": "supersede",
        "reason": "one value at a time",
        "fact_id": str(world.fact.id),
        "target": {"id": str(world.fact.id), "text": "I keep bees in Ghent"},
    }
    set_job(world, state="done", result={"decisions": [made]})
    page = get_decisions(browser, world)
    assert "every 1s" not in page
    assert "Replacement of an older memory" in page
    assert "I keep bees in Ghent" in page


def test_a_dead_job_says_why(browser: Client, world: ConsoleWorld) -> None:
    assert "the endpoint is closed" in get_decisions(browser, world)


def test_nothing_to_remember_is_said(browser: Client, world: ConsoleWorld) -> None:
    set_job(world, state="done", result={"decisions": []})
    assert "Nothing to remember in this" in get_decisions(browser, world)


def test_a_new_subject_gets_a_space(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.post(reverse("chat"), {"subject": " ida "})
    with tenant_scope(world.tenant.id):
        space = Space.objects.get(subject="ida")
    assert answer["Location"] == reverse("chat-with", args=[space.id])
    refused = browser.post(reverse("chat"), {"subject": " "}, follow=True)
    assert "A subject is needed" in refused.content.decode()


def test_yesterdays_words_are_in_the_timeline_not_in_the_chat(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_turns(world.space, "An old message")
    page = browser.get(reverse("chat-with", args=[world.space.id])).content.decode()
    assert "An old message" not in page
    assert "replies quote the best-matching memories" in page


def test_viewers_watch_only(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = client.get(reverse("chat-with", args=[world.space.id])).content.decode()
    assert "chatting requires the editor role" in page
    assert "<textarea" not in page
