"""The window: one warning, a flush in time, nothing torn apart and nothing lost (MemGPT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Session, Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.dialogues.tool_calls import ToolCall
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import Utterance
from memoryhub.errors import EngineError
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.episodes.windows import compose_window
from memoryhub.policies.schema import Policy
from memoryhub.policies.schema import WindowPolicy as Limits
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Episode, EvolutionEvent
from personas import blocks
from personas.models import Window
from personas.window import (
    WARNING_TEXT,
    ComposedWindow,
    QueuedMessage,
    WindowHelpers,
    compose_agent_context,
    find_cut,
    fit_messages,
    refold_window,
    shorten_text,
    split_into_portions,
)
from tests.support.hub import ScriptedHub

POLICY = Policy(window=Limits(context_limit=1000))


def repeat_word(number: int, word: str = "w") -> str:
    return " ".join([word] * number)


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@dataclass
class Folder:
    """Folds into a fixed text, or fails; remembers what it was given."""

    broken: bool = False
    given: list[tuple[str, list[str]]] = field(default_factory=list)
    later: list[Any] = field(default_factory=list)

    def fold(self, folded: str, said: Sequence[Utterance]) -> str:
        self.given.append((folded, [each.text for each in said]))
        if self.broken:
            raise EngineError("down")
        return f"summary {len(self.given)}"

    def plan(self, window: Window, now: datetime) -> None:
        self.later.append(window.id)

    @property
    def help(self) -> WindowHelpers:
        return WindowHelpers(count_words, self.fold, self.plan, engine="test/1")


@pytest.fixture
def folder() -> Folder:
    return Folder()


def add_messages(hub: ScriptedHub, *roles_and_texts: tuple[str, str], **metadata: Any) -> Session:
    with tenant_scope(hub.tenant.id):
        for role, text in roles_and_texts:
            hub.pass_time(seconds=1)
            message = Message(role, text, timestamp=hub.now, metadata=metadata)
            done = append_turns(hub.space, [message], received=hub.now, session_id="talk")
    return done.session


def show_window(
    hub: ScriptedHub, session: Session, folder: Folder, policy: Policy = POLICY
) -> ComposedWindow:
    return compose_agent_context(session, policy, folder.help, hub.now)


def count_warnings(seen: ComposedWindow) -> int:
    return sum("nearly full" in message.content for message in seen.messages)


WARNING_SIZE = len(WARNING_TEXT.split())


def test_MG1_one_warning_at_seven_tenths_and_no_other(hub: ScriptedHub, folder: Folder) -> None:
    session = add_messages(hub, ("user", repeat_word(400)), ("assistant", repeat_word(299)))
    seen = show_window(hub, session, folder)
    assert (seen.tokens, seen.warned, count_warnings(seen)) == (699, False, 0)
    add_messages(hub, ("user", repeat_word(1)))
    seen = show_window(hub, session, folder)
    assert (seen.tokens, seen.warned, count_warnings(seen)) == (700 + WARNING_SIZE, True, 1)
    # It stands in the queue, as any message does, and no other joins it.
    add_messages(hub, ("user", repeat_word(50)))
    seen = show_window(hub, session, folder)
    assert (seen.tokens, seen.warned, count_warnings(seen)) == (750 + WARNING_SIZE, False, 1)
    with tenant_scope(hub.tenant.id):
        (warning,) = Turn.objects.filter(role="system")
        assert (warning.text, warning.state) == (WARNING_TEXT, Turn.State.PROCESSED)


def test_MG2_a_full_window_is_flushed_of_whole_exchanges_and_folded(
    hub: ScriptedHub, folder: Folder
) -> None:
    exchanges = [
        (role, f"{role}{n} {repeat_word(99)}") for n in range(4) for role in ("user", "assistant")
    ]
    session = add_messages(hub, *exchanges, ("user", repeat_word(199)))
    assert show_window(hub, session, folder).warned
    add_messages(hub, ("assistant", repeat_word(1, "end")))
    seen = show_window(hub, session, folder)
    # Half of 1,000 tokens is five messages: the cut moves on to where an exchange begins.
    left = [text for _, text in exchanges[:6]]
    assert folder.given == [("", left)]
    assert seen.evicted == 6
    shown = [message.content for message in seen.messages]
    assert shown[0] == "What was said before, in brief: summary 1"
    kept = [text for _, text in exchanges[6:]]
    assert shown[1:] == [*kept, repeat_word(199), WARNING_TEXT, "end"]
    with tenant_scope(hub.tenant.id):
        window = Window.objects.get()
        assert (window.alerted, window.hidden) == (False, 0)
        summary = Episode.objects.get(kind="rolling")
        assert (summary.session_id, summary.text) == (session.id, "summary 1")
        support = Derivation.objects.filter(child_id=summary.id).order_by("turn__seq")
        assert [each.turn.text for each in support] == left
        assert Turn.objects.exclude(role="system").count() == 10
    # The next flush folds the old summary with what leaves then, and nothing else.
    add_messages(hub, ("user", repeat_word(300, "more")), ("assistant", repeat_word(299, "more")))
    show_window(hub, session, folder)
    assert folder.given[1][0] == "summary 1"
    assert folder.given[1][1][0] == exchanges[6][1]
    with tenant_scope(hub.tenant.id):
        assert Episode.objects.get(kind="rolling").version == 2
        assert EvolutionEvent.objects.filter(kind="digest").count() == 2


def test_MG2_the_model_folds_the_old_summary_and_exactly_what_leaves(hub: ScriptedHub) -> None:
    hub.set_policy("memgpt", window__context_limit=1000)
    pairs = [
        (role, f"{role}{n} {repeat_word(99)}") for n in range(5) for role in ("user", "assistant")
    ]
    session = add_messages(hub, *pairs)
    with tenant_scope(hub.tenant.id):
        effective = load_effective_policy(hub.space)
    engine = LLMEngine(hub.model)
    hub.model.script("fold_summary", {"text": "First."}, {"text": "Second."})
    first = compose_window(session, effective, engine, hub.now)
    more = [
        (role, f"{role}{n} {repeat_word(99)}")
        for n in range(5, 9)
        for role in ("user", "assistant")
    ]
    add_messages(hub, *more)
    second = compose_window(session, effective, engine, hub.now)
    one, two = hub.model.list_calls("fold_summary")
    left = [message["text"] for call in (one, two) for message in call["messages"]]
    assert left == [text for _, text in [*pairs, *more]][: first.evicted + second.evicted]
    assert (one["summary"], two["summary"]) == ("", "First.")
    # Half of 1,000 and of 1,200 tokens, up to where an exchange begins.
    assert (first.evicted, second.evicted) == (6, 6)
    for seen, kept in ((first, 4), (second, 6)):
        assert len([m for m in seen.messages if m.role != "system"]) == kept


def make_queue(*parts: str, tokens: int = 100) -> list[QueuedMessage]:
    """ "u", "a" or "t"; "a>1" calls, "t<1" answers."""
    roles = {"u": "user", "a": "assistant", "t": "tool"}
    made = []
    for seq, part in enumerate(parts):
        calls = (ToolCall(part[2:], "look"),) if ">" in part else ()
        answers = part[2:] if "<" in part else ""
        made.append(QueuedMessage(seq, roles[part[0]], "", tokens, calls, answers))
    return made


def test_MG5_a_cut_never_separates_a_call_from_its_result() -> None:
    assert find_cut(make_queue("u", "a>1", "t<1", "a", "u", "a"), 0.3, 1, 10_000) == 4
    # Without another exchange to begin at, it moves past the result.
    assert find_cut(make_queue("a", "a>1", "t<1", "a", "a", "a"), 1 / 3, 1, 10_000) == 3
    # The result came late: everything in between stays with its call.
    assert find_cut(make_queue("a", "a>1", "a", "t<1", "a", "a"), 0.3, 1, 10_000) == 4
    # No id: a result belongs to the message before it.
    assert find_cut(make_queue("a", "a", "t", "a", "a"), 0.4, 1, 10_000) == 3
    # No safe place further on: the last one before.
    assert find_cut(make_queue("u", "a", "u", "a>1", "t<1", "a"), 0.7, 1, 10_000) == 2


@pytest.mark.parametrize("lead", range(4))
def test_MG5_a_flush_of_the_service_leaves_a_call_with_its_result(
    hub: ScriptedHub, folder: Folder, lead: int
) -> None:
    """Wherever half of the window ends: before the call, in between, after the result."""
    call, result = "let me look", "it is there"
    session = add_messages(
        hub, *[("user", repeat_word(100, f"before{n}")) for n in range(lead + 1)]
    )
    add_messages(
        hub, ("assistant", f"{call} {repeat_word(150)}"), tool_calls=[{"id": "c1", "name": "look"}]
    )
    add_messages(hub, ("assistant", "one moment"))
    add_messages(hub, ("tool", f"{result} {repeat_word(150)}"), tool_call_id="c1")
    add_messages(hub, *[("user", repeat_word(100, f"after{n}")) for n in range(6 - lead)])
    seen = show_window(hub, session, folder)
    assert seen.evicted > 0
    shown = " ".join(message.content for message in seen.messages)
    left = " ".join(folder.given[0][1])
    assert (call in shown, call in left) == (result in shown, result in left)
    assert (call in shown) is not (call in left)


def test_MG6_a_flush_succeeds_without_any_assistant_message(
    hub: ScriptedHub, folder: Folder
) -> None:
    session = add_messages(hub, *[("user", repeat_word(200, f"n{n}")) for n in range(6)])
    seen = show_window(hub, session, folder)
    assert seen.evicted == 3
    assert seen.tokens <= 1000
    assert find_cut(make_queue("t", "t", "t"), 0.5, 0, 10_000) == 0


def test_the_last_messages_are_kept_and_the_rest_has_to_fit() -> None:
    assert find_cut(make_queue("u", "u", "u", "u"), 1.0, 3, 10_000) == 1
    assert find_cut(make_queue("u", "u", "u"), 1.0, 3, 10_000) == 0
    # Half would do for the share, but only 100 tokens are left for the queue.
    assert find_cut(make_queue("u", "u", "u", "u"), 0.5, 0, 100) == 3


def test_MG10_a_failed_fold_hides_messages_says_so_and_plans_another_try(
    hub: ScriptedHub, folder: Folder
) -> None:
    folder.broken = True
    session = add_messages(hub, *[("user", repeat_word(200, f"n{n}")) for n in range(6)])
    seen = show_window(hub, session, folder)
    assert (seen.evicted, seen.hidden) == (3, 3)
    assert seen.tokens <= 1000
    assert seen.messages[0].content.startswith("3 earlier messages are neither in sight")
    with tenant_scope(hub.tenant.id):
        window = Window.objects.get()
        assert folder.later == [window.id]
        assert not Episode.objects.exists()
    folder.broken = False
    assert refold_window(hub.tenant.id, window.id, folder.help, hub.now) == 3
    assert folder.given[-1] == ("", [repeat_word(200, f"n{n}") for n in range(3)])
    seen = show_window(hub, session, folder)
    assert seen.hidden == 0
    assert seen.messages[0].content.endswith("summary 2")
    assert refold_window(hub.tenant.id, window.id, folder.help, hub.now) == 0


def test_what_a_fold_missed_is_in_the_next_one(hub: ScriptedHub, folder: Folder) -> None:
    folder.broken = True
    session = add_messages(hub, *[("user", repeat_word(200, f"n{n}")) for n in range(6)])
    show_window(hub, session, folder)
    folder.broken = False
    add_messages(hub, *[("user", repeat_word(200, f"m{n}")) for n in range(3)])
    assert show_window(hub, session, folder).hidden == 0
    told = [text for _, texts in folder.given[1:] for text in texts]
    assert told[:4] == [repeat_word(200, f"n{n}") for n in range(4)]


def test_G8_a_message_longer_than_the_window_is_shown_by_head_and_tail(
    hub: ScriptedHub, folder: Folder
) -> None:
    text = f"Beginning {repeat_word(5000)} ending"
    session = add_messages(hub, ("user", text))
    seen = show_window(hub, session, folder)
    (shown,) = [message.content for message in seen.messages if message.role == "user"]
    assert shown.startswith("Beginning")
    assert shown.endswith("ending")
    assert "characters left out" in shown
    assert seen.tokens <= 1000
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.get(role="user").text == text


def test_what_exceeds_the_window_is_folded_in_chunks() -> None:
    assert split_into_portions([400, 400, 400, 900, 10], 1000) == [[0, 1], [2], [3, 4]]


def test_everything_fits_however_large_the_last_messages_are() -> None:
    large = [QueuedMessage(n, "user", repeat_word(400), 400) for n in range(3)]
    assert sum(each.tokens for each in fit_messages(large, 300, count_words)) <= 300
    assert shorten_text("abcdefghij" * 100, 0.5).startswith("abcdefghij")


def test_core_blocks_and_head_come_first_and_count(hub: ScriptedHub, folder: Folder) -> None:
    session = add_messages(hub, ("user", "Hello."))
    with tenant_scope(hub.tenant.id):
        blocks.ensure_default_blocks(hub.space, "", 2000, hub.now)
    seen = compose_agent_context(session, POLICY, folder.help, hub.now, head=["You are helpful."])
    assert [message.role for message in seen.messages] == ["system"] * 3 + ["user"]
    assert seen.messages[0].content == "You are helpful."
    assert "memory block human: 0 of 2000 characters" in seen.messages[1].content
    assert seen.tokens == sum(count_words([m.content for m in seen.messages]))


def test_MG10_the_planned_job_folds_what_was_hidden(hub: ScriptedHub) -> None:
    hub.set_policy("memgpt", window__context_limit=1000)
    session = add_messages(hub, *[("user", repeat_word(200, f"n{n}")) for n in range(6)])
    engine = LLMEngine(hub.model)
    hub.model.script("fold_summary", EngineError("down"), {"text": "Six words."})
    with tenant_scope(hub.tenant.id):
        effective = load_effective_policy(hub.space)
    window = compose_window(session, effective, engine, hub.now)
    assert (window.evicted, window.hidden, window.tokens <= 1000) == (3, 3, True)
    with tenant_scope(hub.tenant.id):
        job = Job.objects.get(step=Job.Step.FOLD)
        assert job.state == Job.State.QUEUED
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, {"messages": 3})
        assert Episode.objects.get(session=session).text == "Six words."
    assert compose_window(session, effective, engine, hub.now).hidden == 0
    (failed, folded) = hub.model.list_calls("fold_summary")
    assert failed == folded


def test_a_summary_that_went_stale_is_withheld_and_written_from_what_is_left(
    hub: ScriptedHub, folder: Folder
) -> None:
    session = add_messages(hub, *[("user", repeat_word(200, f"n{n}")) for n in range(6)])
    show_window(hub, session, folder)
    with tenant_scope(hub.tenant.id):
        Turn.objects.filter(text__startswith="n1").update(state=Turn.State.REDACTED)
        Episode.objects.update(stale=True)
    seen = show_window(hub, session, folder)
    assert seen.hidden == 2
    assert not any("summary 1" in message.content for message in seen.messages)
    with tenant_scope(hub.tenant.id):
        window = Window.objects.get()
    refold_window(hub.tenant.id, window.id, folder.help, hub.now)
    assert folder.given[-1] == ("", [repeat_word(200, "n0"), repeat_word(200, "n2")])
    with tenant_scope(hub.tenant.id):
        assert Episode.objects.get().stale is False
        Turn.objects.filter(seq__lt=window.head_seq).update(state=Turn.State.REDACTED)
        Episode.objects.update(stale=True)
    assert refold_window(hub.tenant.id, window.id, folder.help, hub.now) == 0
    with tenant_scope(hub.tenant.id):
        assert Episode.objects.get().retired_at == hub.now
        assert Window.objects.get().rolling is None
