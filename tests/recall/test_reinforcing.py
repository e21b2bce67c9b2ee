"""Writing down what was recalled: what goes wrong with one answer is none of the others' affair."""

from __future__ import annotations

from memoryhub.background.deferred_writes import DeferredWriter
from memoryhub.recall.log import reinforcement
from memoryhub.recall.models import RecallLog
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.recall.scene import RecallScene


def test_an_answer_that_can_not_be_written_costs_the_others_nothing(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    fact = scene.add_fact("Ana has a kayak")
    for question in ("kayak?", "her kayak", "a kayak"):
        search_memories(scene.space, question, now=scene.hub.now)
    broken = reinforcement._buffer._waiting[1].entry
    assert broken is not None
    broken.log["judged"] = "\0"
    reinforcement.flush_recalls()
    with tenant_scope(scene.hub.tenant.id):
        assert set(RecallLog.objects.values_list("query", flat=True)) == {"kayak?", "a kayak"}
        assert Fact.objects.get(id=fact.id).strength == 3, "one, and one an answer written"


def test_the_thread_goes_on_whatever_could_not_be_written() -> None:
    written: list[str] = []
    said = iter(["odd", "even"])

    def write(words: list[str]) -> None:
        if "odd" in words:
            raise ValueError("odd")
        written.extend(words)

    class Clock:
        def wait(self, _seconds: float) -> bool:
            """The next word comes in; after the last one it is time to stop."""
            word = next(said, "")
            if word:
                buffer.add(word)
            return not word

    buffer = DeferredWriter("words", write)
    buffer._stop = Clock()  # type: ignore[assignment]  # a clock that nobody waits for
    buffer._flush_forever()
    assert written == ["even"]
