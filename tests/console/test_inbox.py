"""The inbox: a case with both sides, its answers, many at once, and rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import serialize_row
from notes.models import EvolutionEvent, Fact, Proposal, ReviewRule
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import (
    make_fact,
    make_member,
    make_proposal,
    make_rule,
    make_space,
    make_trait,
    make_turns,
)


def make_conflict(
    world: ConsoleWorld, number: int = 0, space: Space | None = None, **values: Any
) -> Proposal:
    """ "I live in Porto" is held, "I live in Rome" said by an assistant is stored beside it."""
    with tenant_scope(world.tenant.id):
        where = space or world.space
        said, told = make_turns(where, f"I live in Porto, {number}.", "You live in Rome.")
        Turn.objects.filter(id=told.id).update(role="assistant")
        slots = {"predicate_key": "lives_in", "owner": "Nora", "cardinality": "multi"}
        old = make_fact(where, f"Nora lives in Porto, {number}.", said, **slots)
        new = make_fact(where, f"Nora lives in Rome, {number}.", told, **slots)
        payload = {
            "op": "supersede",
            "fact_id": str(new.id),
            "candidate": serialize_row(new) | {"confidence": 0.3},
            "sources": [{"turn": str(told.id), "start": 4, "end": 16}],
        }
        return make_proposal(
            where,
            row_type="fact",
            row_id=old.id,
            turn_ids=[told.id],
            payload=payload,
            reason="contradicts what a person said",
            **values,
        )


def get_row(world: ConsoleWorld, model: Any, **values: Any) -> Any:
    with tenant_scope(world.tenant.id):
        return model.objects.get(**values)


def request_body(client: Client, name: str, *ids: Any, query: str = "", **sent: Any) -> str:
    where = reverse(name, args=ids) + query
    answer = client.post(where, sent, follow=True) if sent else client.get(where)
    return answer.content.decode()


def test_a_case_shows_both_sides_with_the_words_that_say_it(
    browser: Client, world: ConsoleWorld
) -> None:
    make_conflict(world)
    page = request_body(browser, "review")
    for words in (
        "Nora lives in Porto, 0.",
        "Nora lives in Rome, 0.",
        "I live in Porto, 0.",
        "You <mark>live in Rome</mark>.",
        "Contradicts what a person said",
        "Confidence 30 %",
        "Medium risk",
    ):
        assert words in page
    assert page.index('data-key="a"') < page.index('data-key="b"') < page.index('data-key="r"')


def test_a_trait_is_asked_about_in_the_words_of_its_poles(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        trait = make_trait(world.space, "honesty", "high", world.turn, corrected_by="ida")
        make_proposal(
            world.space,
            kind="overwrite",
            row_type="trait",
            row_id=trait.id,
            payload={"level": "low", "rationale": "Asked to be gentle.", "valid_to": None},
        )
    page = request_body(browser, "review")
    assert page.index("wants it said outright") < page.index("wants it said kindly")


def test_the_badge_counts_what_is_open(browser: Client, world: ConsoleWorld) -> None:
    make_conflict(world)
    assert 'class="count-badge">2<' in request_body(browser, "overview")
    with tenant_scope(world.tenant.id):
        Proposal.objects.update(state="rejected")
    assert "count-badge" not in request_body(browser, "overview")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?kind=conflict", True),
        ("?kind=merge", False),
        ("?risk=medium", True),
        ("?risk=high", False),
        ("?age=new", True),
        ("?age=week", False),
        ("?state=rejected", False),
        ("?state=all", True),
        ("?q=person", True),
        ("?q=nothing", False),
    ],
)
def test_filters_narrow_the_list(
    browser: Client, world: ConsoleWorld, query: str, shown: bool
) -> None:
    make_conflict(world, created_at=timezone.now() - timedelta(hours=1))
    assert ("Nora lives in Rome" in request_body(browser, "review", query=query)) == shown


def test_the_filter_by_space(browser: Client, world: ConsoleWorld) -> None:
    make_conflict(world)
    with tenant_scope(world.tenant.id):
        other = make_space(world.tenant)
    make_conflict(world, 7, other)
    page = request_body(browser, "review", query=f"?space={other.id}")
    assert "Nora lives in Rome, 7." in page
    assert "Nora lives in Rome, 0." not in page


def test_accepting_can_be_taken_back_at_once(browser: Client, world: ConsoleWorld) -> None:
    case = make_conflict(world)
    page = request_body(browser, "review-case", case.id, answer="replace", back=reverse("review"))
    assert "Undo" in page
    assert get_row(world, Fact, text="Nora lives in Porto, 0.").status == "superseded"
    request_body(browser, "review-take-back", case.id, back=reverse("review"))
    assert get_row(world, Fact, text="Nora lives in Porto, 0.").status == "active"
    again = get_row(world, Proposal, id=case.id)
    assert (again.state, again.decided_by, again.event_id) == ("open", "", None)


@pytest.mark.parametrize(
    "back", ["review-page", "//elsewhere.example", "https://elsewhere.example"]
)
def test_a_way_back_that_is_no_address_of_the_hub_is_not_taken(
    browser: Client, world: ConsoleWorld, back: str
) -> None:
    case = make_conflict(world)
    sent = {"answer": "keep_both", "back": back}
    answer = browser.post(reverse("review-case", args=[case.id]), sent)
    assert answer.headers["Location"] == reverse("space-review", args=[world.space.id])


def test_accepting_in_other_words(browser: Client, world: ConsoleWorld) -> None:
    case = make_conflict(world)
    sent = {"answer": "replace", "text": "Nora lives in Rome now.", "reason": "she said so"}
    request_body(browser, "review-case", case.id, **sent)
    fact = get_row(world, Fact, text="Nora lives in Rome now.")
    assert (fact.status, fact.corrected_by) == ("active", world.admin.username)
    event = get_row(world, EvolutionEvent, id=get_row(world, Proposal, id=case.id).event_id)
    assert (event.actor, event.reason) == (world.admin.username, "she said so")
    assert get_row(world, Fact, text="Nora lives in Rome, 0.").retired_at is not None


def test_what_was_rejected_is_not_called_accepted(browser: Client, world: ConsoleWorld) -> None:
    case = make_conflict(world)
    request_body(browser, "review-case", case.id, answer="discard")
    page = request_body(browser, "review", query="?state=accepted")
    assert f"Decided with edits by {world.admin.username}" in page
    assert "Accepted" not in page


def test_words_where_nothing_is_written_are_refused(browser: Client, world: ConsoleWorld) -> None:
    case = make_conflict(world)
    page = request_body(browser, "review-case", case.id, answer="keep", text="Something else")
    assert "Not done: this answer writes no words of its own." in page
    assert get_row(world, Proposal, id=case.id).state == "open"


def test_many_are_answered_each_for_itself_and_taken_back(
    browser: Client, world: ConsoleWorld
) -> None:
    cases = [make_conflict(world, number) for number in range(3)]
    request_body(browser, "review-case", cases[2].id, answer="keep")
    ids = [str(case.id) for case in cases]
    page = request_body(browser, "review-answer", ids=ids, answer="reject", reason="not so")
    assert "Rejected: 2 of 3" in page
    assert "This was answered before." in page
    with tenant_scope(world.tenant.id):
        events = EvolutionEvent.objects.filter(reason="not so", kind="manual")
        assert events.count() == 2  # one change-set each
        assert Fact.objects.filter(status="retracted").count() == 2
    page = request_body(browser, "review-answer", ids=ids[:2], answer="take_back")
    assert "Undone: 2 of 2" in page
    with tenant_scope(world.tenant.id):
        assert not Fact.objects.filter(status="retracted").exists()
        assert Proposal.objects.filter(id__in=ids, state="open").count() == 2


@pytest.mark.parametrize("sent", [{"answer": "accept"}, {"ids": "x", "answer": "accept"}])
def test_without_a_choice_nothing_is_done(
    browser: Client, world: ConsoleWorld, sent: dict[str, str]
) -> None:
    assert "Nothing was done" in request_body(browser, "review-answer", **sent)


def test_cases_of_another_tenant_are_not_among_many(browser: Client, world: ConsoleWorld) -> None:
    theirs = make_conflict(make_world("Other"))
    page = request_body(browser, "review-answer", ids=[str(theirs.id)], answer="reject")
    assert "Rejected: 0 of 0" in page


def test_nobody_erases_anything_among_many(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        wish = make_proposal(world.space, kind="erase", row_type="fact", row_id=world.fact.id)
    page = request_body(browser, "review-answer", ids=[str(wish.id)], answer="accept")
    assert "What to erase has to be selected one by one." in page
    assert get_row(world, Proposal, id=wish.id).state == "open"


def test_no_button_and_no_key_of_the_inbox_erases(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        wish = make_proposal(world.space, kind="erase", row_type="fact", row_id=world.fact.id)
    page = browser.get(reverse("review-case", args=[wish.id])).content.decode()
    assert 'value="erase"' not in page
    assert f"{reverse('space-erase', args=[world.space.id])}?wish={wish.id}" in page


def test_a_rule_is_made_from_a_case_and_answers_it(browser: Client, world: ConsoleWorld) -> None:
    case = make_conflict(world)
    form = request_body(browser, "review-rules", query=f"?case={case.id}")
    assert 'value="lives_in"' in form
    assert '<option value="assistant" selected>' in form
    page = request_body(
        browser,
        "review-rules",
        kind="conflict",
        answer="reject",
        predicate_key="lives_in",
        role="assistant",
        space=str(world.space.id),
        reason="assistants guess",
        now="yes",
    )
    words = "Always reject what contradicts a memory, about “lives in”, said by an assistant"
    assert words in page
    assert "Open cases decided by it: 1." in page
    rule = get_row(world, ReviewRule, kind="conflict")
    assert (rule.created_by, rule.reason) == (world.admin.username, "assistants guess")
    shown = request_body(browser, "review", query=f"?state=all&rule={rule.id}")
    assert "Nora lives in Rome, 0." in shown
    assert f"rule of {world.admin.username}" in shown


def test_a_removed_rule_stays_to_be_read(browser: Client, world: ConsoleWorld) -> None:
    page = request_body(browser, "review-rule-remove", world.rule.id, sent="yes")
    assert "it decides no more cases" in page
    assert "Always reject names that may be the same" not in page
    assert "Always reject names that may be the same" in request_body(
        browser, "review-rules", query="?state=removed"
    )


def test_only_admins_make_and_remove_rules(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.EDITOR))
    sent = {"kind": "conflict", "answer": "reject"}
    assert client.post(reverse("review-rules"), sent).status_code == 403
    assert "New rule" not in request_body(client, "review-rules")
    with tenant_scope(world.tenant.id):
        assert ReviewRule.objects.count() == 1


def test_a_rule_names_no_space_and_no_case_of_another_tenant(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Other")
    sent = {"kind": "conflict", "answer": "reject", "space": str(other.space.id)}
    assert browser.post(reverse("review-rules"), sent).status_code == 404
    where = f"{reverse('review-rules')}?case={other.proposal.id}"
    assert browser.get(where).status_code == 404


def test_a_rule_that_is_there_is_not_made_twice(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_rule(world.tenant, kind="conflict")
    page = request_body(browser, "review-rules", kind="conflict", answer="accept")
    assert "No rule was created: a rule for the same is in force" in page


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("local/1", "Left unchanged by the rules"),
        ("pipeline", "Left unchanged by the rules"),
        ("llm/qwen/qwen3-8b/1a2b3c", "Left unchanged by the model qwen/qwen3-8b"),
    ],
)
def test_what_the_engine_left_unchanged_is_settled_without_you(
    browser: Client, world: ConsoleWorld, engine: str, words: str
) -> None:
    now = timezone.now()
    closed: dict[str, Any] = {"state": "rejected", "created_at": now, "decided_at": now}
    make_conflict(world, 1, decided_by=engine, **closed)
    make_conflict(world, 2, decided_by="eva", **closed | {"created_at": now - timedelta(hours=1)})
    page = request_body(browser, "review", query="?state=settled")
    assert "1 settled without you in 30 days" in page
    assert words in page
    assert engine not in page.replace(words, "")
    assert "Nora lives in Porto, 2." not in page
    assert "Left unchanged by eva" in request_body(browser, "review", query="?state=rejected")


def test_a_viewer_is_told_who_can_answer(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = request_body(client, "review")
    assert "An editor can decide this." in page
    assert 'name="ids"' not in page


def test_a_name_put_right_in_one_memory_lists_the_others_in_one_case(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        said = make_turns(world.space, "My dog is called Rex.")[0]
        own = make_fact(world.space, "Nora's dog is called Rex.", said)
        others = [make_fact(world.space, f"Rex likes walk {n}.", said) for n in range(7)]
        make_fact(world.space, "Rex is Nora's dog.", said, owner="Rex")
    sent = {"action": "correct", "text": "Nora's dog is called Max.", "confirmed": "1"}
    browser.post(reverse("space-fact", args=[world.space.id, own.id]), sent)
    case = get_row(world, Proposal, kind="rename")
    body = request_body(browser, "review-case", case.id)
    assert "Rex is also named in 8 other memories" in body
    assert body.count("Max likes walk") == len(others)
    assert "and 3 more" in body
    assert "Keep both <kbd" not in body
    browser.post(reverse("review-case", args=[case.id]), {"answer": "rename"})
    with tenant_scope(world.tenant.id):
        held = Fact.objects.filter(space=world.space, retired_at=None)
        assert not held.filter(text__contains="Rex").exists()
        event = EvolutionEvent.objects.get(id=get_row(world, Proposal, id=case.id).event_id)
    changed = request_body(browser, "space-event", world.space.id, event.id)
    assert "Max is Nora" in changed
    browser.post(reverse("review-take-back", args=[case.id]))
    assert "Rex is also named in 8 other memories" in request_body(browser, "review")
