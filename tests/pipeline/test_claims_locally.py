"""What the rule engine ends, and what it only suspects (spec §11.7, E19, E24)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.services import IngestRequest, ingest, run_space
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact, Proposal

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def talk(tenant: Tenant, *lines: str) -> None:
    """One line a day, each derived before the next."""
    for day, line in enumerate(lines):
        message = Message("user", line, "Ana", AT + timedelta(days=day))
        job = ingest(tenant.id, IngestRequest("ana", [message], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)


def status_of(tenant: Tenant, words: str) -> str:
    with tenant_scope(tenant.id):
        return Fact.objects.get(text__icontains=words, polarity="holds").status


def proposed(tenant: Tenant) -> list[Proposal]:
    with tenant_scope(tenant.id):
        return list(Proposal.objects.all())


def test_quitting_ends_what_it_denies(tenant: Tenant) -> None:
    talk(tenant, "I smoke cigarettes.", "I drink coffee every day.", "I quit smoking cigarettes.")
    assert status_of(tenant, "smokes cigarettes") == "superseded"
    assert status_of(tenant, "coffee") == "active"


def test_moving_out_ends_an_address(tenant: Tenant) -> None:
    talk(tenant, "I live at 12 Elm Street.", "I moved out of 12 Elm Street.")
    assert status_of(tenant, "lives at 12 Elm") == "superseded"


def test_moving_out_of_a_flat_ends_the_address_it_does_not_name(tenant: Tenant) -> None:
    talk(tenant, "I live at 12 Elm Street.", "I moved out of my flat.")
    assert status_of(tenant, "lives at 12 Elm") == "superseded"


def test_E19_what_was_never_said_was_never_so(tenant: Tenant) -> None:
    talk(tenant, "I live in Porto.", "I never said that I live in Porto.")
    assert status_of(tenant, "lives in Porto") == "retracted"


def test_a_like_and_a_dislike_are_reviewed_and_nothing_is_ended(tenant: Tenant) -> None:
    talk(tenant, "I love cheese pizza.", "I hate cheese pizza.")
    assert status_of(tenant, "loves cheese pizza") == "active"
    assert status_of(tenant, "hates cheese pizza") == "active"
    (asked,) = proposed(tenant)
    assert (asked.kind, asked.payload["op"]) == ("conflict", "supersede")
    assert asked.payload["fact_id"]


def test_two_likes_are_no_conflict(tenant: Tenant) -> None:
    talk(tenant, "I love cheese pizza.", "I love veggie burgers.", "I hate cold coffee.")
    assert proposed(tenant) == []


def test_AA7_E20_an_address_to_be_forgotten_is_found_by_its_predicate(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="test", overrides={"erase.on_request": "confirm"})
    talk(tenant, "I live at 12 Elm Street.", "I like tea.", "Please forget my address.")
    (asked,) = proposed(tenant)
    with tenant_scope(tenant.id):
        address = Fact.objects.get(predicate_key="address")
    assert (asked.kind, asked.row_id) == ("erase", address.id)


# Chinese


def test_a_job_left_ends_what_one_was_and_where(tenant: Tenant) -> None:
    talk(tenant, "我是护士。", "我在白鹭医院上班。", "我住在泉州。", "我辞职了。")
    assert [status_of(tenant, words) for words in ("护士", "白鹭医院")] == ["superseded"] * 2
    assert status_of(tenant, "泉州") == "active"


def test_an_employer_is_ended_where_no_role_is_held(tenant: Tenant) -> None:
    talk(tenant, "I work at Dove Parcels.", "I quit my job.")
    assert status_of(tenant, "Dove Parcels") == "superseded"


@pytest.mark.parametrize(
    ("left", "status"),
    [("我搬走了。", "superseded"), ("我从福州搬走了。", "active"), ("我想搬走。", "active")],
)
def test_moving_away_ends_the_home_it_means(tenant: Tenant, left: str, status: str) -> None:
    talk(tenant, "我住在泉州。", left)
    assert status_of(tenant, "泉州") == status


def test_a_divorce_takes_the_place_of_a_marriage(tenant: Tenant) -> None:
    talk(tenant, "我结婚了。", "我离婚了。")
    assert status_of(tenant, "结婚") == "superseded"


@pytest.mark.parametrize("wish", ["我想辞职。", "我还没辞职。", "我差点辞职。", "我打算辞职。"])
def test_a_wish_to_leave_ends_nothing(tenant: Tenant, wish: str) -> None:
    talk(tenant, "我是护士。", "我在白鹭医院上班。", wish)
    assert status_of(tenant, "护士") == status_of(tenant, "白鹭医院") == "active"
    assert proposed(tenant) == []


@pytest.mark.parametrize(
    ("held", "ended", "words"),
    [
        ("我每天抽一包烟。", "我戒烟了。", "一包烟"),
        ("我有一辆红色的自行车。", "我把自行车卖掉了。", "红色"),
        ("我交了男朋友。", "我和小李分手了。", "男朋友"),
    ],
)
def test_what_may_be_many_is_reviewed(tenant: Tenant, held: str, ended: str, words: str) -> None:
    talk(tenant, held, ended)
    assert status_of(tenant, words) == "active"
    (asked,) = proposed(tenant)
    assert asked.kind == "conflict"


@pytest.mark.parametrize("near_miss", ["我想戒烟。", "我还没戒烟。", "我戒烟失败了。"])
def test_a_habit_not_given_up_yet_is_not_asked_about(tenant: Tenant, near_miss: str) -> None:
    talk(tenant, "我每天抽一包烟。", near_miss)
    assert proposed(tenant) == []
