"""Which predicates have one value at a time: what the page says of each, and how it is set."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.services import load_tenant_policy, set_policy
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_fact, make_space


def add_fact(world: ConsoleWorld, text: str, key: str, cardinality: str = "single") -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, text, predicate_key=key, cardinality=cardinality)


@pytest.fixture
def said(world: ConsoleWorld) -> ConsoleWorld:
    """The table knows `lives_in` and `likes`, a model's word made `drives` single."""
    add_fact(world, "Nora lives in Ghent", "lives_in")
    add_fact(world, "Nora drives a van", "drives")
    add_fact(world, "Nora likes wasps", "likes", "multi")
    add_fact(world, "Nora likes ants", "likes", "multi")
    add_fact(world, "Nora repairs clocks", "repairs", "multi")
    return world


def read_rows(browser: Client, **query: str) -> list[str]:
    """The rows of the table as words."""
    page = browser.get(reverse("predicates"), query).content.decode()
    body = page[page.index("<tbody>") : page.index("</tbody>")] if "<tbody>" in page else ""
    rows = [re.sub(r"<[^>]+>", " ", row) for row in body.split("<tr>")[1:]]
    return [" ".join(html.unescape(row).split()) for row in rows]


def set_predicate(browser: Client, key: str, cardinality: str) -> str:
    form = {"key": key, "cardinality": cardinality, "back": reverse("predicates")}
    return browser.post(reverse("predicate-set"), form, follow=True).content.decode()


def test_each_predicate_is_told_with_its_reason(browser: Client, said: ConsoleWorld) -> None:
    likes, drives, lives, repairs = read_rows(browser)
    assert likes.startswith("likes several values built in 2 1 ")
    assert drives.startswith("drives one value by a model 1 1 ")
    assert lives.startswith("lives in one value built in 1 1 ")
    assert repairs.startswith("repairs several values default 1 1 ")


def test_they_are_told_in_the_readers_language(browser: Client, said: ConsoleWorld) -> None:
    add_fact(said, "Nora's favourite tea is oolong", "favourite_tea")
    page = browser.get(reverse("predicates"), headers={"accept-language": "zh-CN"}).content.decode()
    told = re.findall(r'<td><a class="title"[^>]*>(.*?)</a>', page)
    assert {"喜欢", "住在", "最喜欢的 tea", "drives"} < set(told)


def test_owners_of_one_name_in_two_spaces_are_two(browser: Client, said: ConsoleWorld) -> None:
    with tenant_scope(said.tenant.id):
        other = make_space(said.tenant)
        make_fact(other, "drives a car", owner=said.space.subject, predicate_key="drives")
    (row,) = read_rows(browser, q="drives")
    assert " 2 2 " in row
    assert "model: one value 1×, several 1×" in row


def test_they_are_searched_and_filtered(browser: Client, said: ConsoleWorld) -> None:
    assert [row.split()[0] for row in read_rows(browser, q="liv")] == ["lives"]
    assert [row.split()[0] for row in read_rows(browser, taken="single")] == ["drives", "lives"]
    assert [row.split()[0] for row in read_rows(browser, why="model")] == ["drives"]
    assert not read_rows(browser, q="elephants")


def test_a_person_sets_one_and_takes_it_back(browser: Client, said: ConsoleWorld) -> None:
    set_policy(said.tenant.id, actor="ida", preset="balanced", overrides={"stm.pages": 9})
    page = set_predicate(browser, "repairs", "single")
    assert "“repairs” now has one value at a time" in html.unescape(page)
    (row,) = read_rows(browser, why="person")
    assert row.startswith("repairs one value set by a person")
    with tenant_scope(said.tenant.id):
        facts = load_tenant_policy(said.tenant.id).policy.facts
        newest = PolicyVersion.objects.filter(space=None).first()
    assert facts.get_cardinality("repairs") == "single"
    assert newest is not None
    assert newest.overrides == {"stm.pages": 9, "facts.one_value": "repairs"}
    assert (newest.actor, newest.reason) == (said.admin.username, "repairs: one value")

    set_predicate(browser, "repairs", "multi")
    (row,) = read_rows(browser, why="person")
    assert row.startswith("repairs several values set by a person")

    set_predicate(browser, "repairs", "")
    assert not read_rows(browser, why="person")
    with tenant_scope(said.tenant.id):
        newest = PolicyVersion.objects.filter(space=None).first()
    assert newest is not None
    assert newest.overrides == {"stm.pages": 9}


def test_setting_one_is_undone_where_it_is_told(browser: Client, said: ConsoleWorld) -> None:
    set_policy(said.tenant.id, actor="ida", preset="balanced")
    page = set_predicate(browser, "repairs", "single")
    offered = re.search(r'action="(/policy/versions/[^"]+)"', page)
    assert offered is not None
    answer = browser.post(offered[1], {"back": reverse("predicates")})
    assert answer["Location"] == reverse("predicates")
    assert not read_rows(browser, why="person")


def test_what_is_set_and_not_in_use_is_listed(browser: Client, said: ConsoleWorld) -> None:
    set_policy(said.tenant.id, actor="ida", overrides={"facts.one_value": "blood_type, drives"})
    *_, last = read_rows(browser)
    assert last.startswith("blood type one value set by a person 0 0 ")


@pytest.mark.parametrize("key", ["", "a, b"])
def test_what_is_no_key_is_refused(browser: Client, said: ConsoleWorld, key: str) -> None:
    assert "Not set: " in set_predicate(browser, key, "single")
    assert not read_rows(browser, why="person")


def test_numbers_lead_to_the_facts(browser: Client, said: ConsoleWorld) -> None:
    page = browser.get(reverse("predicate-facts"), {"key": "likes"}).content.decode()
    assert "Nora likes wasps" in page
    assert "Nora likes ants" in page
    assert "Nora drives a van" not in page
    assert "Nora drives a van" in browser.get(reverse("predicate-facts")).content.decode()


def test_predicates_of_another_tenant_are_not_seen(browser: Client, world: ConsoleWorld) -> None:
    add_fact(make_world("Other"), "She drives a bus", "drives")
    page = browser.get(reverse("predicates")).content.decode()
    assert "No predicates yet" in page
    assert "She drives" not in browser.get(reverse("predicate-facts")).content.decode()
