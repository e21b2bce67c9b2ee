"""The link graph and the embedding map in a real browser."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.graph import fill_graph_space
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Relation
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.browser import Visitor
from tests.support.factories import make_entity, make_fact, make_link, make_note, make_space

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def world(hive: Tenant) -> ConsoleWorld:
    made = make_world("Hive", hive)
    with tenant_scope(hive.id):
        nora, town = make_entity(made.space, "Nora"), make_entity(made.space, "Ghent town")
        for number in range(8):
            note = make_note(made.space, f"hive {number}")
            make_link(note, made.note, weight=number / 10)
        Relation.objects.create(
            tenant=hive, space=made.space, fact=made.fact, src=nora, label="in", dst=town
        )
    return made


def wait_until_drawn(page: Page, nodes: int) -> None:
    """Until the picture stands and the worker has done."""
    graph = page.locator("#graph")
    expect(graph).to_have_attribute("data-nodes", str(nodes))
    expect(graph).to_have_attribute("data-drawn", "yes")  # before that it listens to nothing
    expect(graph).not_to_have_attribute("data-settled", "no")
    expect(graph.locator("canvas.sigma-nodes")).to_be_visible()


def expect_state(page: Page, words: str) -> None:
    expect(page.locator(".graph-state")).to_have_text(words)


def test_the_graph_is_drawn_and_a_memory_opens_beside_it(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-graph", world.space.id)
    wait_until_drawn(page, 13)
    expect_state(page, "13 memories and 11 links")
    canvas = page.locator(".graph-canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    panel = page.get_by_label("Selected memory")
    expect(panel.get_by_role("link", name="Show only its surroundings")).to_be_visible()
    assert "node=" in page.url
    page.reload()
    expect(panel.get_by_role("link", name="Show only its surroundings")).to_be_visible()
    panel.get_by_label("Close").click()
    expect(panel.get_by_text("Click a memory")).to_be_visible()
    assert "node=" not in page.url


# Where it is once the new places are painted: until then they are measured by the old extent.
PLACE = """async id => { for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  const { sigma, graph } = document.getElementById("graph").picture;
  return sigma.graphToViewport(graph.getNodeAttributes(id)) }"""


def test_a_click_on_a_memory_opens_it(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    page.goto(f"{page.url.partition('?')[0]}?around={world.note.id}")
    wait_until_drawn(page, 9)
    place = page.evaluate(PLACE, str(world.note.id))
    page.locator(".graph-canvas").click(position=place)
    panel = page.get_by_label("Selected memory")
    expect(panel.get_by_role("heading", name="Bees in Ghent")).to_be_visible()
    assert f"node={world.note.id}" in page.url


def unfold_filters(page: Page) -> None:
    """Filters of a picture are folded away."""
    summary = page.get_by_text("Display options")
    if summary.is_visible():
        expect(page.get_by_label("Colour by")).to_be_hidden()
        summary.click()
    expect(page.get_by_label("Colour by")).to_be_visible()


def test_filters_are_folded_until_wanted(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    wait_until_drawn(page, 13)
    entities = page.get_by_label("Entities")
    expect(entities).to_be_hidden()
    unfold_filters(page)
    expect(entities).to_be_visible()
    legend = page.get_by_role("list", name="Legend")
    expect(legend).to_contain_text("Mentions")
    expect(legend.get_by_text("Segments")).to_be_hidden()


STRIPPED = """async ([names, texts]) => {
  const at = document.querySelector('script[src*="graph/main"]').src.replace("main", "labels");
  const { withoutName } = await import(at);
  return texts.map((text) => withoutName(text, names)); }"""


def test_a_label_leaves_out_the_persons_name_and_what_ties_it(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-graph", world.space.id)
    labels = {
        "Ana keeps bees.": "keeps bees.",
        "Ana's hives stand in Ghent.": "hives stand in Ghent.",
        "Ana: the hives are full": "the hives are full",
        "Ana Lee sings.": "sings.",
        "Anabel keeps bees.": "Anabel keeps bees.",
        "Ana": "Ana",
        "Ana在根特养蜂。": "在根特养蜂。",
        "林晓的妈妈的书法班还在上。": "妈妈的书法班还在上。",
        "林晓：韩磊来喂": "韩磊来喂",
        "林晓: 韩磊来喂": "韩磊来喂",
    }
    names = ["Ana", "Ana Lee", "林晓"]
    assert page.evaluate(STRIPPED, [names, list(labels)]) == list(labels.values())


# The boxes of all names, and the picture that they lie in.
NAMES = """() => {
  const layer = document.querySelector(".graph-labels");
  const box = (one) => { const { left, top, right, bottom } = one.getBoundingClientRect();
    return { left, top, right, bottom, text: one.textContent, kind: one.className } };
  return { names: [...layer.children].map(box), picture: box(layer) } }"""


def find_overlaps(names: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (one["text"], other["text"])
        for one, other in combinations(names, 2)
        if one["left"] < other["right"]
        and other["left"] < one["right"]
        and one["top"] < other["bottom"]
        and other["top"] < one["bottom"]
    ]


@pytest.fixture(scope="module")
def told(hive: Tenant) -> Space:
    """Three matters of twelve facts each, all of them of one person."""
    with tenant_scope(hive.id):
        space = make_space(hive, "ines")
        ines = make_entity(space, "ines")
        for matter in ("the pottery in Braga", "a marathon", "two greyhounds"):
            thing = make_entity(space, matter, mention_count=20)
            for number in range(12):
                fact = make_fact(space, f"ines told at length of {matter}, and did so {number}×")
                Relation.objects.create(
                    tenant=hive, space=space, fact=fact, src=ines, label="of", dst=thing
                )
    return space


@pytest.mark.parametrize("query", ["", "?most=all"])
def test_names_never_lie_over_each_other(visitor: Visitor, told: Space, query: str) -> None:
    page = visitor.open("space-graph", told.id)
    page.goto(f"{page.url.partition('?')[0]}{query}")
    wait_until_drawn(page, 39)
    expect(page.locator(".graph-labels .cluster").first).to_be_visible()
    for zoom in ("all", "in", "in", "out"):
        page.locator(f"[data-zoom={zoom}]").click()
        page.wait_for_timeout(300)  # of its motion
        found = page.evaluate(NAMES)
        names, picture = found["names"], found["picture"]
        assert len(names) >= 3  # as many as a phone has room for
        assert find_overlaps(names) == []
        for each in names:
            assert picture["left"] <= each["left"]
            assert each["right"] <= picture["right"]
            assert picture["top"] <= each["top"]
            assert each["bottom"] <= picture["bottom"]


def test_clusters_are_named_and_apart(visitor: Visitor, told: Space) -> None:
    page = visitor.open("space-graph", told.id)
    wait_until_drawn(page, 39)
    named = page.locator(".graph-labels .cluster")
    expect(named).to_have_count(3)
    assert set(named.all_inner_texts()) == {"the pottery in Braga", "a marathon", "two greyhounds"}
    boxes = page.evaluate("""() => { const { graph } = document.getElementById("graph").picture;
      const found = {};
      graph.forEachNode((_, { x, y, cluster }) => { const box = found[cluster] ??= [x, y, x, y];
        found[cluster] = [Math.min(box[0], x), Math.min(box[1], y),
          Math.max(box[2], x), Math.max(box[3], y)] });
      return Object.values(found) }""")
    for one, other in combinations(boxes, 2):
        apart = one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
        assert apart


def test_a_trail_leads_back(visitor: Visitor, told: Space) -> None:
    page = visitor.open("space-graph", told.id)
    wait_until_drawn(page, 39)
    trail = page.get_by_role("navigation", name="Trail")
    expect(trail).to_be_hidden()
    page.get_by_role("link", name="Everything").click()
    expect(trail.get_by_role("link")).to_have_text(["ines", "Everything"])
    trail.get_by_role("link", name="ines").click()
    wait_until_drawn(page, 39)
    expect(trail).to_be_hidden()


def test_filters_change_the_picture_and_the_address(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    page.goto(f"{page.url.partition('?')[0]}?most=all")
    wait_until_drawn(page, 13)
    unfold_filters(page)
    page.get_by_label("Search memories").fill("hive")
    expect_state(page, "8 memories found and 11 links")
    page.get_by_label("Search memories").fill("")
    page.get_by_label("Entities").uncheck()
    expect_state(page, "10 memories and 8 links")
    page.get_by_label("Relations").uncheck()
    expect_state(page, "10 memories and 8 links")
    page.get_by_label("Minimum link weight").fill("0.5")
    expect_state(page, "10 memories and 3 links")
    for part in ("kind=note", "kind=fact", "weight=0.5", "link=mentions"):
        assert part in page.url
    assert "kind=entity" not in page.url
    page.reload()
    expect_state(page, "10 memories and 3 links")
    unfold_filters(page)
    page.get_by_label("Colour by").select_option("cluster")
    page.wait_for_url("**colour=cluster**")


def test_around_a_memory_and_back(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    page.goto(f"{page.url.partition('?')[0]}?node={world.note.id}")
    page.get_by_role("link", name="Show only its surroundings").click()
    wait_until_drawn(page, 9)
    page.get_by_role("link", name="Show the whole space").click()
    wait_until_drawn(page, 13)


def test_the_same_is_a_table(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    wait_until_drawn(page, 13)
    page.get_by_role("link", name="Memories as a table").click()
    expect(page.get_by_text("1 to 13 of 13")).to_be_visible()
    page.get_by_role("link", name="Links as a table").click()
    expect(page.get_by_text("1 to 11 of 11")).to_be_visible()


def test_a_failure_is_said_and_can_be_tried_again(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.page
    page.route("**/graph/data.json**", lambda route: route.abort())
    visitor.open("space-graph", world.space.id)
    expect(page.get_by_role("heading", name="could not be displayed")).to_be_visible()
    page.unroute("**/graph/data.json**")
    page.get_by_role("button", name="Try again").click()
    wait_until_drawn(page, 13)
    visitor.troubles = [each for each in visitor.troubles if "ERR_FAILED" not in each]


def test_places_are_kept(visitor: Visitor, world: ConsoleWorld) -> None:
    page = visitor.open("space-graph", world.space.id)
    page.goto(f"{page.url.partition('?')[0]}?most=all")
    wait_until_drawn(page, 13)
    expect(page.locator("#graph")).to_have_attribute("data-settled", "yes")
    page.reload()
    expect(page.locator("#graph")).to_have_attribute("data-drawn", "yes")
    # Everything stands where it stood: nothing is arranged again.
    assert page.locator("#graph").get_attribute("data-settled") is None


# How much of the canvas has been painted on, after what is drawn there now.
PAINTED = """name => { const { sigma } = document.getElementById("graph").picture;
  sigma.refresh();
  const canvas = sigma.getCanvases()[name], gl = canvas.getContext("webgl2");
  const pixels = new Uint8Array(4 * canvas.width * canvas.height);
  gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return pixels.filter((value, at) => at % 4 === 3 && value).length / pixels.length * 4 }"""


@pytest.fixture(scope="module")
def large(hive: Tenant) -> Space:
    with tenant_scope(hive.id):
        space = make_space(hive, "large")
        fill_graph_space(space, memories=5000, links=10_000)
    return space


def test_five_thousand_memories_are_drawn_with_their_links(visitor: Visitor, large: Space) -> None:
    page = visitor.open("space-graph", large.id)
    wait_until_drawn(page, 40)
    page.get_by_role("link", name="Everything").click()
    page.wait_for_url("**most=all**")
    graph = page.locator("#graph")
    expect(graph).to_have_attribute("data-drawn", "yes", timeout=60_000)
    expect(graph).to_have_attribute("data-nodes", "5000")
    expect(page.locator(".graph-state")).to_contain_text("5,000 memories and ", timeout=60_000)
    assert page.evaluate("document.getElementById('graph').picture.graph.size") > 9000
    for layer in ("nodes", "edges"):
        assert page.evaluate(PAINTED, layer) > 0.02
    marks = "performance.getEntriesByType('mark').map((each) => each.name)"
    assert page.evaluate(marks)[:2] == ["graph-drawn", "graph-joined"]
    # The page asks for the data before its script runs, and it is asked for once.
    data = "performance.getEntriesByType('resource').filter((e) => e.name.includes('data.json'))"
    assert page.evaluate(f"{data}.map((each) => each.initiatorType)") == ["link"]


WORDS = ("bees", "hives", "frost", "honey", "wasps", "clover", "meadow", "swarm", "queen", "drone")


@pytest.fixture(scope="module")
def spaces(hive: Tenant) -> dict[int, Space]:
    """By size: memories whose texts are a word or a sentence, in English or in Chinese."""
    found = {}
    with tenant_scope(hive.id):
        for size in (130, 650, 5000):
            space = found[size] = make_space(hive, f"of {size}")
            fill_graph_space(space, memories=size, links=2 * size)
            rows = list(Fact.objects.filter(space=space))
            for at, row in enumerate(rows):
                told = " ".join(WORDS[: 1 + at % len(WORDS)]) if at % 3 else "我在根特的屋顶上养蜂"
                row.text = f"{told} {at}"
            Fact.objects.bulk_update(rows, ["text"], batch_size=500)
    return found


@pytest.mark.parametrize("size", [130, 650, 5000])
def test_names_never_lie_over_each_other_however_many_memories(
    visitor: Visitor, spaces: dict[int, Space], size: int
) -> None:
    """Of everything: as it opens, from near, and moved."""
    page = visitor.open("space-graph", spaces[size].id)
    page.goto(f"{page.url.partition('?')[0]}?most=all")
    graph = page.locator("#graph")
    expect(graph).to_have_attribute("data-drawn", "yes", timeout=60_000)
    expect(graph).to_have_attribute("data-nodes", str(size))
    expect(graph).to_have_attribute("data-settled", "yes", timeout=60_000)
    expect(page.locator(".graph-labels > *").first).to_be_visible()
    for zoom in ("all", "in", "in", "in", "out", "all"):
        page.locator(f"[data-zoom={zoom}]").click()
        page.wait_for_timeout(500)  # of its motion
        found = page.evaluate(NAMES)
        names, picture = found["names"], found["picture"]
        assert len(names) >= 3
        assert find_overlaps(names) == []
        for each in names:
            assert picture["left"] <= each["left"]
            assert each["right"] <= picture["right"]
            assert picture["top"] <= each["top"]
            assert each["bottom"] <= picture["bottom"]


def test_the_map_is_drawn_and_a_point_opens_beside_it(
    visitor: Visitor, world: ConsoleWorld
) -> None:
    page = visitor.open("space-map", world.space.id)
    wait_until_drawn(page, 2)
    expect_state(page, "2 memories")
    unfold_filters(page)
    page.get_by_label("Colour by").select_option("tag")
    expect(page.get_by_label("Colours")).to_contain_text("hobby")
    page.locator(".graph-canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Open in the console")).to_be_visible()
    page.get_by_role("link", name="Map as a table").click()
    expect(page.get_by_text("1 to 2 of 2")).to_be_visible()


# By cluster: its middle, and how far its memories are from it.
TERRITORIES = """() => { const { graph } = document.getElementById("graph").picture;
  const found = {};
  graph.forEachNode((_, { cluster, x, y }) => (found[cluster] ??= []).push([x, y]));
  return Object.values(found).map((spots) => {
    const mean = [0, 1].map((at) => spots.reduce((sum, spot) => sum + spot[at], 0) / spots.length);
    const far = spots.map(([x, y]) => Math.hypot(x - mean[0], y - mean[1]));
    return [...mean, Math.max(...far)]; }) }"""
# Whether links are thin, of those within a cluster and of those between two.
THIN = """() => { const { graph, sigma, thin } = document.getElementById("graph").picture;
  const found = [new Set(), new Set()];
  graph.forEachEdge((edge, _, from, to, one, other) => {
    const is_thin = sigma.getEdgeDisplayData(edge).color === thin;
    found[Number(one.cluster !== other.cluster)].add(is_thin); });
  return found.map((each) => [...each]) }"""


def test_of_everything_each_cluster_keeps_to_itself(visitor: Visitor, large: Space) -> None:
    page = visitor.open("space-graph", large.id)
    page.goto(f"{page.url.partition('?')[0]}?most=all")
    expect(page.locator("#graph")).to_have_attribute("data-settled", "yes", timeout=60_000)
    discs = page.evaluate(TERRITORIES)
    assert len(discs) > 4
    for (x, y, radius), (left, top, other) in combinations(discs, 2):
        assert ((x - left) ** 2 + (y - top) ** 2) ** 0.5 > 0.9 * (radius + other)
    assert page.evaluate(THIN) == [[False], [True]]
