"""A space's search page: what is found and why, a second setting beside it, what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from memoryhub.errors import EngineError
from memoryhub.policies.services import set_policy
from memoryhub.recall.log import reinforcement
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.recall.scene import RecallScene
from tests.support.factories import make_member, make_proposal, make_space, make_tenant
from tests.support.hub import ScriptedHub, TableEmbedder


@pytest.fixture
def scene(hub: ScriptedHub) -> RecallScene:
    scene = RecallScene(hub)
    scene.set_vectors(kayak=[1, 0], boat=[0.9, 0.44], far=[0, 1])
    (turn,) = scene.say("my kayak leaks", read=True)
    scene.add_fact("Ana has a kayak", turn)
    scene.add_note("a boat is in the shed", turn)
    return scene


@pytest.fixture
def reader(client: Client, scene: RecallScene) -> Client:
    """Signed in as one who may only read."""
    client.force_login(make_member(scene.hub.tenant, Membership.Role.VIEWER))
    return client


def get_search_page(reader: Client, scene: RecallScene, status: int = 200, **query: Any) -> str:
    answer = reader.get(reverse("space-search", args=[scene.space.id]), query)
    assert answer.status_code == status
    return str(answer.content.decode())


def list_logs(scene: RecallScene) -> list[RecallLog]:
    with tenant_scope(scene.hub.tenant.id):
        return list(RecallLog.objects.order_by("id"))


def cut_section(page: str, label: str) -> str:
    """What stands in the section of this name."""
    start = page.partition(f'<section class="card" aria-label="{label}">')[2]
    return start.partition("</section>")[0]


def test_it_invites_to_ask_and_asks_nothing_by_itself(reader: Client, scene: RecallScene) -> None:
    assert "What would an agent find?" in get_search_page(reader, scene)
    assert list_logs(scene) == []


def test_a_result_tells_its_channels_score_and_sources_and_what_was_dropped(
    reader: Client, scene: RecallScene
) -> None:
    page = get_search_page(reader, scene, q="kayak?")
    shown = cut_section(page, "Shown: Current settings")
    assert "Ana has a kayak" in shown
    assert "facts #1" in shown
    assert "meaning #1" in shown
    assert 'class="tone-1"' in shown
    assert "D1:1" in shown
    left = cut_section(page, "Not shown: Current settings")
    assert "my kayak leaks" in left
    assert "covered by another" in left
    (log,) = list_logs(scene)
    assert reverse("recall", args=[log.id]) in page
    assert reader.get(reverse("recall", args=[log.id])).status_code == 200


def test_what_can_not_all_hold_is_named_and_linked(reader: Client, scene: RecallScene) -> None:
    beside = scene.add_fact("the boat was sold")
    with tenant_scope(scene.hub.tenant.id):
        held = Fact.objects.get(text="Ana has a kayak")
        make_proposal(
            scene.space, row_type="fact", row_id=held.id, payload={"fact_id": str(beside.id)}
        )
    page = get_search_page(reader, scene, q="kayak?")
    told = cut_section(page, "Conflicts: Current settings")
    for fact in (held, beside):
        address = reverse("space-fact", args=[scene.space.id, fact.id])
        assert f'<a href="{address}">{fact.text}</a>' in told


def test_looking_strengthens_nothing_and_says_who_looked(
    reader: Client, scene: RecallScene
) -> None:
    get_search_page(reader, scene, q="kayak?")
    assert reinforcement.flush_recalls() == 0
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get().recall_count == 0
    (log,) = list_logs(scene)
    assert log.via == "console"
    assert f"console {log.asked_by}" in reader.get(reverse("recalls")).content.decode()


def test_a_context_shows_the_block_that_an_agent_is_handed(
    reader: Client, scene: RecallScene
) -> None:
    page = get_search_page(reader, scene, q="kayak?", form="context", budget="500")
    block = cut_section(page, "The block: Current settings")
    assert escape("<memory>") in block
    assert "Ana has a kayak" in block
    assert list_logs(scene)[0].options["budget_tokens"] == 500


def test_a_preset_beside_it_says_what_only_it_shows(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(reader, scene, q="kayak?", policy="rag")
    own, rag = (cut_section(page, f"Shown: {name}") for name in ("Current settings", "Preset rag"))
    assert "Ana has a kayak" in own
    assert "only here" in own
    assert "my kayak leaks" in rag
    assert "Ana has a kayak" not in rag
    assert [log.options.get("policy") for log in list_logs(scene)] == [None, "rag"]


def test_what_if_keeps_the_house_rules_and_changes_nothing(
    reader: Client, scene: RecallScene
) -> None:
    with tenant_scope(scene.hub.tenant.id):
        set_policy(scene.hub.tenant.id, actor="ida", preset="mem0", overrides={})
    before = get_search_page(reader, scene, q="kayak?")
    get_search_page(reader, scene, q="kayak?", policy="rag", channels="notes")
    assert cut_section(
        get_search_page(reader, scene, q="kayak?"), "Shown: Current settings"
    ) == cut_section(before, "Shown: Current settings")


def test_each_stage_tells_what_it_brought_and_dropped(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(reader, scene, q="kayak?")
    way = cut_section(page, "Steps: Current settings")
    for stage in ("Question", "Channels", "Fusion", "Judge", "Packing"):
        assert f"<b>{stage}</b>" in way
    assert "facts 1, 1 shown" in way
    left = cut_section(page, "Not shown: Current settings")
    assert left.count("covered by another") > 0
    assert f"{left.count('covered by another')} covered by another" in way
    assert "all channels ranked together" in way


def test_another_choice_of_channels_can_stand_beside(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(reader, scene, q="kayak?", other_channels=["raw"], other_select="fixed")
    title = "Channels raw, combined fixed"
    assert "my kayak leaks" in cut_section(page, f"Shown: {title}")
    own = cut_section(page, "Shown: Current settings")
    assert "only here" in own
    assert "0 in both" in page
    assert f"1 only with “{title}”" in page
    assert 'name="other_channels" value="raw" checked' in page
    assert [log.options.get("channels") for log in list_logs(scene)] == [None, ["raw"]]
    call = cut_section(page, f"As a call: {title}")
    assert escape("channels=['raw']") in call


def test_two_settings_that_agree_are_said_to(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(reader, scene, q="kayak?", other_select="fused")
    assert "; 0 only with “Current settings”, 0 only with “Combined fused”" in page
    assert "same rank there" in cut_section(page, "Shown: Current settings")
    assert "at a different rank" not in page


def test_kinds_tokens_session_and_agent_can_be_asked_for(
    reader: Client, scene: RecallScene
) -> None:
    page = get_search_page(reader, scene, q="kayak?", kinds=["turn"], room="200")
    assert "my kayak leaks" in cut_section(page, "Shown: Current settings")
    assert "of 200 tokens" in cut_section(page, "Steps: Current settings")
    assert 'name="kinds" value="turn" checked' in page
    (log,) = list_logs(scene)
    assert (log.options["kinds"], log.options["budget_tokens"]) == (["turn"], 200)
    held = get_search_page(reader, scene, q="kayak?", form="context", agent="waiter")
    assert 'value="waiter"' in held
    missing = get_search_page(reader, scene, 422, q="kayak?", session="never")
    assert "Not asked: session: there is no such session here" in missing


def test_a_question_is_handed_on_as_a_call_without_a_key(
    reader: Client, scene: RecallScene
) -> None:
    page = get_search_page(reader, scene, q="kayak\"'<b>?", limit="3", policy="rag")
    own = cut_section(page, "As a call: Current settings")
    for words in ("curl -s http://testserver/api/v1/search", "hub.search(", "await fetch("):
        assert escape(words) in own
    assert "MEMORYHUB_KEY" in own
    assert "<b>?" not in page
    assert escape("limit=3") in own
    rag = cut_section(page, "As a call: Preset rag")
    assert "A call uses the settings of the space" in rag
    assert "curl" not in rag


def test_options_narrow_and_stay_in_the_form(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(
        reader, scene, q="kayak?", channels=["raw"], select="fixed", limit="3", past="on"
    )
    assert "my kayak leaks" in cut_section(page, "Shown: Current settings")
    assert "Ana has a kayak" not in cut_section(page, "Shown: Current settings")
    assert 'value="raw" checked' in page
    assert '<option value="fixed" selected>' in page
    assert 'value="3"' in page
    (log,) = list_logs(scene)
    assert (log.options["limit"], log.options["channels"]) == (3, ["raw"])
    assert log.options["include_past"]


def test_as_of_a_day_before_there_is_nothing(reader: Client, scene: RecallScene) -> None:
    page = get_search_page(reader, scene, q="kayak?", as_of="2020-01-01")
    assert "not enough found" in page
    assert "Nothing: no memory is relevant to the question." in page


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1000"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"limit": "9" * 40}, "limit"),
        ({"form": "context", "budget": "1"}, "budget_tokens"),
        ({"form": "context", "budget": "-5"}, "tokens"),
        ({"room": "1"}, "budget_tokens"),
        ({"room": "some"}, "tokens"),
        ({"session": "x" * 5000}, "session"),
        ({"as_of": "yesterday"}, "as of"),
        ({"as_of": "2026-02-31"}, "as of"),
    ],
)
def test_what_cannot_be_asked_is_said_with_its_field(
    reader: Client, scene: RecallScene, query: dict[str, str], field: str
) -> None:
    page = get_search_page(reader, scene, 422, q="kayak?", **query)
    assert f"Not asked: {field}" in page
    assert 'value="kayak?"' in page
    assert list_logs(scene) == []


@pytest.mark.parametrize(
    "query",
    [
        {"q": "\0"},
        {"q": "x" * 5000},
        {"q": "kayak", "policy": "nonsense", "channels": "nowhere", "select": "never"},
        {"q": "kayak\0\ud800"},
        {"q": "kayak", "as_of": "0001-01-01"},
        {"q": "kayak", "as_of": "9999-12-31"},
    ],
)
def test_odd_questions_are_no_trouble(reader: Client, scene: RecallScene, query: Any) -> None:
    data = {name: text.encode("utf-8", "surrogatepass") for name, text in query.items()}
    get_search_page(reader, scene, **data)


def test_a_broken_embedder_is_told(
    reader: Client, scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(self: TableEmbedder, texts: Sequence[str]) -> None:
        raise EngineError("down")

    monkeypatch.setattr(TableEmbedder, "embed", down)
    assert "without meaning" in get_search_page(reader, scene, q="kayak?")


@pytest.mark.parametrize("count", [1, 8])
def test_it_takes_as_many_statements_for_one_result_as_for_many(
    reader: Client,
    scene: RecallScene,
    count: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for at in range(count):
        (turn,) = scene.say(f"kayak number {at}")
        scene.add_fact(f"Ana has {at} kayaks", turn)
    with django_assert_max_num_queries(65):
        get_search_page(reader, scene, q="kayak?", form="context")


def test_another_tenants_space_is_not_there(reader: Client) -> None:
    other = make_tenant("Other")
    with tenant_scope(other.id):
        space = make_space(other)
    answer = reader.get(reverse("space-search", args=[space.id]), {"q": "kayak"})
    assert answer.status_code == 404
