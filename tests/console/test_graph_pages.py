"""The link graph: what is in it, what is left out, the table, the panel, and its statements."""

from __future__ import annotations

import gzip
import json
import re
from datetime import timedelta
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from memoryhub.console.frame.text.wording import LINK_KINDS
from memoryhub.console.pages.graph import link_graph
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Link, Note, Relation
from tests.console.conftest import ConsoleWorld, make_world
from tests.console.test_pages import FRAME
from tests.support.factories import (
    MAY,
    make_entity,
    make_fact,
    make_link,
    make_note,
    make_segment,
    make_source,
    make_space,
    make_turns,
)

EARLIER = MAY - timedelta(days=1)
ABSENT = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def web(world: ConsoleWorld) -> dict[str, Any]:
    """The world's note and fact with one of every kind of link."""
    with tenant_scope(world.tenant.id):
        space, tenant = world.space, world.tenant
        note = make_note(space, "Two hives by the mill")
        make_source(note, world.turn)
        older = make_fact(space, "I keep bees in Lier", valid_to=MAY, recorded_at=EARLIER)
        Fact.objects.filter(id=world.fact.id).update(supersedes=older, confidence=0.4)
        nora, ghent = make_entity(space, "Nora"), make_entity(space, "Ghent town")
        Relation.objects.create(
            tenant=tenant, space=space, fact=world.fact, src=nora, label="keeps_bees_in", dst=ghent
        )
        make_link(note, world.note, weight=0.3, kind="elaborates")
        other, *_ = make_turns(space, "More on bees.")
        topic = make_segment(space, "Bees again", other)
        page = topic.memberships.get().page
        Note.objects.filter(id=note.id).update(page=page)
    return {"note": note, "older": older, "nora": nora, "ghent": ghent, "topic": topic}


def get_graph_data(browser: Client, world: ConsoleWorld, query: str = "") -> dict[str, Any]:
    answer = browser.get(reverse("space-graph-data", args=[world.space.id]) + query)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def get_graph_page(browser: Client, world: ConsoleWorld, query: str = "") -> str:
    return browser.get(reverse("space-graph", args=[world.space.id]) + query).content.decode()


def get_node_card(browser: Client, world: ConsoleWorld, node: Any) -> str:
    where = reverse("space-graph-about", args=[world.space.id])
    return browser.get(f"{where}?node={node.id}").content.decode()


def list_node_texts(found: dict[str, Any]) -> set[str]:
    return {row[2] for row in found["nodes"]}


def list_links(found: dict[str, Any]) -> set[tuple[str, str, str, float, str]]:
    rows = found["nodes"]
    return {
        (rows[source][2], found["links"][kind], rows[target][2], weight, label)
        for source, target, kind, weight, label in found["edges"]
    }


def test_notes_facts_and_entities_are_joined_by_every_kind_of_link(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    found = get_graph_data(browser, world)
    bees, hives = "I keep bees in Ghent", "Two hives by the mill"
    assert {bees, hives, "Bees in Ghent", "Nora", "Ghent town", "Ghent"} <= list_node_texts(found)
    assert "Bees again" not in list_node_texts(found)  # a segment, unless asked for
    joined = list_links(found)
    assert (bees, "supersedes", "I keep bees in Lier", 1.0, "") in joined
    assert ("Nora", "relation", "Ghent town", 0.4, "keeps_bees_in") in joined
    assert (bees, "mentions", "Nora", 0.4, "") in joined
    assert (hives, "support", bees, 1.0, "") in joined
    pair = {(source, target) for source, kind, target, *_ in joined if kind == "link"}
    assert pair in ({(hives, "Bees in Ghent")}, {("Bees in Ghent", hives)})


def test_segments_and_episodes_are_drawn_when_asked_for(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    found = get_graph_data(browser, world, "?kind=note&kind=segment&kind=episode")
    assert ("Two hives by the mill", "about", "Bees again", 1.0, "") in list_links(found)
    assert "Bees" in list_node_texts(found)  # the episode's title
    assert "I keep bees in Ghent" not in list_node_texts(found)


def test_what_held_once_is_marked_and_what_was_withdrawn_is_not_there(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "never so", status="retracted")
        make_fact(world.space, "reworded", retired_at=MAY)
        Link.objects.update(active=False)
    found = get_graph_data(browser, world)
    past = {row[2]: row[4] for row in found["nodes"]}
    assert past["I keep bees in Lier"] == 1
    assert past["I keep bees in Ghent"] == 0
    assert list_node_texts(found).isdisjoint({"never so", "reworded"})
    assert "link" not in {kind for _, kind, *_ in list_links(found)}


def test_size_follows_heat(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "often said", mention_count=50, recall_count=50)
    heat = {row[2]: row[3] for row in get_graph_data(browser, world)["nodes"]}
    assert heat["often said"] == 1.0
    assert 0 < heat["I keep bees in Ghent"] < 0.6


def test_beyond_the_most_the_warmest_are_drawn_and_the_rest_is_told(
    browser: Client, world: ConsoleWorld, web: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.console.pages.graph.queries.MAX_NODES", 2)
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "often said", mention_count=50)
        make_note(world.space, "often read", recall_count=40)
    found = get_graph_data(browser, world)
    assert list_node_texts(found) == {"often said", "often read"}
    assert found["total"] == 9
    assert "Showing the 2 hottest of 9 memories" in found["left_out"]
    assert "the 2 hottest" in get_graph_page(browser, world, "?view=table")


def test_links_beyond_the_most_are_told_too(
    browser: Client, world: ConsoleWorld, web: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.console.pages.graph.queries.MAX_LINKS", 1)
    found = get_graph_data(browser, world)
    assert len(found["edges"]) == 1
    assert "the 1 strongest" in found["left_out"]


@pytest.mark.parametrize(
    ("depth", "there", "not_there"),
    [
        (1, {"Nora", "I keep bees in Ghent", "Ghent town"}, {"Two hives by the mill"}),
        (2, {"Two hives by the mill", "I keep bees in Lier"}, {"Bees in Ghent"}),
        (3, {"Bees in Ghent"}, {"Ghent"}),
    ],
)
def test_around_a_memory_as_far_as_asked(
    browser: Client,
    world: ConsoleWorld,
    web: dict[str, Any],
    depth: int,
    there: set[str],
    not_there: set[str],
) -> None:
    found = get_graph_data(browser, world, f"?around={web['nora'].id}&depth={depth}")
    assert there <= list_node_texts(found)
    assert list_node_texts(found).isdisjoint(not_there)


def test_weak_links_lead_nowhere_when_they_are_hidden(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    query = f"?around={web['note'].id}&weight=0.5"
    assert "Bees in Ghent" not in list_node_texts(get_graph_data(browser, world, query))
    assert "Bees in Ghent" in list_node_texts(
        get_graph_data(browser, world, f"?around={web['note'].id}&weight=0.3")
    )


def test_an_answer_is_small_and_kept(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    where = reverse("space-graph-data", args=[world.space.id])
    answer = browser.get(where, headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(answer.content))["nodes"]) == 7
    again = browser.get(where, headers={"Accept-Encoding": "gzip", "If-None-Match": answer["ETag"]})
    assert again.status_code == 304
    with tenant_scope(world.tenant.id):
        make_note(world.space, "new")
    assert browser.get(where, headers={"If-None-Match": answer["ETag"]}).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "?most=all",
        "?kind=note&kind=segment&q=mill&most=120",
        "?around={}&depth=2&most=40",
        "?around={}&weight=0.5&link=link&most=all",
    ],
)
def test_the_page_asks_ahead_for_the_data_of_its_address(
    browser: Client, world: ConsoleWorld, web: dict[str, Any], query: str
) -> None:
    query = query.format(web["note"].id)
    ahead = re.search(r'rel="preload"[^>]* href="([^"]+)"', get_graph_page(browser, world, query))
    assert ahead
    assert browser.get(unescape(ahead[1])).json() == get_graph_data(browser, world, query)
    assert 'rel="preload"' not in get_graph_page(browser, world, f"{query}&view=table")


def read_asked_ahead(shown: str) -> str:
    """The query of the data that a page asks for."""
    ahead = re.search(r'rel="preload"[^>]* href="([^"]+)"', shown)
    assert ahead
    return "?" + unescape(ahead[1]).partition("?")[2]


@pytest.fixture
def person(world: ConsoleWorld, web: dict[str, Any]) -> Any:
    """The space's person, whom one fact of the web speaks of."""
    with tenant_scope(world.tenant.id):
        entity = make_entity(world.space, world.space.display_name)
        Relation.objects.create(
            tenant=world.tenant,
            space=world.space,
            fact=world.fact,
            src=entity,
            label="keeps",
            dst=web["ghent"],
        )
    return entity


def test_where_the_person_is_no_entity_the_graph_opens_on_what_is_spoken_of_most(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    with tenant_scope(world.tenant.id):
        make_entity(world.space, "The mill", type="place", mention_count=90)
        friend = make_entity(world.space, "Odile", type="person", mention_count=50)
        ends = {"src": friend, "label": "visits", "dst": web["ghent"]}
        Relation.objects.create(tenant=world.tenant, space=world.space, fact=world.fact, **ends)
    assert read_asked_ahead(get_graph_page(browser, world)).startswith(f"?around={friend.id}&")


def test_where_no_relation_names_the_person_the_graph_opens_on_everything(
    browser: Client, world: ConsoleWorld
) -> None:
    """Around somebody whom nothing is linked with there would be nothing to see."""
    with tenant_scope(world.tenant.id):
        make_entity(world.space, world.space.display_name, type="person", mention_count=70)
    query = read_asked_ahead(get_graph_page(browser, world))
    assert "around" not in query
    assert "I keep bees in Ghent" in list_node_texts(get_graph_data(browser, world, query))


def test_the_graph_opens_on_the_person_who_is_not_drawn(
    browser: Client, world: ConsoleWorld, web: dict[str, Any], person: Any
) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "nobody is linked with this")
    query = read_asked_ahead(get_graph_page(browser, world))
    assert query == f"?around={person.id}&depth=2&weight=0.0&" + "&".join(
        [*(f"link={kind}" for kind in LINK_KINDS), "most=40"]
    )
    found = get_graph_data(browser, world, query)
    assert {"I keep bees in Ghent", "Ghent town"} <= list_node_texts(found)
    assert list_node_texts(found).isdisjoint({person.name, "nobody is linked with this"})
    assert found["hubs"] == [person.name]
    assert f"nearly everything is linked to them: {person.name}" in found["left_out"]
    assert person.name in list_node_texts(get_graph_data(browser, world, f"{query}&speakers=1"))
    everything = get_graph_page(browser, world, "?most=all")
    assert read_asked_ahead(everything) == "?"


def test_what_lies_behind_a_speaker_is_not_near(
    browser: Client, world: ConsoleWorld, web: dict[str, Any], person: Any
) -> None:
    with tenant_scope(world.tenant.id):
        other = make_fact(world.space, "another matter")
        far = make_entity(world.space, "Mars")
        ends = {"src": person, "label": "sees", "dst": far}
        Relation.objects.create(tenant=world.tenant, space=world.space, fact=other, **ends)
    query = f"?around={world.fact.id}&depth=3"
    assert "another matter" not in list_node_texts(get_graph_data(browser, world, query))
    assert "another matter" in list_node_texts(
        get_graph_data(browser, world, f"{query}&speakers=1")
    )


def test_the_graph_opens_on_a_question(
    browser: Client,
    world: ConsoleWorld,
    web: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find(_space: Any, question: str, **_options: Any) -> Any:
        assert question == "where are the bees"
        return SimpleNamespace(items=[SimpleNamespace(id=world.fact.id)])

    monkeypatch.setattr("memoryhub.console.pages.graph.views.search_memories", find)
    shown = get_graph_page(browser, world, "?ask=where+are+the+bees")
    assert f"around={world.fact.id}" in read_asked_ahead(shown)
    assert 'data-here="where are the bees"' in shown
    monkeypatch.setattr(
        "memoryhub.console.pages.graph.views.search_memories",
        lambda *_given, **_options: SimpleNamespace(items=[]),
    )
    assert "Nothing here answers" in get_graph_page(browser, world, "?ask=and+the+wasps")


def test_what_is_looked_around_is_drawn_however_cold_it_is(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(recall_count=90)
    query = f"?around={web['older'].id}&most=1"
    assert list_node_texts(get_graph_data(browser, world, query)) == {"I keep bees in Lier"}
    query = f"?around={web['older'].id}&most=2"
    assert len(get_graph_data(browser, world, query)["nodes"]) == 2


def test_notes_say_what_may_name_their_group(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    with tenant_scope(world.tenant.id):
        Note.objects.filter(id=web["note"].id).update(keywords=["hives"])
    found = get_graph_data(browser, world, "?most=40")
    named = dict(zip((row[0] for row in found["nodes"]), found["words"], strict=True))
    assert named[str(web["note"].id)] == ["hives"]
    assert get_graph_data(browser, world)["words"] == []


def test_data_is_text_and_never_markup(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_note(world.space, "<script>alert(1)</script>")
    answer = browser.get(reverse("space-graph-data", args=[world.space.id]))
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "<script>alert(1)</script>" in list_node_texts(answer.json())


@pytest.mark.parametrize("query", ["", "?view=table", "?view=links"])
@pytest.mark.parametrize("route", ["space-graph", "space-graph-data"])
def test_statements_do_not_grow_with_the_graph(
    browser: Client,
    world: ConsoleWorld,
    web: dict[str, Any],
    route: str,
    query: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            note = make_note(world.space, f"note {number}")
            make_link(note, world.note)
            make_source(make_fact(world.space, f"fact {number}"), world.turn)
            make_entity(world.space, f"entity {number}")
    with django_assert_max_num_queries(10 + FRAME):
        assert browser.get(reverse(route, args=[world.space.id]) + query).status_code == 200


def test_the_table_lists_searches_and_leads_on(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    shown = get_graph_page(browser, world, "?view=table")
    assert reverse("space-fact", args=[world.space.id, world.fact.id]) in shown
    assert f"?around={web['nora'].id}" in shown
    assert "1 to 7 of 7" in shown
    found = get_graph_page(browser, world, "?view=table&q=MILL+hives")
    assert "Two hives by the mill" in found
    assert "1 to 1 of 1" in found
    assert "Nothing matches" in get_graph_page(browser, world, "?view=table&q=nobody")
    assert "1 to 3 of 3" in get_graph_page(browser, world, "?view=table&kind=entity")


def test_links_are_a_table_with_words_and_weights(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    shown = get_graph_page(browser, world, "?view=links")
    for words in ("replaces", "keeps bees in", "mentions", "elaborates", "0.30"):
        assert words in shown
    strong = get_graph_page(browser, world, "?view=links&weight=0.35&link=link&link=relation")
    assert "keeps bees in" in strong
    assert "elaborates" not in strong
    assert "replaces" not in strong


def test_lists_come_in_pages(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_note(world.space, f"note {number}")
    assert "26 to 33 of 33" in get_graph_page(browser, world, "?view=table&page=2")
    assert "26 to 33 of 33" in get_graph_page(browser, world, "?view=table&page=99")


def test_the_panel_tells_what_a_memory_is_and_what_it_is_linked_with(
    browser: Client, world: ConsoleWorld, web: dict[str, Any]
) -> None:
    shown = get_node_card(browser, world, world.fact)
    assert reverse("space-fact", args=[world.space.id, world.fact.id]) in shown
    assert "<mark>I keep bees in Ghent</mark>" in shown  # its source
    assert "replaces" in shown
    assert "<html" not in shown
    assert "mentions this" in get_node_card(browser, world, web["nora"])
    assert "keeps bees in" in get_node_card(browser, world, web["nora"])
    assert "keeps bees in this" in get_node_card(browser, world, web["ghent"])
    assert "no longer true" in get_node_card(browser, world, web["older"])
    assert "Bees again" in get_node_card(browser, world, web["topic"])


@pytest.mark.parametrize("node", [ABSENT, "x", "\0", "1" * 5000])
def test_a_memory_that_is_not_there_has_no_panel(
    browser: Client, world: ConsoleWorld, node: str
) -> None:
    where = reverse("space-graph-about", args=[world.space.id])
    assert browser.get(where, {"node": node}).status_code == 404


def test_memories_of_others_are_neither_shown_nor_gone_around(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Other")
    where = reverse("space-graph-about", args=[world.space.id])
    assert browser.get(where, {"node": str(other.fact.id)}).status_code == 404
    assert get_graph_data(browser, world, f"?around={other.fact.id}")["nodes"] == []
    assert "no longer exists" in get_graph_page(browser, world, f"?around={other.fact.id}")


@pytest.mark.parametrize(
    "query",
    ["?around=x", "?depth=99", "?weight=heavy", "?kind=turn", "?view=x&page=0", "?q=%00", "?link="],
)
def test_what_the_address_can_not_mean_is_left_aside(
    browser: Client, world: ConsoleWorld, query: str
) -> None:
    assert len(get_graph_data(browser, world, query)["nodes"]) == 3
    assert "Link graph" in get_graph_page(browser, world, query)


def test_an_empty_space_says_what_will_be_drawn(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        space = make_space(world.tenant, "nobody yet")
    shown = browser.get(reverse("space-graph", args=[space.id])).content.decode()
    assert "Nothing to show yet" in shown


def test_heat_is_told_between_nought_and_one() -> None:
    nodes = [link_graph.GraphNode(None, "note", "", heat) for heat in (0.0, 3.0, 99.0)]  # type: ignore[arg-type]
    assert link_graph.compute_warmth(nodes) == [0.0, 0.3, 1.0]
    assert link_graph.compute_warmth([]) == []
