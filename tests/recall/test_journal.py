"""The recall log: what it keeps of a question, for how long, and what an erasure takes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.errors import EngineError
from memoryhub.pipeline.erasing import Target, execute
from memoryhub.policies.composing import composed
from memoryhub.policies.presets import DEFAULT
from memoryhub.recall import keeping, reinforcing
from memoryhub.recall.answering import answer
from memoryhub.recall.asking import Asker
from memoryhub.recall.context import context
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.services import search
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.recall.scene import Scene
from tests.support.scan import places_of


def logged(scene: Scene) -> list[RecallLog]:
    reinforcing.flush()
    with tenant_scope(scene.hub.tenant.id):
        return list(RecallLog.objects.order_by("asked_at", "id"))


def said_in(scene: Scene, words: str) -> list[str]:
    with tenant_scope(scene.hub.tenant.id):
        return places_of(words)


def items_of(scene: Scene, log: RecallLog) -> list[RecallLogItem]:
    with tenant_scope(scene.hub.tenant.id):
        return list(log.items.order_by("place"))


def furnished(scene: Scene) -> dict[str, UUID]:
    scene.near(kayak=[1, 0], boat=[0.9, 0.44], far=[0, 1])
    (turn,) = scene.say("my kayak leaks")
    fact = scene.fact("Ana has a kayak", turn)
    past = scene.hub.now - timedelta(days=30)
    over = scene.fact("Ana had a kayak", valid_from=past, valid_to=scene.hub.now)
    return {"turn": turn.id, "fact": fact.id, "over": over.id}


def test_a_search_is_logged_with_its_results_route_stages_and_what_was_dropped(
    scene: Scene,
) -> None:
    there = furnished(scene)
    by = Asker("api", "a key")
    found = search(scene.space, "kayak?", limit=5, asked_by=by, now=scene.hub.now)
    (log,) = logged(scene)
    assert (log.form, log.query, log.via, log.asked_by) == ("search", "kayak?", "api", "a key")
    assert log.options == {"limit": 5}
    assert log.route["select"] == "fused"
    assert log.channels == {"facts": 1, "raw": 1}
    assert log.policy_version == "t0.s0"
    assert log.took_ms.keys() >= {"route", "candidates", "rank"}
    assert not log.insufficient
    (item,) = items_of(scene, log)
    assert (item.kind, item.memory_id, item.place) == ("fact", there["fact"], 1)
    assert sum(item.parts.values()) == pytest.approx(found.items[0].score, abs=0.01)
    assert item.found[0]["channel"] == "facts"
    (dropped,) = log.dropped
    assert (dropped["why"], dropped["id"], dropped["of"]) == (
        "duplicate",
        str(there["turn"]),
        str(there["fact"]),
    )


def test_a_context_is_logged_by_section_with_its_tokens(scene: Scene) -> None:
    furnished(scene)
    made = context(scene.space, "kayak", agent="Bo", now=scene.hub.now)
    (log,) = logged(scene)
    assert (log.form, log.tokens, log.options["agent"]) == ("context", made.tokens, "Bo")
    assert [item.section for item in items_of(scene, log)] == [
        section.name for section in made.sections for _ in section.items
    ]


def test_a_question_without_an_answer_is_logged_too(scene: Scene) -> None:
    search(scene.space, "far away", now=scene.hub.now)
    (log,) = logged(scene)
    assert (log.insufficient, log.shown) == (True, 0)


def test_the_log_holds_no_words_of_a_memory(scene: Scene) -> None:
    furnished(scene)
    search(scene.space, "boat", now=scene.hub.now)
    context(scene.space, "boat", now=scene.hub.now)
    assert len(logged(scene)) == 2
    assert not {place for place in said_in(scene, "leaks") if "recall" in place}
    assert not {place for place in said_in(scene, "has a kayak") if "recall" in place}


def test_nothing_is_written_within_the_search(scene: Scene) -> None:
    furnished(scene)
    with CaptureQueriesContext(connection) as asked:
        search(scene.space, "kayak", now=scene.hub.now)
    words = [query["sql"].split()[0] for query in asked]
    assert not {"INSERT", "UPDATE", "DELETE"} & set(words)


def test_an_answer_names_its_entry_in_the_log(scene: Scene, settings: Any) -> None:
    furnished(scene)
    found = search(scene.space, "kayak", now=scene.hub.now)
    made = context(scene.space, "kayak", now=scene.hub.now)
    scene.hub.model.script("answer", EngineError("down"))  # the rules answer instead
    said = answer(scene.space, "kayak?", now=scene.hub.now)
    assert {found.recall_id, made.recall_id, said.recall_id} == {log.id for log in logged(scene)}
    settings.RECALL_LOG_DAYS = 0
    assert search(scene.space, "kayak", now=scene.hub.now).recall_id is None
    assert search(scene.space, "kayak", now=scene.hub.now, reinforce=False).recall_id is None


@pytest.mark.parametrize("ask", [search, context])
def test_a_look_is_logged_at_once_and_strengthens_nothing(scene: Scene, ask: Any) -> None:
    there = furnished(scene)
    policy = composed("rag", {})
    found = ask(
        scene.space,
        "kayak",
        policy=policy,
        channels=["facts"],
        select="fixed",
        asked_by=Asker("console", "ida"),
        now=scene.hub.now,
        inspect=True,
    )
    with tenant_scope(scene.hub.tenant.id):
        log = RecallLog.objects.get()
        before = Fact.objects.get(id=there["fact"]).recall_count
    assert (log.id, log.via, log.asked_by) == (found.recall_id, "console", "ida")
    assert log.options["policy"] == "rag"
    assert (log.options["channels"], log.options["select"]) == (["facts"], "fixed")
    assert reinforcing.flush() == 0
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get(id=there["fact"]).recall_count == before == 0


@pytest.mark.parametrize("how", [{"reinforce": False}, {"off": True}])
def test_a_replay_leaves_no_trace_and_the_log_can_be_off(
    scene: Scene, settings: Any, how: dict[str, Any]
) -> None:
    furnished(scene)
    settings.RECALL_LOG_DAYS = 0 if how.pop("off", False) else 30
    policy = composed(DEFAULT, {"recall.k_min": 7})
    search(scene.space, "kayak", policy=policy, now=scene.hub.now, **how)
    assert logged(scene) == []


@pytest.mark.parametrize("what", ["turn", "fact"])
def test_X6_an_erasure_takes_what_was_asked_since(scene: Scene, what: str) -> None:
    search(scene.space, "was there a swordfish before", now=scene.hub.now)
    scene.hub.pass_time(hours=1)
    scene.near(swordfish=[1, 0])
    (turn,) = scene.say("the code is swordfish")
    fact = scene.fact("the code is swordfish", turn)
    search(scene.space, "which code is swordfish", now=scene.hub.now)
    context(scene.space, "swordfish", now=scene.hub.now)
    assert len(logged(scene)) == 3
    kind, at = ("turns", turn.id) if what == "turn" else ("facts", fact.id)
    execute(scene.space, Target(kind, (at,)), "test", scene.hub.now)  # type: ignore[arg-type]  # one of the kinds
    # What was asked before it was said can't tell of it, and stays.
    (before,) = logged(scene)
    assert before.query == "was there a swordfish before"
    if what == "turn":
        assert said_in(scene, "swordfish") == ["public.recall_recalllog"]


def test_X6_an_answer_given_before_an_erasure_is_not_logged_after_it(scene: Scene) -> None:
    (turn,) = scene.say("the code is swordfish")
    search(scene.space, "swordfish", now=scene.hub.now)
    execute(scene.space, Target("turns", (turn.id,)), "test", scene.hub.now)
    assert logged(scene) == []
    assert said_in(scene, "swordfish") == []


def test_X6_with_the_subject_its_log_goes(scene: Scene) -> None:
    furnished(scene)
    search(scene.space, "kayak", now=scene.hub.now)
    assert len(logged(scene)) == 1
    execute(scene.space, Target("subject"), "test", scene.hub.now)
    assert logged(scene) == []


def test_old_entries_go_with_the_sweep_and_with_the_next_question(scene: Scene) -> None:
    furnished(scene)
    policy = composed(DEFAULT, {})
    search(scene.space, "kayak", now=scene.hub.now)
    logged(scene)
    due = keeping.sweep(scene.space, policy, scene.hub.now + timedelta(days=29))
    assert due == scene.hub.now + timedelta(days=30)
    search(scene.space, "kayak", now=scene.hub.now + timedelta(days=20))
    assert len(logged(scene)) == 2
    keeping.sweep(scene.space, policy, scene.hub.now + timedelta(days=31))
    assert len(logged(scene)) == 1
    search(scene.space, "kayak", now=scene.hub.now + timedelta(days=60))
    assert len(logged(scene)) == 1


def test_X16_the_log_of_another_tenant_is_not_seen(scene: Scene) -> None:
    from memoryhub.tenants.services import create_tenant

    search(scene.space, "kayak", now=scene.hub.now)
    logged(scene)
    with tenant_scope(create_tenant("other", "other").id):
        assert not RecallLog._base_manager.exists()


def test_the_recalls_of_a_memory_are_found(scene: Scene) -> None:
    there = furnished(scene)
    search(scene.space, "kayak", now=scene.hub.now)
    search(scene.space, "far", now=scene.hub.now)
    logged(scene)
    with tenant_scope(scene.hub.tenant.id):
        found = keeping.recalls_of(scene.space, there["fact"])
        assert [log.query for log in found] == ["kayak"]
        assert not keeping.recalls_of(scene.space, there["over"]).exists()
