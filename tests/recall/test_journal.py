"""The recall log: what it keeps of a question, for how long, and what an erasure takes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.errors import EngineError
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.policies.compose import compose_policy
from memoryhub.policies.presets import DEFAULT_PRESET
from memoryhub.recall.answers import answer_question
from memoryhub.recall.context import build_context
from memoryhub.recall.log import reinforcement
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.recall.scene import RecallScene
from tests.support.database_scan import find_tables_with_word


def list_logs(scene: RecallScene) -> list[RecallLog]:
    reinforcement.flush_recalls()
    with tenant_scope(scene.hub.tenant.id):
        return list(RecallLog.objects.order_by("asked_at", "id"))


def list_memory_texts(scene: RecallScene, words: str) -> list[str]:
    with tenant_scope(scene.hub.tenant.id):
        return find_tables_with_word(words)


def list_log_items(scene: RecallScene, log: RecallLog) -> list[RecallLogItem]:
    with tenant_scope(scene.hub.tenant.id):
        return list(log.items.order_by("place"))


def make_kayak_memories(scene: RecallScene) -> dict[str, UUID]:
    scene.set_vectors(kayak=[1, 0], boat=[0.9, 0.44], far=[0, 1])
    (turn,) = scene.say("my kayak leaks")
    fact = scene.add_fact("Ana has a kayak", turn)
    past = scene.hub.now - timedelta(days=30)
    over = scene.add_fact("Ana had a kayak", valid_from=past, valid_to=scene.hub.now)
    return {"turn": turn.id, "fact": fact.id, "over": over.id}


def test_a_search_is_logged_with_its_results_route_stages_and_what_was_dropped(
    scene: RecallScene,
) -> None:
    there = make_kayak_memories(scene)
    by = SearchCaller("api", "a key")
    found = search_memories(scene.space, "kayak?", limit=5, asked_by=by, now=scene.hub.now)
    (log,) = list_logs(scene)
    assert (log.form, log.query, log.via, log.asked_by) == ("search", "kayak?", "api", "a key")
    assert log.options == {"limit": 5}
    assert log.route["select"] == "fused"
    assert log.channels == {"facts": 1, "raw": 1}
    assert log.policy_version == "t0.s0"
    assert log.took_ms.keys() >= {"route", "candidates", "rank"}
    assert not log.insufficient
    (item,) = list_log_items(scene, log)
    assert (item.kind, item.memory_id, item.place) == ("fact", there["fact"], 1)
    assert sum(item.parts.values()) == pytest.approx(found.items[0].score, abs=0.01)
    assert item.found[0]["channel"] == "facts"
    (dropped,) = log.dropped
    assert (dropped["why"], dropped["id"], dropped["of"]) == (
        "duplicate",
        str(there["turn"]),
        str(there["fact"]),
    )


def test_a_context_is_logged_by_section_with_its_tokens(scene: RecallScene) -> None:
    make_kayak_memories(scene)
    made = build_context(scene.space, "kayak", agent="Bo", now=scene.hub.now)
    (log,) = list_logs(scene)
    assert (log.form, log.tokens, log.options["agent"]) == ("context", made.tokens, "Bo")
    assert [item.section for item in list_log_items(scene, log)] == [
        section.name for section in made.sections for _ in section.items
    ]


def test_a_question_without_an_answer_is_logged_too(scene: RecallScene) -> None:
    search_memories(scene.space, "far away", now=scene.hub.now)
    (log,) = list_logs(scene)
    assert (log.insufficient, log.shown) == (True, 0)


def test_the_log_holds_no_words_of_a_memory(scene: RecallScene) -> None:
    make_kayak_memories(scene)
    search_memories(scene.space, "boat", now=scene.hub.now)
    build_context(scene.space, "boat", now=scene.hub.now)
    assert len(list_logs(scene)) == 2
    assert not {place for place in list_memory_texts(scene, "leaks") if "recall" in place}
    assert not {place for place in list_memory_texts(scene, "has a kayak") if "recall" in place}


def test_nothing_is_written_within_the_search(scene: RecallScene) -> None:
    make_kayak_memories(scene)
    with CaptureQueriesContext(connection) as asked:
        search_memories(scene.space, "kayak", now=scene.hub.now)
    words = [query["sql"].split()[0] for query in asked]
    assert not {"INSERT", "UPDATE", "DELETE"} & set(words)


def test_an_answer_names_its_entry_in_the_log(scene: RecallScene, settings: Any) -> None:
    make_kayak_memories(scene)
    found = search_memories(scene.space, "kayak", now=scene.hub.now)
    made = build_context(scene.space, "kayak", now=scene.hub.now)
    scene.hub.model.script("answer", EngineError("down"))  # the rules answer instead
    said = answer_question(scene.space, "kayak?", now=scene.hub.now)
    assert {found.recall_id, made.recall_id, said.recall_id} == {log.id for log in list_logs(scene)}
    settings.RECALL_LOG_DAYS = 0
    assert search_memories(scene.space, "kayak", now=scene.hub.now).recall_id is None
    assert (
        search_memories(scene.space, "kayak", now=scene.hub.now, reinforce=False).recall_id is None
    )


@pytest.mark.parametrize("ask", [search_memories, build_context])
def test_a_look_is_logged_at_once_and_strengthens_nothing(scene: RecallScene, ask: Any) -> None:
    there = make_kayak_memories(scene)
    policy = compose_policy("rag", {})
    found = ask(
        scene.space,
        "kayak",
        policy=policy,
        channels=["facts"],
        select="fixed",
        asked_by=SearchCaller("console", "ida"),
        now=scene.hub.now,
        inspect=True,
    )
    with tenant_scope(scene.hub.tenant.id):
        log = RecallLog.objects.get()
        before = Fact.objects.get(id=there["fact"]).recall_count
    assert (log.id, log.via, log.asked_by) == (found.recall_id, "console", "ida")
    assert log.options["policy"] == "rag"
    assert (log.options["channels"], log.options["select"]) == (["facts"], "fixed")
    assert reinforcement.flush_recalls() == 0
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get(id=there["fact"]).recall_count == before == 0


@pytest.mark.parametrize("how", [{"reinforce": False}, {"off": True}])
def test_a_replay_leaves_no_trace_and_the_log_can_be_off(
    scene: RecallScene, settings: Any, how: dict[str, Any]
) -> None:
    make_kayak_memories(scene)
    settings.RECALL_LOG_DAYS = 0 if how.pop("off", False) else 30
    policy = compose_policy(DEFAULT_PRESET, {"recall.k_min": 7})
    search_memories(scene.space, "kayak", policy=policy, now=scene.hub.now, **how)
    assert list_logs(scene) == []


@pytest.mark.parametrize("what", ["turn", "fact"])
def test_X6_an_erasure_takes_what_was_asked_since(scene: RecallScene, what: str) -> None:
    search_memories(scene.space, "was there a swordfish before", now=scene.hub.now)
    scene.hub.pass_time(hours=1)
    scene.set_vectors(swordfish=[1, 0])
    (turn,) = scene.say("the code is swordfish")
    fact = scene.add_fact("the code is swordfish", turn)
    search_memories(scene.space, "which code is swordfish", now=scene.hub.now)
    build_context(scene.space, "swordfish", now=scene.hub.now)
    assert len(list_logs(scene)) == 3
    kind, at = ("turns", turn.id) if what == "turn" else ("facts", fact.id)
    execute_erasure(scene.space, ErasureTarget(kind, (at,)), "test", scene.hub.now)  # type: ignore[arg-type]  # one of the kinds
    # What was asked before it was said can't tell of it, and stays.
    (before,) = list_logs(scene)
    assert before.query == "was there a swordfish before"
    if what == "turn":
        assert list_memory_texts(scene, "swordfish") == ["public.recall_recalllog"]


def test_X6_an_answer_given_before_an_erasure_is_not_logged_after_it(scene: RecallScene) -> None:
    (turn,) = scene.say("the code is swordfish")
    search_memories(scene.space, "swordfish", now=scene.hub.now)
    execute_erasure(scene.space, ErasureTarget("turns", (turn.id,)), "test", scene.hub.now)
    assert list_logs(scene) == []
    assert list_memory_texts(scene, "swordfish") == []


def test_X6_with_the_subject_its_log_goes(scene: RecallScene) -> None:
    make_kayak_memories(scene)
    search_memories(scene.space, "kayak", now=scene.hub.now)
    assert len(list_logs(scene)) == 1
    execute_erasure(scene.space, ErasureTarget("subject"), "test", scene.hub.now)
    assert list_logs(scene) == []


def test_X16_the_log_of_another_tenant_is_not_seen(scene: RecallScene) -> None:
    from memoryhub.tenants.services import create_tenant

    search_memories(scene.space, "kayak", now=scene.hub.now)
    list_logs(scene)
    with tenant_scope(create_tenant("other", "other").id):
        assert not RecallLog._base_manager.exists()


def test_the_recalls_of_a_memory_are_found(scene: RecallScene) -> None:
    there = make_kayak_memories(scene)
    search_memories(scene.space, "kayak", now=scene.hub.now)
    search_memories(scene.space, "far", now=scene.hub.now)
    list_logs(scene)
    with tenant_scope(scene.hub.tenant.id):
        found = RecallLogItem.objects.filter(memory_id=there["fact"])
        assert [item.log.query for item in found] == ["kayak"]
        assert not RecallLogItem.objects.filter(memory_id=there["over"]).exists()
