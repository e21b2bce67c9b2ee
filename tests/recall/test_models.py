"""From one embedder to another: nothing changes until everything does (E17, X5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import pytest
from django.core.management import call_command
from numpy.typing import NDArray

from memoryhub.engines import registry
from memoryhub.errors import Conflict, EngineError, InvalidInput
from memoryhub.pipeline.embeddings import cutover, reembed
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.recall.context import build_context
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import IndexEntry, Note
from tests.recall.scene import RecallScene
from tests.support.hub import START_TIME, TableEmbedder

ASKED = START_TIME + timedelta(days=1)


@dataclass
class RecordingEmbedder(TableEmbedder):
    """What was embedded."""

    seen: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed(texts)


@pytest.fixture
def old(scene: RecallScene, monkeypatch: pytest.MonkeyPatch) -> RecordingEmbedder:
    """The embedder of 8 dimensions that the scene is embedded by."""
    table: dict[str, Sequence[float]] = {
        "kayak": [1.0, 0.0],
        "boat": [0.9, 0.44],
        "tent": [0.3, 0.95],
    }
    model = RecordingEmbedder("old-8", 8, table=table)
    scene.hub.embedder = model
    monkeypatch.setattr(registry, "get_embedder", lambda settings: model)
    return model


@pytest.fixture
def new(old: RecordingEmbedder, monkeypatch: pytest.MonkeyPatch) -> RecordingEmbedder:
    """Call `switch` to have it in use; the old one can still be made."""
    # To the new one a tent is nearer to a kayak than a boat is.
    table: dict[str, Sequence[float]] = {
        "kayak": [0.0, 1.0],
        "boat": [0.8, 0.6],
        "tent": [0.3, 0.95],
    }
    return RecordingEmbedder("new-16", 16, table=table)


def switch_embedder(
    new: RecordingEmbedder, old: RecordingEmbedder | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda settings: new)
    monkeypatch.setattr(registry, "find_embedder", lambda name, settings: old)
    monkeypatch.setattr(reembed, "MEMORIES_PER_JOB", 4)


def fill_scene(scene: RecallScene) -> None:
    turns = scene.say("my kayak leaks", "the boat is blue", "a tent in the rain")
    for turn, text in zip(
        turns, ("Ana has a kayak", "Ana saw a boat", "Ana owns a tent"), strict=True
    ):
        scene.add_fact(text, turn)
        scene.add_note(f"note of the {text.split()[-1]}", turn)
    scene.add_segment("kayak and boat", *turns[:2], keywords=["kayak"])
    scene.hub.run_due_jobs()  # there is nothing to read any more


def search_texts(scene: RecallScene, question: str = "kayak") -> list[tuple[str, float]]:
    result = search_memories(scene.space, question, now=ASKED, reinforce=False)
    assert list(result.degraded) == []
    return [(item.text, round(item.score, 6)) for item in result.items]


def count_models(scene: RecallScene) -> dict[str, int]:
    with tenant_scope(scene.hub.tenant.id):
        names = list(IndexEntry.objects.values_list("model", flat=True))
    return {name: names.count(name) for name in set(names)}


def get_last_migration(scene: RecallScene) -> EmbeddingMigration:
    with tenant_scope(scene.hub.tenant.id):
        return cutover.get_migration(scene.space)


def start_migration(scene: RecallScene) -> None:
    with tenant_scope(scene.hub.tenant.id):
        assert reembed.start_due_migration(scene.space, scene.hub.now)


def run_migration_step(scene: RecallScene) -> bool:
    return runner.run_next_job(scene.hub.tenant.id, scene.space.id, scene.hub.now)


def test_X5_half_backfilled_results_are_those_of_before_and_then_only_the_new_model_s(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    before, wider = search_texts(scene), build_context(scene.space, "kayak", now=scene.hub.now).text
    whole = count_models(scene)["old-8"]
    assert scene.space.embedding_model == "old-8"
    switch_embedder(new, old, monkeypatch)
    start_migration(scene)
    assert run_migration_step(scene)
    half = count_models(scene)["new-16"]
    assert 0 < half < whole
    old.seen.clear()
    new.seen.clear()
    assert search_texts(scene) == before
    assert build_context(scene.space, "kayak", now=scene.hub.now).text == wider
    assert (old.seen, new.seen) == (["kayak", "kayak"], [])
    while scene.space.embedding_model == "old-8":
        assert run_migration_step(scene)
        expected = before if scene.space.embedding_model == "old-8" else None
        assert expected is None or search_texts(scene) == expected
    assert count_models(scene) == {"old-8": whole, "new-16": whole}
    old.seen.clear()
    after = search_texts(scene)
    assert old.seen == []
    assert after != before
    assert [text for text, _ in after].index("Ana owns a tent") < [text for text, _ in after].index(
        "Ana saw a boat"
    )
    scene.hub.run_due_jobs(minutes=2)
    # The old ones stay until somebody drops them: until then there is a way back.
    assert count_models(scene) == {"old-8": whole, "new-16": whole}
    cutover.drop_unused_vectors(get_last_migration(scene), scene.hub.now)
    assert count_models(scene) == {"new-16": whole}
    assert search_texts(scene) == after


def test_E17_what_only_the_new_one_has_seen_is_found_by_its_words_until_the_cutover(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    scene.hub.embedder = new
    late = scene.add_fact("Ana sold the raft", scene.say("I sold the raft")[0])
    result = search_memories(scene.space, "raft", now=scene.hub.now)
    assert late.id in [item.id for item in result.items]
    start_migration(scene)
    scene.hub.run_due_jobs(minutes=2)
    assert scene.space.embedding_model == "new-16"
    assert late.id in [i.id for i in search_memories(scene.space, "raft", now=scene.hub.now).items]


def test_E17_a_memory_that_changed_meanwhile_is_not_found_by_its_old_vector(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I9: a vector is that of the present text, or there is none."""
    note = scene.add_note("a kayak")
    switch_embedder(new, old, monkeypatch)
    with tenant_scope(scene.hub.tenant.id):
        Note.objects.filter(id=note.id).update(keywords=["paddle"])
        note.refresh_from_db()
        scene.hub.embedder = new
        scene._index_entries(indexer.build_note_entries([note]))
    assert count_models(scene) == {"new-16": 1}


def test_E17_said_again_begins_by_itself_and_twice_is_once(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    start_migration(scene)
    with tenant_scope(scene.hub.tenant.id):
        assert reembed.start_due_migration(scene.space, scene.hub.now) is None
    scene.hub.run_due_jobs(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        assert reembed.start_due_migration(scene.space, scene.hub.now) is None


def test_E17_and_back_again(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    before = search_texts(scene)
    switch_embedder(new, old, monkeypatch)
    start_migration(scene)
    run_migration_step(scene)
    # Before it is through, the operator goes back: the space has never left the old one.
    switch_embedder(old, new, monkeypatch)
    scene.hub.run_due_jobs(minutes=2)
    assert scene.space.embedding_model == "old-8"
    assert search_texts(scene) == before
    assert (get_last_migration(scene).state, set(count_models(scene))) == ("cancelled", {"old-8"})


def test_E17_forced_it_changes_over_at_once_with_words_for_what_is_missing(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, None, monkeypatch)
    # The old embedder is gone: until then words alone are searched, and it says so.
    gone = search_memories(scene.space, "kayak", now=scene.hub.now)
    assert list(gone.degraded) == ["dense"]
    assert gone.items
    call_command("reembed", "scripted", "--force")
    assert scene.space.embedding_model == "new-16"
    forced = search_memories(scene.space, "kayak", now=scene.hub.now)
    assert list(forced.degraded) == []
    assert "my kayak leaks" in {s.text for item in forced.items for s in item.sources}
    whole = count_models(scene)["old-8"]
    scene.hub.run_due_jobs(days=365)
    scene.hub.run_due_jobs(minutes=2)
    assert count_models(scene) == {"old-8": whole, "new-16": whole}
    call_command("reembed", "scripted", "--drop")
    assert count_models(scene) == {"new-16": whole}


def test_E17_the_packaged_embedder_is_found_by_its_name() -> None:
    settings = registry.EngineSettings(embedder="openai", openai_base_url="http://127.0.0.1:1/v1")
    made = registry.find_embedder("minilm-l6-v2-int8", settings)
    assert made is not None
    assert made.dimension == 384
    served = registry.find_embedder("text-embedding-3-small-256", settings)
    assert served is not None
    assert (served.name, served.dimension) == ("text-embedding-3-small-256", 256)
    assert registry.find_embedder("unheard-of", settings) is None


def test_E17_what_is_said_meanwhile_is_embedded_as_ever_and_for_the_cutover(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pipeline goes on writing the vectors that are searched; the new ones follow."""
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    assert get_last_migration(scene).state == "filled"
    scene.hub.set_policy("rag")
    scene.hub.say("the raft drifts on the lake")
    scene.hub.run_due_jobs()
    counts = count_models(scene)
    assert counts["old-8"] == counts["new-16"]
    assert "the raft drifts on the lake" in [text for text, _ in search_texts(scene, "raft drifts")]
    cutover.cut_over_migration(migration, scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    assert scene.space.embedding_model == "new-16"
    new.seen.clear()
    scene.hub.say("the canoe is gone")
    scene.hub.run_due_jobs()
    assert any("canoe" in text for text in new.seen)


def test_E17_filled_it_waits_to_be_cut_over_and_comes_back_with_what_was_said_since(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    before = search_texts(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    assert scene.space.embedding_model == "old-8"
    assert search_texts(scene) == before
    cutover.cut_over_migration(migration, scene.hub.now)
    assert (scene.space.embedding_model, get_last_migration(scene).state) == ("new-16", "live")
    assert search_texts(scene) != before
    scene.hub.embedder = new
    late = scene.add_fact("Ana sold the raft", scene.say("I sold the raft")[0])
    cutover.roll_back_migration(migration, scene.hub.now)
    assert (scene.space.embedding_model, get_last_migration(scene).state) == ("old-8", "back")
    # At once, by its words; a little later by its vector too.
    assert late.id in [item.id for item in search_memories(scene.space, "raft", now=ASKED).items]
    scene.hub.run_due_jobs(minutes=2)
    counts = count_models(scene)
    assert counts["old-8"] == counts["new-16"]
    assert next(text for text, _ in search_texts(scene) if "raft" not in text) == before[0][0]
    assert cutover.drop_unused_vectors(migration, scene.hub.now) == counts["new-16"]
    assert set(count_models(scene)) == {"old-8"}


def test_E17_rolled_back_a_text_that_changed_is_not_found_by_its_old_vector(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I9 holds on the way back as well."""
    note = scene.add_note("a kayak")
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    scene.hub.run_due_jobs(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        Note.objects.filter(id=note.id).update(keywords=["paddle"])
        note.refresh_from_db()
        scene.hub.embedder = new
        scene._index_entries(indexer.build_note_entries([note]))
    cutover.roll_back_migration(migration, scene.hub.now)
    assert count_models(scene) == {"new-16": 1}
    scene.hub.run_due_jobs(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        entries = IndexEntry.objects.filter(owner_id=note.id)
        hashes = dict(entries.values_list("model", "text_hash"))
    assert hashes["old-8"] == hashes["new-16"]


def test_E17_paused_it_embeds_no_more_and_resumed_nothing_twice(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    run_migration_step(scene)
    half, seen = count_models(scene)["new-16"], list(new.seen)
    cutover.pause_migration(migration, scene.hub.now)
    scene.hub.run_due_jobs(days=1)
    assert (count_models(scene)["new-16"], new.seen) == (half, seen)
    cutover.resume_migration(migration, scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    row = get_last_migration(scene)
    assert (row.state, row.done) == ("filled", row.total)
    assert count_models(scene)["new-16"] == count_models(scene)["old-8"]
    with pytest.raises(Conflict):
        cutover.resume_migration(migration, scene.hub.now)


def test_E17_cancelled_the_new_vectors_go_and_searches_never_noticed(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    before, counts = search_texts(scene), count_models(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    run_migration_step(scene)
    cutover.cancel_migration(migration, scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    assert (count_models(scene), search_texts(scene)) == (counts, before)
    # The hub's own wish for the embedder in use was declined by that: it does not begin again.
    with tenant_scope(scene.hub.tenant.id):
        assert reembed.start_due_migration(scene.space, scene.hub.now) is None


def test_E17_a_dead_embedder_loses_nothing_and_is_told(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    before = search_texts(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    run_migration_step(scene)
    half = count_models(scene)["new-16"]
    with monkeypatch.context() as down:
        down.setattr(new, "embed", lambda texts: (_ for _ in ()).throw(EngineError("it is away")))
        assert run_migration_step(scene)
        row = get_last_migration(scene)
        assert (row.failures, row.error, row.state) == (1, "it is away", "filling")
        assert (count_models(scene)["new-16"], search_texts(scene)) == (half, before)
    cutover.resume_migration(migration, scene.hub.now)  # at once, without waiting for the next try
    scene.hub.run_due_jobs(minutes=2)
    row = get_last_migration(scene)
    assert (row.state, row.error, row.done) == ("filled", "", row.total)


def test_E17_a_job_that_was_given_up_is_begun_again_by_the_sweep(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    with tenant_scope(scene.hub.tenant.id):
        Job.objects.filter(step="embed", state="queued").update(state="dead")
        reembed.start_due_migration(scene.space, scene.hub.now)
    scene.hub.run_due_jobs(minutes=2)
    assert scene.space.embedding_model == "new-16"


def test_E17_there_is_no_way_back_without_the_old_embedder_or_its_vectors(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    migration = cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    scene.hub.run_due_jobs(minutes=2)
    switch_embedder(new, None, monkeypatch)
    with pytest.raises(Conflict, match="is gone"):
        cutover.roll_back_migration(migration, scene.hub.now)
    switch_embedder(new, old, monkeypatch)
    cutover.drop_unused_vectors(migration, scene.hub.now)
    with pytest.raises(Conflict, match="another state"):
        cutover.roll_back_migration(migration, scene.hub.now)


def test_E17_one_migration_at_a_time_to_an_embedder_there_is(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    monkeypatch.setattr(registry, "find_embedder", lambda name, settings: None)
    with pytest.raises(InvalidInput) as refused:
        cutover.begin_migration(scene.space, "unheard-of", "ida", scene.hub.now)
    assert refused.value.field == "to"
    switch_embedder(new, old, monkeypatch)
    with pytest.raises(Conflict, match="already"):
        cutover.begin_migration(scene.space, "old-8", "ida", scene.hub.now)
    cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)
    with pytest.raises(Conflict, match="under way"):
        cutover.begin_migration(scene.space, "new-16", "ida", scene.hub.now)


def test_E17_the_command_begins_tells_and_decides(
    scene: RecallScene,
    old: RecordingEmbedder,
    new: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    fill_scene(scene)
    switch_embedder(new, old, monkeypatch)
    monkeypatch.setattr("memoryhub.pipeline.embeddings.cutover.ring_on_commit", lambda *ids: None)
    call_command("reembed", "scripted", "--hold")
    scene.hub.run_due_jobs(days=365)
    call_command("reembed", "scripted", "--status")
    assert "old-8 to new-16, filled, ready to compare" in capsys.readouterr().out
    call_command("reembed", "scripted", "--cut-over", "--space", scene.space.subject)
    assert scene.space.embedding_model == "new-16"
    call_command("reembed", "scripted", "--roll-back")
    assert scene.space.embedding_model == "old-8"


Capture = pytest.CaptureFixture[str]
