"""Topic episodes: where they end, what they cover (AMA, spec §7, §15.7)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import store
from notes.episodes.spans import PageStretch, find_closed_spans
from notes.models import Derivation, Episode, EvolutionEvent, IndexEntry
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
SILENT: dict[str, Any] = {"changes": []}


def make_stretches(*turns: int, opens: tuple[int, ...] = ()) -> list[PageStretch]:
    return [PageStretch(UUID(int=n), count, n in opens) for n, count in enumerate(turns)]


def list_sizes(spans: Any) -> list[int]:
    return [sum(stretch.turns for stretch in span) for span in spans]


def test_a_span_ends_when_the_window_is_full() -> None:
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, 2, 2, 2), 10)) == [10]
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, 2), 10)) == []


def test_a_span_ends_before_another_topic_unless_it_is_too_short() -> None:
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, 2, opens=(2,)), 10)) == [4]
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, opens=(1,)), 10)) == []
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, opens=(1,)), 10, least=1)) == [2]


def test_what_is_left_of_a_session_that_is_over_is_a_span() -> None:
    assert list_sizes(find_closed_spans(make_stretches(2, 2, 2, opens=(2,)), 10, ended=True)) == [
        4,
        2,
    ]


@pytest.fixture
def topical(hub: ScriptedHub) -> ScriptedHub:
    """Only topics' episodes are written; constructing finds nothing."""
    hub.set_policy("rag", facts__enabled=True, episodes__topic=True)
    hub.model.allow(construct=SILENT)
    return hub


def say_exchanges(hub: ScriptedHub, *said: str, session: str = "s1") -> None:
    for text in said:
        hub.say_exchange(text, f"You said: {text}", session=session)
    hub.run_due_jobs(minutes=1)


def list_topics(hub: ScriptedHub) -> list[Episode]:
    with tenant_scope(hub.tenant.id):
        return list(Episode.objects.filter(kind="topic").order_by("from_seq"))


GARDEN = ("My fig tree has fruit.", "I water it at night.")
WRITTEN = {"title": "The fig tree", "text": "Ana's fig tree has fruit; she waters it at night."}


def test_AA9_a_full_window_is_seen_by_code_and_no_gate_is_asked(hub: ScriptedHub) -> None:
    set_gate_policy(hub)
    hub.set_policy("rag", episodes__topic=True, episodes__window_turns=4)
    hub.model.script("episode_gate", {"open": False, "cause": "none"})
    hub.model.script("episode_write", WRITTEN)
    for number, said in enumerate(GARDEN, 1):
        say_exchanges(hub, said)
        # The exchange that fills the window, and a first one, are nothing to ask about.
        assert len(hub.model.list_calls("episode_gate")) == 0, number
    (episode,) = list_topics(hub)
    assert (episode.from_seq, episode.to_seq) == (1, 4)
    assert episode.text == WRITTEN["text"]
    # What begins the next window is not asked about either; its second exchange would be.
    hub.set_policy("rag", episodes__topic=True, episodes__window_turns=6)
    say_exchanges(hub, "I bought a car.")
    assert hub.model.list_calls("episode_gate") == []
    say_exchanges(hub, "It is red.")
    (asked,) = hub.model.list_calls("episode_gate")
    assert "red" in asked["newest"]["text"]
    assert len(list_topics(hub)) == 1


def test_AA9_a_shift_closes_exactly_the_open_span(topical: ScriptedHub) -> None:
    topical.model.script("episode_write", WRITTEN)
    say_exchanges(topical, *GARDEN)
    assert list_topics(topical) == []
    topical.model.script("construct", SILENT | {"new_topic": True})
    say_exchanges(topical, "By the way, I bought a car.")
    (episode,) = list_topics(topical)
    assert (episode.from_seq, episode.to_seq) == (1, 4)
    (asked,) = topical.model.list_calls("episode_write")
    said = [exchange["text"] for exchange in asked["exchanges"]]
    assert len(said) == 2
    assert all(words in text for words, text in zip(GARDEN, said, strict=True))
    assert topical.model.list_calls("episode_gate") == []


def set_gate_policy(hub: ScriptedHub) -> ScriptedHub:
    """A policy under which constructing says nothing of topics."""
    hub.set_policy("rag", episodes__topic=True)
    hub.model.allow(construct=SILENT)
    return hub


def test_AA9_a_shift_that_the_gate_sees_closes_exactly_the_open_span(hub: ScriptedHub) -> None:
    set_gate_policy(hub)
    shift = {"open": True, "cause": "shift"}
    hub.model.script("episode_gate", {"open": False, "cause": "none"}, shift)
    hub.model.script("episode_write", WRITTEN)
    say_exchanges(hub, *GARDEN)
    say_exchanges(hub, "I bought a car.")
    (episode,) = list_topics(hub)
    assert (episode.from_seq, episode.to_seq) == (1, 4)
    window = hub.model.list_calls("episode_gate")[1]
    assert len(window["window"]) == 2
    assert "car" in window["newest"]["text"]


def test_AA9_a_request_closes_with_the_exchange_that_makes_it(hub: ScriptedHub) -> None:
    set_gate_policy(hub)
    hub.model.script("episode_gate", {"open": True, "cause": "request"})
    hub.model.script("episode_write", WRITTEN)
    say_exchanges(hub, GARDEN[0])
    say_exchanges(hub, "Please sum that up.")
    (episode,) = list_topics(hub)
    assert (episode.from_seq, episode.to_seq) == (1, 4)


def test_a_gate_that_fails_leaves_the_window_as_the_rule(hub: ScriptedHub) -> None:
    set_gate_policy(hub)
    hub.set_policy("rag", episodes__topic=True, episodes__window_turns=4)
    say_exchanges(hub, GARDEN[0])
    hub.model.script("episode_write", WRITTEN)
    say_exchanges(hub, GARDEN[1])
    assert len(list_topics(hub)) == 1
    hub.set_policy("rag", episodes__topic=True)
    hub.model.script("episode_gate", EngineError("down"))
    say_exchanges(hub, "I bought a car.", "It is red.")
    assert len(list_topics(hub)) == 1


def test_a_silence_ends_a_topic_without_a_model(topical: ScriptedHub) -> None:
    say_exchanges(topical, *GARDEN)
    topical.pass_time(hours=2)
    topical.model.script("episode_write", WRITTEN)
    say_exchanges(topical, "I bought a car.")
    assert [(e.from_seq, e.to_seq) for e in list_topics(topical)] == [(1, 4)]


def test_a_session_left_is_closed_when_another_goes_on(topical: ScriptedHub) -> None:
    say_exchanges(topical, GARDEN[0], session="monday")
    topical.pass_time(days=1)
    topical.model.script("episode_write", WRITTEN)
    say_exchanges(topical, "I bought a car.", session="tuesday")
    (episode,) = list_topics(topical)
    assert (episode.from_seq, episode.to_seq) == (1, 2)


def test_sessions_read_in_one_go_are_each_summed_up_by_one_job(topical: ScriptedHub) -> None:
    for day in ("monday", "tuesday", "wednesday", "thursday"):
        topical.say_exchange(GARDEN[0], "You said so.", session=day)
        topical.pass_time(days=1)
    topical.model.script("episode_write", WRITTEN, WRITTEN, WRITTEN)
    topical.run_due_jobs(minutes=1)
    with tenant_scope(topical.tenant.id):
        planned = Job.objects.filter(step="episode").values_list("payload__session", flat=True)
        assert len(planned) == len(set(planned)) == 3
    assert [(e.from_seq, e.to_seq) for e in list_topics(topical)] == [(1, 2), (3, 4), (5, 6)]


def test_a_failed_writing_leaves_the_span_open_and_is_tried_again(topical: ScriptedHub) -> None:
    topical.set_policy("rag", facts__enabled=True, episodes__topic=True, episodes__window_turns=4)
    topical.model.script("episode_write", EngineError("down"))
    say_exchanges(topical, *GARDEN)
    assert list_topics(topical) == []
    with tenant_scope(topical.tenant.id):
        assert Job.objects.get(step="episode").state == Job.State.RETRY
    topical.model.script("episode_write", WRITTEN)
    topical.run_due_jobs(hours=1)
    assert len(list_topics(topical)) == 1


def test_I2_I6_an_episode_has_its_event_and_every_turn_for_a_source(topical: ScriptedHub) -> None:
    topical.set_policy("rag", facts__enabled=True, episodes__topic=True, episodes__window_turns=4)
    topical.model.script("episode_write", WRITTEN)
    say_exchanges(topical, *GARDEN)
    (episode,) = list_topics(topical)
    with tenant_scope(topical.tenant.id):
        event = EvolutionEvent.objects.get(kind="digest")
        assert event.revisions.get().row_id == episode.id
        links = Derivation.objects.filter(child_type="episode", child_id=episode.id)
        assert set(links.values_list("turn_id", flat=True)) == set(
            Turn.objects.values_list("id", flat=True)
        )
        assert IndexEntry.objects.get(kind="episode").owner_id == episode.id


def test_a_title_that_says_too_much_is_cut_and_prose_is_no_episode(topical: ScriptedHub) -> None:
    topical.set_policy("rag", facts__enabled=True, episodes__topic=True, episodes__window_turns=4)
    topical.model.script("episode_write", {"title": "x " * 400, "text": "Fine. " * 2000})
    say_exchanges(topical, *GARDEN)
    (episode,) = list_topics(topical)
    assert len(episode.title) <= 200
    assert len(episode.text) <= 4000
    topical.model.script("episode_write", "Here is the summary!", "Sorry.")
    say_exchanges(topical, "I bought a car.", "It is red.")
    assert len(list_topics(topical)) == 1


def test_only_live_episodes_are_found(topical: ScriptedHub) -> None:
    topical.set_policy("rag", facts__enabled=True, episodes__topic=True, episodes__window_turns=4)
    topical.model.script("episode_write", WRITTEN)
    say_exchanges(topical, *GARDEN)
    with tenant_scope(topical.tenant.id):
        assert Episode.objects.filter(store.build_live_q()).count() == 1
        Episode.objects.update(stale=True)
        assert not Episode.objects.filter(store.build_live_q()).exists()
