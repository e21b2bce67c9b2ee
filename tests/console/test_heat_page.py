"""The heat page: warm topics with their parts and lines, what goes next, and what fades."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.frame.forgetting_curves import build_fading_chart
from memoryhub.console.pages.heat.decay import list_ages, load_fading_summaries
from memoryhub.policies.schema import ForgetPolicy
from memoryhub.policies.services import set_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Segment
from notes.retention.curve import compute_retention
from notes.retention.decay import RecalledContext, strengthen_recalled
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_event, make_fact, make_recall, make_segment, make_turns


def get_heat_page(browser: Client, world: ConsoleWorld, **query: str) -> str:
    address = reverse("space-heat", args=[world.space.id])
    return browser.get(address, query).content.decode()


def sort_by_row(page: str, *words: str) -> list[str]:
    table = page[: page.index("</table>")]
    return sorted((w for w in words if w in table), key=table.index)


@pytest.fixture
def warm(world: ConsoleWorld) -> ConsoleWorld:
    """Honey has been promoted, so it is warm to stay and cool to promote; wasps the reverse."""
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        Segment.objects.all().delete()
        for name, total, fresh in (("Honey", 30, 0), ("Wasps", 4, 7), ("Frost", 1, 1)):
            (turn,) = make_turns(world.space, f"About {name}")
            make_segment(world.space, name, turn)
            Segment.objects.filter(summary=name).update(
                visits_total=total, promo_visits=fresh, promo_pages=0, last_visited_at=now
            )
    return world


def test_topics_are_sorted_by_either_heat(browser: Client, warm: ConsoleWorld) -> None:
    promotion, staying = get_heat_page(browser, warm), get_heat_page(browser, warm, by="staying")
    assert sort_by_row(promotion, "Honey", "Wasps", "Frost") == ["Wasps", "Frost", "Honey"]
    assert sort_by_row(staying, "Honey", "Wasps", "Frost") == ["Honey", "Wasps", "Frost"]


def test_the_threshold_is_a_line_over_which_a_topic_is_said_to_be(
    browser: Client, warm: ConsoleWorld
) -> None:
    page = get_heat_page(browser, warm)
    scale = 1.05 * 8.0  # seven visits and a recency of one
    (line,) = set(re.findall(r'class="threshold" x1="([\d.]+)"', page))
    assert float(line) == pytest.approx(100 * 5 / scale, abs=0.1)
    assert page.count('<span class="badge good">above</span>') == 1
    assert 'class="threshold"' not in get_heat_page(browser, warm, by="staying")


def test_capacity_parts_those_in_reach_from_the_cold(browser: Client, warm: ConsoleWorld) -> None:
    with tenant_scope(warm.tenant.id):
        Segment.objects.filter(summary="Wasps").update(tier="cold")
    page = get_heat_page(browser, warm, by="staying")
    assert "2 of 200 active places are taken" in page
    assert (
        sort_by_row(page, "Frost", "Inactive from here on", "Wasps")[1] == "Inactive from here on"
    )
    assert "Inactive from here on" not in get_heat_page(browser, warm, by="staying", q="wasps")


def test_it_says_who_goes_next_and_why(browser: Client, warm: ConsoleWorld) -> None:
    page = get_heat_page(browser, warm)
    assert "8.00, above the threshold: the next job will read 1 exchange" in page
    short = "3.00 short of the threshold: 4 visits or 4 exchanges more would reach it"
    assert f"{short}; 1 exchange not read yet" in page
    assert "becomes inactive after 198 new topics" in page
    set_policy(warm.tenant.id, actor="ida", preset="balanced", overrides={"segments.max": 2})
    full = get_heat_page(browser, warm)
    assert "over capacity: becomes inactive when the next topic is placed" in full


def test_the_latest_promotions_lead_to_their_change_sets(
    browser: Client, warm: ConsoleWorld
) -> None:
    assert "No promotions or moves yet" in get_heat_page(browser, warm)
    with tenant_scope(warm.tenant.id):
        event = make_event(warm.space, kind="promote", reason="warm enough")
    page = get_heat_page(browser, warm)
    assert "warm enough" in page
    assert reverse("space-event", args=[warm.space.id, event.id]) in page


def test_weights_of_the_policy_are_in_the_bars(browser: Client, warm: ConsoleWorld) -> None:
    set_policy(warm.tenant.id, actor="ida", preset="balanced", overrides={"heat.alpha": 2})
    assert '<td class="num" data-label="Visits">14</td>' in get_heat_page(browser, warm)


def test_the_curve_of_a_space_is_the_mean_of_its_memories(world: ConsoleWorld) -> None:
    """As the formula has it for each of them."""
    now, forget = timezone.now(), ForgetPolicy(mode="sample", unit_days=2.0)
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "I keep wasps", strength=4)
        make_fact(world.space, "I keep ants", pinned=True)
        Fact.objects.filter(strength=4).update(last_recall_at=now, forget_at=now + timedelta(3))
        fact = next(
            f
            for f in load_fading_summaries(world.space, forget, list_ages(7), now)
            if f.kind == "fact"
        )
    day = timedelta(days=1)
    expected = (compute_retention(day, 1, 2.0) + compute_retention(day, 4, 2.0)) / 2
    assert (fact.count, fact.spared, fact.hidden) == (2, 1, (0, 1))
    assert fact.left[0] == 1
    assert fact.left[4] == pytest.approx(expected)
    assert fact.older[4] == 1
    shown = build_fading_chart([fact], list_ages(7))
    assert [age.days for age, _ in shown.rows] == list(range(8))
    assert shown.lines[0][1].startswith("0.0,0.0 ")


def test_memories_of_which_least_is_left_stand_first(browser: Client, world: ConsoleWorld) -> None:
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "I keep wasps", last_recall_at=now)
        make_fact(world.space, "I keep ants", pinned=True)
    page = get_heat_page(browser, world, view="fading")
    places = [page.index(word) for word in ("bees in Ghent", "keep wasps", "keep ants")]
    assert places == sorted(places)
    assert "never fades" in page
    assert "100 %" in page
    assert " %<" not in page.partition("keep ants")[2].partition("</tr>")[0]
    assert "Nothing matches" in get_heat_page(browser, world, view="fading", q="beetles")
    assert "Bees in Ghent" in get_heat_page(browser, world, view="fading", kind="note")


def test_where_nothing_fades_it_says_so(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="ida", preset="balanced", overrides={"forget.mode": "off"})
    assert "Nothing fades under the" in get_heat_page(browser, world, view="fading")


def test_hidden_memories_are_counted(browser: Client, world: ConsoleWorld) -> None:
    set_policy(
        world.tenant.id, actor="ida", preset="balanced", overrides={"forget.mode": "threshold"}
    )
    with tenant_scope(world.tenant.id):
        Fact.objects.update(forget_at=timezone.now() - timedelta(days=1), visibility="dormant")
    page = get_heat_page(browser, world, view="fading")
    assert "Hidden now, and in 7 days" in page
    assert "1, 1</td>" in page
    assert '<span class="badge warn">faded</span>' in page
    assert "bees in Ghent" in get_heat_page(browser, world, view="fading", seen="dormant")
    assert "Nothing matches" in get_heat_page(browser, world, view="fading", seen="active")


def recall_fact(world: ConsoleWorld, query: str, at: datetime) -> None:
    """As a search does that shows it."""
    with tenant_scope(world.tenant.id):
        strengthen_recalled(world.space, [RecalledContext([("fact", world.fact.id)], at)])
        if query:
            make_recall(world.space, query, world.fact, asked_at=at, via="api")


def get_curve_page(browser: Client, world: ConsoleWorld, **query: str) -> str:
    address = reverse("space-fact-curve", args=[world.space.id, world.fact.id])
    return browser.get(address, query).content.decode()


def test_a_memory_has_its_whole_curve_with_every_recall(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="ida", preset="memorybank")
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        Fact.objects.update(asserted_at=now - timedelta(days=9))
    recall_fact(world, "Who keeps bees?", now - timedelta(days=5))
    recall_fact(world, "And wasps?", now - timedelta(days=1))
    page = get_curve_page(browser, world)
    assert sort_by_row(page, "And wasps?", "Who keeps bees?", "Mentioned") == [
        "And wasps?",
        "Who keeps bees?",
        "Mentioned",
    ]
    assert page.count('class="mark"') == page.count('class="drawn"') == 3
    assert "level drawn" in page
    assert "72 %, at strength 3" in page  # a day at strength 3
    assert 'viewBox="0 -6 600 172"' in page  # from 0 to 160, whole and nothing, beside the edges
    assert "no longer in the log" not in page
    assert "Heat over time" in page
    (figure,) = re.findall(r'id="plot-heat"[^>]*>(.*?)</section>', page, re.S)
    assert figure.count("<tr>") == 1 + 4  # each recall, how it began and how it stands now


def test_recalls_that_the_log_has_lost_are_owned_up_to(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="ida", preset="balanced")
    now = timezone.now()
    for days in (9, 5, 1):
        recall_fact(world, "", now - timedelta(days=days))
    page = get_curve_page(browser, world)
    assert "The times of 2 of them are no longer in the log" in page
    assert "2 earlier recalls" in page
    assert 'class="unknown"' in page
    assert "never: fading only lowers its rank" in page
    assert "search never counts less than 5 % as retained" in page


def test_who_only_looked_did_not_recall(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="ida", preset="balanced")
    at = timezone.now() - timedelta(days=3)
    recall_fact(world, "Who keeps bees?", at + timedelta(days=1))
    with tenant_scope(world.tenant.id):
        make_recall(world.space, "Only a look", world.fact, asked_at=at, via="console")
    page = get_curve_page(browser, world)
    assert "Who keeps bees?" in page
    assert "Only a look" not in page


def test_a_curve_is_found_from_the_list_and_from_the_memory(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="ida", preset="balanced")
    for kind in ("fact", "note", "episode"):
        ids = [world.space.id, getattr(world, kind).id]
        where = reverse(f"space-{kind}-curve", args=ids)
        assert where in get_heat_page(browser, world, view="fading", kind=kind)
        assert where in browser.get(reverse(f"space-{kind}", args=ids)).content.decode()
        assert browser.get(where).status_code == 200


def test_where_nothing_fades_a_memory_has_no_curve(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="ida", preset="balanced", overrides={"forget.mode": "off"})
    page = get_curve_page(browser, world)
    assert "Nothing fades under the" in page
    assert "<svg viewBox" not in page


def test_what_is_pinned_is_said_to_stay(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="ida", preset="memorybank")
    with tenant_scope(world.tenant.id):
        Fact.objects.update(pinned=True)
    page = get_curve_page(browser, world)
    assert "never: it is always kept" in page
    assert 'class="drawn"' not in page
