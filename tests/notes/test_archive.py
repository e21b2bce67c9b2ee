"""The archive of an agent: free notes, kept and searched by page (MemGPT, spec §3)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.errors import EngineError, InvalidInput
from memoryhub.tenants.scope import tenant_scope
from notes.archive import PassageQuery, add_passage, search_passages
from notes.models import Derivation, EvolutionEvent, IndexEntry, Note
from tests.support.factories import make_turns
from tests.support.hub import START_TIME, ScriptedHub

pytestmark = pytest.mark.django_db


def archive_texts(
    hub: ScriptedHub, *texts: str, tags: tuple[str, ...] = (), author: str = "aide"
) -> list[Note]:
    made = []
    for text in texts:
        made.append(
            add_passage(hub.space, text, hub.embedder, author=author, tags=tags, now=hub.now)
        )
        hub.pass_time(days=1)
    return made


def search_archive(hub: ScriptedHub, page: int = 1, **wanted: object) -> list[str]:
    passages = search_passages(hub.space, PassageQuery(**wanted), hub.embedder, page=page)  # type: ignore[arg-type]  # named by each test
    return [note.content for note in passages.notes]


def test_MG4_twelve_matches_come_in_pages_of_five_with_totals(hub: ScriptedHub) -> None:
    archive_texts(hub, *(f"apricot number {n}" for n in range(12)), "a pear")
    pages = [
        search_passages(hub.space, PassageQuery("apricot"), hub.embedder, page=n)
        for n in (1, 2, 3, 4)
    ]
    assert [len(page.notes) for page in pages] == [5, 5, 2, 0]
    assert [str(page) for page in pages] == [f"12 in all, page {n} of 3" for n in (1, 2, 3, 4)]
    shown = {note.content for page in pages for note in page.notes}
    assert shown == {f"apricot number {n}" for n in range(12)}


def test_a_passage_is_an_event_of_the_agents_own(hub: ScriptedHub) -> None:
    (note,) = archive_texts(hub, "  The door code changed  ", tags=("home", "home", ""))
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get()
        assert (event.kind, event.actor) == ("manual", "aide")
        assert (note.content, note.tags, note.author) == ("The door code changed", ["home"], "aide")
        assert (note.page_id, note.fact_id, note.enrichment) == (None, None, "done")
        assert IndexEntry.objects.get(owner_id=note.id).embedding is not None


def test_the_turns_it_was_made_of_are_its_support(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        (turn,) = make_turns(hub.space, "Mind the door code")
    note = add_passage(
        hub.space, "Door code", hub.embedder, author="aide", now=hub.now, turn_ids=[turn.id]
    )
    with tenant_scope(hub.tenant.id):
        assert Derivation.objects.get(child_id=note.id).turn_id == turn.id


def test_nothing_is_kept_of_an_empty_text(hub: ScriptedHub) -> None:
    with pytest.raises(InvalidInput):
        archive_texts(hub, " \0 ")


def test_meaning_finds_what_words_do_not_and_the_best_comes_first(hub: ScriptedHub) -> None:
    hub.embedder.table = {"boat": [1, 0.2], "raft": [1, 1], "ship": [1, 0], "cake": [0, 1]}
    archive_texts(hub, "She has a cake", "She built a raft", "She sails a boat")
    assert search_archive(hub, query="ship") == ["She sails a boat", "She built a raft"]


def test_nothing_near_is_no_match(hub: ScriptedHub) -> None:
    archive_texts(hub, "apricot jam")
    passages = search_passages(hub.space, PassageQuery("bicycle"), hub.embedder)
    assert (passages.notes, passages.total, passages.pages) == ([], 0, 1)


def test_without_a_query_the_newest_come_first(hub: ScriptedHub) -> None:
    archive_texts(hub, "first", "second")
    assert search_archive(hub) == ["second", "first"]


@pytest.mark.parametrize(("mode", "expected"), [("any", ["both", "salt"]), ("all", ["both"])])
def test_tags_any_or_all(hub: ScriptedHub, mode: str, expected: list[str]) -> None:
    archive_texts(hub, "salt", tags=("salt",))
    archive_texts(hub, "both", tags=("salt", "sugar"))
    archive_texts(hub, "none")
    assert search_archive(hub, tags=("salt", "sugar"), tag_mode=mode) == expected


def test_the_time_it_was_kept_is_bounded_half_open(hub: ScriptedHub) -> None:
    archive_texts(hub, "monday", "tuesday", "wednesday")
    start, end = START_TIME + timedelta(days=1), START_TIME + timedelta(days=2)
    assert search_archive(hub, start=start, end=end) == ["tuesday"]


def test_only_free_notes_in_force_are_the_archive(hub: ScriptedHub) -> None:
    hub.set_policy("amem")
    hub.say("apricot said in the dialogue")
    hub.run_due_jobs()
    gone, faded, _ = archive_texts(hub, "apricot gone", "apricot faded", "apricot kept")
    archive_texts(hub, "apricot of another", author="other")
    with tenant_scope(hub.tenant.id):
        Note.objects.filter(id=gone.id).update(retired_at=hub.now)
        Note.objects.filter(id=faded.id).update(visibility="dormant")
    assert search_archive(hub, query="apricot", author="aide") == ["apricot kept"]


def test_X9_a_chinese_passage_is_found_by_its_words(hub: ScriptedHub) -> None:
    archive_texts(hub, "她喜欢在洱海边骑车", "门的密码换了")
    assert search_archive(hub, query="洱海") == ["她喜欢在洱海边骑车"]


def test_E5_to_an_embedder_that_reads_no_chinese_likeness_is_no_match(hub: ScriptedHub) -> None:
    hub.embedder.name = "all-MiniLM-L6-v2"
    hub.embedder.table = {"洱海": [1, 0.1], "密码": [1, 0.2]}
    archive_texts(hub, "她喜欢在洱海边骑车", "门的密码换了")
    assert search_archive(hub, query="洱海") == ["她喜欢在洱海边骑车"]


@pytest.mark.parametrize("query", ["it's \\ 'quoted'", "a | b & !c", "<->"])
def test_a_query_is_words_and_no_syntax(hub: ScriptedHub, query: str) -> None:
    archive_texts(hub, "apricot jam")
    assert search_archive(hub, query=query) == []


def test_X14_without_an_embedder_words_decide(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(texts: object) -> None:
        raise EngineError("closed")

    monkeypatch.setattr(hub.embedder, "embed", closed)
    archive_texts(hub, "apricot jam", "a bicycle")
    assert search_archive(hub, query="apricot") == ["apricot jam"]
