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
from memoryhub.pipeline import migrating, reembedding, runner
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.recall.context import context
from memoryhub.recall.services import search
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import IndexEntry, Note
from tests.recall.scene import Scene
from tests.support.hub import START, TableEmbedder

ASKED = START + timedelta(days=1)


@dataclass
class Recorded(TableEmbedder):
    """What was embedded."""

    seen: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed(texts)


@pytest.fixture
def old(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """The embedder of 8 dimensions that the scene is embedded by."""
    table: dict[str, Sequence[float]] = {
        "kayak": [1.0, 0.0],
        "boat": [0.9, 0.44],
        "tent": [0.3, 0.95],
    }
    model = Recorded("old-8", 8, table=table)
    scene.hub.embedder = model
    monkeypatch.setattr(registry, "get_embedder", lambda settings: model)
    return model


@pytest.fixture
def new(old: Recorded, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Call `switch` to have it in use; the old one can still be made."""
    # To the new one a tent is nearer to a kayak than a boat is.
    table: dict[str, Sequence[float]] = {
        "kayak": [0.0, 1.0],
        "boat": [0.8, 0.6],
        "tent": [0.3, 0.95],
    }
    return Recorded("new-16", 16, table=table)


def switch(new: Recorded, old: Recorded | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda settings: new)
    monkeypatch.setattr(registry, "embedder_named", lambda name, settings: old)
    monkeypatch.setattr(reembedding, "BATCH", 4)


def fill(scene: Scene) -> None:
    turns = scene.say("my kayak leaks", "the boat is blue", "a tent in the rain")
    for turn, text in zip(
        turns, ("Ana has a kayak", "Ana saw a boat", "Ana owns a tent"), strict=True
    ):
        scene.fact(text, turn)
        scene.note(f"note of the {text.split()[-1]}", turn)
    scene.segment("kayak and boat", *turns[:2], keywords=["kayak"])
    scene.hub.drain()  # there is nothing to read any more


def found(scene: Scene, question: str = "kayak") -> list[tuple[str, float]]:
    result = search(scene.space, question, now=ASKED, reinforce=False)
    assert list(result.degraded) == []
    return [(item.text, round(item.score, 6)) for item in result.items]


def models(scene: Scene) -> dict[str, int]:
    with tenant_scope(scene.hub.tenant.id):
        names = list(IndexEntry.objects.values_list("model", flat=True))
    return {name: names.count(name) for name in set(names)}


def last(scene: Scene) -> EmbeddingMigration:
    with tenant_scope(scene.hub.tenant.id):
        return migrating.of_space(scene.space)


def begin(scene: Scene) -> None:
    with tenant_scope(scene.hub.tenant.id):
        assert reembedding.start(scene.space, scene.hub.now)


def step(scene: Scene) -> bool:
    return runner.run_next(scene.hub.tenant.id, scene.space.id, scene.hub.now)


def test_X5_half_backfilled_results_are_those_of_before_and_then_only_the_new_model_s(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    before, wider = found(scene), context(scene.space, "kayak", now=scene.hub.now).text
    whole = models(scene)["old-8"]
    assert scene.space.embedding_model == "old-8"
    switch(new, old, monkeypatch)
    begin(scene)
    assert step(scene)
    half = models(scene)["new-16"]
    assert 0 < half < whole
    old.seen.clear()
    new.seen.clear()
    assert found(scene) == before
    assert context(scene.space, "kayak", now=scene.hub.now).text == wider
    assert (old.seen, new.seen) == (["kayak", "kayak"], [])
    while scene.space.embedding_model == "old-8":
        assert step(scene)
        expected = before if scene.space.embedding_model == "old-8" else None
        assert expected is None or found(scene) == expected
    assert models(scene) == {"old-8": whole, "new-16": whole}
    old.seen.clear()
    after = found(scene)
    assert old.seen == []
    assert after != before
    assert [text for text, _ in after].index("Ana owns a tent") < [text for text, _ in after].index(
        "Ana saw a boat"
    )
    scene.hub.drain(minutes=2)
    # The old ones stay until somebody drops them: until then there is a way back.
    assert models(scene) == {"old-8": whole, "new-16": whole}
    migrating.drop(last(scene), scene.hub.now)
    assert models(scene) == {"new-16": whole}
    assert found(scene) == after


def test_E17_what_only_the_new_one_has_seen_is_found_by_its_words_until_the_cutover(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    scene.hub.embedder = new
    late = scene.fact("Ana sold the raft", scene.say("I sold the raft")[0])
    result = search(scene.space, "raft", now=scene.hub.now)
    assert late.id in [item.id for item in result.items]
    begin(scene)
    scene.hub.drain(minutes=2)
    assert scene.space.embedding_model == "new-16"
    assert late.id in [i.id for i in search(scene.space, "raft", now=scene.hub.now).items]


def test_E17_a_memory_that_changed_meanwhile_is_not_found_by_its_old_vector(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I9: a vector is that of the present text, or there is none."""
    note = scene.note("a kayak")
    switch(new, old, monkeypatch)
    with tenant_scope(scene.hub.tenant.id):
        Note.objects.filter(id=note.id).update(keywords=["paddle"])
        note.refresh_from_db()
        scene.hub.embedder = new
        scene._index(indexing.note_entries([note]))
    assert models(scene) == {"new-16": 1}


def test_E17_said_again_begins_by_itself_and_twice_is_once(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    begin(scene)
    with tenant_scope(scene.hub.tenant.id):
        assert reembedding.start(scene.space, scene.hub.now) is None
    scene.hub.drain(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        assert reembedding.start(scene.space, scene.hub.now) is None


def test_E17_and_back_again(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    before = found(scene)
    switch(new, old, monkeypatch)
    begin(scene)
    step(scene)
    # Before it is through, the operator goes back: the space has never left the old one.
    switch(old, new, monkeypatch)
    scene.hub.drain(minutes=2)
    assert scene.space.embedding_model == "old-8"
    assert found(scene) == before
    assert (last(scene).state, set(models(scene))) == ("cancelled", {"old-8"})


def test_E17_forced_it_changes_over_at_once_with_words_for_what_is_missing(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, None, monkeypatch)
    # The old embedder is gone: until then words alone are searched, and it says so.
    gone = search(scene.space, "kayak", now=scene.hub.now)
    assert list(gone.degraded) == ["dense"]
    assert gone.items
    call_command("reembed", "scripted", "--force")
    assert scene.space.embedding_model == "new-16"
    forced = search(scene.space, "kayak", now=scene.hub.now)
    assert list(forced.degraded) == []
    assert "my kayak leaks" in {s.text for item in forced.items for s in item.sources}
    whole = models(scene)["old-8"]
    scene.hub.drain(days=365)
    scene.hub.drain(minutes=2)
    assert models(scene) == {"old-8": whole, "new-16": whole}
    call_command("reembed", "scripted", "--drop")
    assert models(scene) == {"new-16": whole}


def test_E17_the_packaged_embedder_is_found_by_its_name() -> None:
    settings = registry.EngineSettings(embedder="openai", openai_base_url="http://127.0.0.1:1/v1")
    made = registry.embedder_named("minilm-l6-v2-int8", settings)
    assert made is not None
    assert made.dimension == 384
    served = registry.embedder_named("text-embedding-3-small-256", settings)
    assert served is not None
    assert (served.name, served.dimension) == ("text-embedding-3-small-256", 256)
    assert registry.embedder_named("unheard-of", settings) is None


def test_E17_what_is_said_meanwhile_is_embedded_as_ever_and_for_the_cutover(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipeline goes on writing the vectors that are searched; the new ones follow."""
    fill(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    scene.hub.drain(minutes=2)
    assert last(scene).state == "filled"
    scene.hub.policy("rag")
    scene.hub.say("the raft drifts on the lake")
    scene.hub.drain()
    counts = models(scene)
    assert counts["old-8"] == counts["new-16"]
    assert "the raft drifts on the lake" in [text for text, _ in found(scene, "raft drifts")]
    migrating.cut_over(migration, scene.hub.now)
    scene.hub.drain(minutes=2)
    assert scene.space.embedding_model == "new-16"
    new.seen.clear()
    scene.hub.say("the canoe is gone")
    scene.hub.drain()
    assert any("canoe" in text for text in new.seen)


def test_E17_filled_it_waits_to_be_cut_over_and_comes_back_with_what_was_said_since(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    before = found(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    scene.hub.drain(minutes=2)
    assert scene.space.embedding_model == "old-8"
    assert found(scene) == before
    migrating.cut_over(migration, scene.hub.now)
    assert (scene.space.embedding_model, last(scene).state) == ("new-16", "live")
    assert found(scene) != before
    scene.hub.embedder = new
    late = scene.fact("Ana sold the raft", scene.say("I sold the raft")[0])
    migrating.roll_back(migration, scene.hub.now)
    assert (scene.space.embedding_model, last(scene).state) == ("old-8", "back")
    # At once, by its words; a little later by its vector too.
    assert late.id in [item.id for item in search(scene.space, "raft", now=ASKED).items]
    scene.hub.drain(minutes=2)
    counts = models(scene)
    assert counts["old-8"] == counts["new-16"]
    assert next(text for text, _ in found(scene) if "raft" not in text) == before[0][0]
    assert migrating.drop(migration, scene.hub.now) == counts["new-16"]
    assert set(models(scene)) == {"old-8"}


def test_E17_rolled_back_a_text_that_changed_is_not_found_by_its_old_vector(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I9 holds on the way back as well."""
    note = scene.note("a kayak")
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    scene.hub.drain(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        Note.objects.filter(id=note.id).update(keywords=["paddle"])
        note.refresh_from_db()
        scene.hub.embedder = new
        scene._index(indexing.note_entries([note]))
    migrating.roll_back(migration, scene.hub.now)
    assert models(scene) == {"new-16": 1}
    scene.hub.drain(minutes=2)
    with tenant_scope(scene.hub.tenant.id):
        entries = IndexEntry.objects.filter(owner_id=note.id)
        hashes = dict(entries.values_list("model", "text_hash"))
    assert hashes["old-8"] == hashes["new-16"]


def test_E17_paused_it_embeds_no_more_and_resumed_nothing_twice(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    step(scene)
    half, seen = models(scene)["new-16"], list(new.seen)
    migrating.pause(migration, scene.hub.now)
    scene.hub.drain(days=1)
    assert (models(scene)["new-16"], new.seen) == (half, seen)
    migrating.resume(migration, scene.hub.now)
    scene.hub.drain(minutes=2)
    row = last(scene)
    assert (row.state, row.done) == ("filled", row.total)
    assert models(scene)["new-16"] == models(scene)["old-8"]
    with pytest.raises(Conflict):
        migrating.resume(migration, scene.hub.now)


def test_E17_cancelled_the_new_vectors_go_and_searches_never_noticed(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    before, counts = found(scene), models(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    step(scene)
    migrating.cancel(migration, scene.hub.now)
    scene.hub.drain(minutes=2)
    assert (models(scene), found(scene)) == (counts, before)
    # The hub's own wish for the embedder in use was declined by that: it does not begin again.
    with tenant_scope(scene.hub.tenant.id):
        assert reembedding.start(scene.space, scene.hub.now) is None


def test_E17_a_dead_embedder_loses_nothing_and_is_told(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    before = found(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    step(scene)
    half = models(scene)["new-16"]
    with monkeypatch.context() as down:
        down.setattr(new, "embed", lambda texts: (_ for _ in ()).throw(EngineError("it is away")))
        assert step(scene)
        row = last(scene)
        assert (row.failures, row.error, row.state) == (1, "it is away", "filling")
        assert (models(scene)["new-16"], found(scene)) == (half, before)
    migrating.resume(migration, scene.hub.now)  # at once, without waiting for the next try
    scene.hub.drain(minutes=2)
    row = last(scene)
    assert (row.state, row.error, row.done) == ("filled", "", row.total)


def test_E17_a_job_that_was_given_up_is_begun_again_by_the_sweep(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    migrating.begin(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    with tenant_scope(scene.hub.tenant.id):
        Job.objects.filter(step="embed", state="queued").update(state="dead")
        reembedding.start(scene.space, scene.hub.now)
    scene.hub.drain(minutes=2)
    assert scene.space.embedding_model == "new-16"


def test_E17_there_is_no_way_back_without_the_old_embedder_or_its_vectors(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    migration = migrating.begin(scene.space, "new-16", "ida", scene.hub.now, flips=True)
    scene.hub.drain(minutes=2)
    switch(new, None, monkeypatch)
    with pytest.raises(Conflict, match="is gone"):
        migrating.roll_back(migration, scene.hub.now)
    switch(new, old, monkeypatch)
    migrating.drop(migration, scene.hub.now)
    with pytest.raises(Conflict, match="another state"):
        migrating.roll_back(migration, scene.hub.now)


def test_E17_one_migration_at_a_time_to_an_embedder_there_is(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    monkeypatch.setattr(registry, "embedder_named", lambda name, settings: None)
    with pytest.raises(InvalidInput) as refused:
        migrating.begin(scene.space, "unheard-of", "ida", scene.hub.now)
    assert refused.value.field == "to"
    switch(new, old, monkeypatch)
    with pytest.raises(Conflict, match="already"):
        migrating.begin(scene.space, "old-8", "ida", scene.hub.now)
    migrating.begin(scene.space, "new-16", "ida", scene.hub.now)
    with pytest.raises(Conflict, match="under way"):
        migrating.begin(scene.space, "new-16", "ida", scene.hub.now)


def test_E17_the_command_begins_tells_and_decides(
    scene: Scene, old: Recorded, new: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    fill(scene)
    switch(new, old, monkeypatch)
    monkeypatch.setattr("memoryhub.pipeline.migrating.ring_on_commit", lambda *ids: None)
    call_command("reembed", "scripted", "--hold")
    scene.hub.drain(days=365)
    call_command("reembed", "scripted", "--status")
    assert "old-8 to new-16, filled: to be compared" in capsys.readouterr().out
    call_command("reembed", "scripted", "--cut-over", "--space", scene.space.subject)
    assert scene.space.embedding_model == "new-16"
    call_command("reembed", "scripted", "--roll-back")
    assert scene.space.embedding_model == "old-8"


Capture = pytest.CaptureFixture[str]
