"""What the rule engine ends, and what it only suspects (spec §11.7, E19, E24)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.naming import write_subject_name
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.models import Fact, Proposal
from tests.support.deciders import decide_evenly

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def derive_daily_lines(tenant: Tenant, *lines: str) -> None:
    """One line a day, each derived before the next."""
    for day, line in enumerate(lines):
        message = Message("user", line, "Ana", AT + timedelta(days=day))
        job = ingest_messages(tenant.id, IngestRequest("ana", [message], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)


def derive_exchanges(tenant: Tenant, *said: tuple[str, str]) -> None:
    """One message a week, by its role and words, each derived before the next."""
    for week, (role, words) in enumerate(said):
        at = AT + timedelta(weeks=week)
        message = Message(role, words, "Ana" if role == "user" else "Hub", at)
        job = ingest_messages(tenant.id, IngestRequest("ana", [message], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", 1), ("Asia/Shanghai", 2), ("America/Los_Angeles", 1)]
)
def test_today_is_the_day_that_it_was_in_the_space(tenant: Tenant, zone: str, day: int) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        Space.objects.filter(id=space.id).update(timezone=zone)
    said = Message("user", "I saw the dentist today.", "Ana", datetime(2026, 3, 1, 23, tzinfo=UTC))
    job = ingest_messages(tenant.id, IngestRequest("ana", [said], "s")).job
    assert job is not None
    run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text__icontains="dentist")
    assert fact.event_from == datetime(2026, 3, day, tzinfo=ZoneInfo(zone))


def get_status(tenant: Tenant, words: str) -> str:
    with tenant_scope(tenant.id):
        return Fact.objects.get(text__icontains=words, polarity="holds").status


def list_open_proposals(tenant: Tenant) -> list[Proposal]:
    with tenant_scope(tenant.id):
        return list(Proposal.objects.all())


@pytest.mark.parametrize(
    ("other", "asked"),
    [(Message("assistant", "Nice.", "Hub"), 1), (Message("user", "Nice.", "Ben"), 0)],
    ids=["told to an assistant", "among people"],
)
def test_among_people_less_is_asked_about(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, other: Message, asked: int
) -> None:
    decide_evenly(monkeypatch)
    told = [Message("user", "I go to Fitbox gym.", "Ana"), other]
    told += [Message("user", "I go to Ironworks gym.", "Ana")]
    for day, message in enumerate(told):
        dated = replace(message, timestamp=AT + timedelta(days=day))
        job = ingest_messages(tenant.id, IngestRequest("ana", [dated], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
    assert len(list_open_proposals(tenant)) == asked


def test_who_tells_on_without_an_assistant_is_no_talk_among_people(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An application may send an assistant's replies of some sessions alone."""
    decide_evenly(monkeypatch)
    said = [
        [Message("user", "I go to Fitbox gym.", "Ana"), Message("assistant", "Nice.", "Hub")],
        [Message("user", "I go to Ironworks gym.", "Ana")],
    ]
    for day, messages in enumerate(said):
        dated = [replace(each, timestamp=AT + timedelta(days=day)) for each in messages]
        job = ingest_messages(tenant.id, IngestRequest("ana", dated, f"s{day}")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
    assert len(list_open_proposals(tenant)) == 1


def test_who_tells_alone_after_somebody_else_spoke_is_among_people(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only the other one speaks, and the subject's words are of another session."""
    decide_evenly(monkeypatch)
    said = [
        [Message("user", "Good morning.", "Ana")],
        [Message("user", "I go to Fitbox gym.", "Ben")],
        [Message("user", "I go to Ironworks gym.", "Ben")],
    ]
    for day, messages in enumerate(said):
        dated = [replace(each, timestamp=AT + timedelta(days=day)) for each in messages]
        job = ingest_messages(tenant.id, IngestRequest("ana", dated, f"s{day}")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
    assert list_open_proposals(tenant) == []


def test_quitting_ends_what_it_denies(tenant: Tenant) -> None:
    derive_daily_lines(
        tenant, "I smoke cigarettes.", "I drink coffee every day.", "I quit smoking cigarettes."
    )
    assert get_status(tenant, "smokes cigarettes") == "superseded"
    assert get_status(tenant, "coffee") == "active"


def test_moving_out_ends_an_address(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I live at 12 Elm Street.", "I moved out of 12 Elm Street.")
    assert get_status(tenant, "lives at 12 Elm") == "superseded"


def test_moving_out_of_a_flat_ends_the_address_it_does_not_name(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I live at 12 Elm Street.", "I moved out of my flat.")
    assert get_status(tenant, "lives at 12 Elm") == "superseded"


def test_E19_what_was_never_said_was_never_so(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I live in Porto.", "I never said that I live in Porto.")
    assert get_status(tenant, "lives in Porto") == "retracted"


def test_a_like_and_a_dislike_are_reviewed_and_nothing_is_ended(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I love cheese pizza.", "I hate cheese pizza.")
    assert get_status(tenant, "loves cheese pizza") == "active"
    assert get_status(tenant, "hates cheese pizza") == "active"
    (asked,) = list_open_proposals(tenant)
    assert (asked.kind, asked.payload["op"]) == ("conflict", "supersede")
    assert asked.payload["fact_id"]


def test_two_likes_are_no_conflict(tenant: Tenant) -> None:
    derive_daily_lines(
        tenant, "I love cheese pizza.", "I love veggie burgers.", "I hate cold coffee."
    )
    assert list_open_proposals(tenant) == []


def test_AA7_E20_an_address_to_be_forgotten_is_found_by_its_predicate(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="test", overrides={"erase.on_request": "confirm"})
    derive_daily_lines(
        tenant, "I live at 12 Elm Street.", "I like tea.", "Please forget my address."
    )
    (asked,) = list_open_proposals(tenant)
    with tenant_scope(tenant.id):
        address = Fact.objects.get(predicate_key="address")
    assert (asked.kind, asked.row_id) == ("erase", address.id)


def test_AA7_E20_a_wish_finds_a_memory_by_its_meaning_alone(tenant: Tenant) -> None:
    """No word of the wish is in what it means, nor in what was said of it."""
    set_policy(tenant.id, actor="test", overrides={"erase.on_request": "confirm"})
    told = "I take insulin for diabetes."
    wish = "Please delete what you know about my sugar illness."
    derive_daily_lines(tenant, told, "I rent a flat in Leeds.", "I have two sons.", wish)
    (asked,) = list_open_proposals(tenant)
    with tenant_scope(tenant.id):
        meant = Fact.objects.get(text__icontains="insulin")
    assert (asked.kind, asked.row_id) == ("erase", meant.id)
    assert not set(wish.lower().strip(".").split()) & set(
        f"{meant.text} {told}".lower().replace(".", "").split()
    )


# Chinese


def test_a_job_left_ends_what_one_was_and_where(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "我是护士。", "我在白鹭医院上班。", "我住在泉州。", "我辞职了。")
    assert [get_status(tenant, words) for words in ("护士", "白鹭医院")] == ["superseded"] * 2
    assert get_status(tenant, "泉州") == "active"


def test_an_employer_is_ended_where_no_role_is_held(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I work at Dove Parcels.", "I quit my job.")
    assert get_status(tenant, "Dove Parcels") == "superseded"


@pytest.mark.parametrize(
    ("left", "status"),
    [("我搬走了。", "superseded"), ("我从福州搬走了。", "active"), ("我想搬走。", "active")],
)
def test_moving_away_ends_the_home_it_means(tenant: Tenant, left: str, status: str) -> None:
    derive_daily_lines(tenant, "我住在泉州。", left)
    assert get_status(tenant, "泉州") == status


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("I lived in Leeds until 2016.", "Leeds"),
        ("I lived in Leeds.", "Leeds"),
        ("I was living in Leeds for ten years.", "Leeds"),
    ],
)
def test_a_former_home_ends_no_home_and_is_over_itself(
    tenant: Tenant, told: str, words: str
) -> None:
    derive_daily_lines(tenant, "I live in Porto.", told)
    assert (get_status(tenant, "Porto"), get_status(tenant, words)) == ("active", "superseded")
    assert list_open_proposals(tenant) == []


def test_so_it_is_in_chinese(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "我住在泉州。", "我在杭州住到2016年。")
    assert (get_status(tenant, "泉州"), get_status(tenant, "杭州")) == ("active", "superseded")


def test_a_former_job_was_so_until_the_year_that_is_told(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "I work at Lidl.", "I worked at Boots from 2012 to 2016.")
    with tenant_scope(tenant.id):
        boots = Fact.objects.get(text__contains="Boots")
    assert boots.valid_to is not None
    assert (boots.valid_from.year, boots.valid_to.date().isoformat()) == (2012, "2017-01-01")
    assert get_status(tenant, "Lidl") == "active"


def test_a_divorce_takes_the_place_of_a_marriage(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "我结婚了。", "我离婚了。")
    assert get_status(tenant, "结婚") == "superseded"


@pytest.mark.parametrize("wish", ["我想辞职。", "我还没辞职。", "我差点辞职。", "我打算辞职。"])
def test_a_wish_to_leave_ends_nothing(tenant: Tenant, wish: str) -> None:
    derive_daily_lines(tenant, "我是护士。", "我在白鹭医院上班。", wish)
    assert get_status(tenant, "护士") == get_status(tenant, "白鹭医院") == "active"
    assert list_open_proposals(tenant) == []


@pytest.mark.parametrize(
    ("held", "ended", "words"),
    [
        ("我每天抽一包烟。", "我戒烟了。", "一包烟"),
        ("我有一辆红色的自行车。", "我把自行车卖掉了。", "红色"),
    ],
)
def test_giving_it_up_or_selling_it_ends_what_names_it(
    tenant: Tenant, held: str, ended: str, words: str
) -> None:
    derive_daily_lines(tenant, held, ended)
    assert get_status(tenant, words) == "superseded"
    assert list_open_proposals(tenant) == []


def test_who_is_left_by_another_name_is_reviewed(tenant: Tenant) -> None:
    derive_daily_lines(tenant, "我交了男朋友。", "我和小李分手了。")
    assert get_status(tenant, "男朋友") == "active"
    (asked,) = list_open_proposals(tenant)
    assert asked.kind == "conflict"


@pytest.mark.parametrize("near_miss", ["我想戒烟。", "我还没戒烟。", "我戒烟失败了。"])
def test_a_habit_not_given_up_yet_is_not_asked_about(tenant: Tenant, near_miss: str) -> None:
    derive_daily_lines(tenant, "我每天抽一包烟。", near_miss)
    assert list_open_proposals(tenant) == []


def test_what_is_held_under_a_former_name_gives_way_as_well(tenant: Tenant) -> None:
    """The name was told meanwhile, and nobody has renamed what is held yet."""
    said = [Message("user", "I live in Porto.", "", AT)]
    job = ingest_messages(tenant.id, IngestRequest("ana", said, "s")).job
    assert job is not None
    run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        write_subject_name(Space.objects.get(id=job.space_id), "Ana Ferreira")
    said = [Message("user", "I moved to Madrid.", "", AT + timedelta(days=9))]
    assert ingest_messages(tenant.id, IngestRequest("ana", said, "s")).job is not None
    run_space(tenant.id, job.space_id)
    assert get_status(tenant, "Porto") == "superseded"
    assert get_status(tenant, "Madrid") == "active"


def test_what_is_held_under_a_name_in_small_letters_says_the_name_that_was_told(
    tenant: Tenant,
) -> None:
    """The name stands in capitals where it opens a sentence."""
    lines = ["Hi, I'm Tess. I work as a florist in Utrecht and I have a parrot called Mango."]
    lines += ["I left the flower shop, I'm a postwoman now."]
    for day, line in enumerate(lines):
        said = [Message("user", line, "walker", AT + timedelta(days=day))]
        job = ingest_messages(tenant.id, IngestRequest("walker", said, "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        texts = list(Fact.objects.values_list("text", flat=True))
    assert "Tess has a parrot called Mango." in texts
    assert get_status(tenant, "florist") == "superseded"
    assert get_status(tenant, "postwoman") == "active"


def test_a_move_of_last_week_told_later_in_one_call_is_a_move(tenant: Tenant) -> None:
    """What is said in one call has one time, and last week lies before it."""
    lines = ["I live in Leeds. My landlord is Mrs Keane."]
    lines += ["We have a new landlord now, Mr Okoro, and I moved to York last week."]
    derive_one_call(tenant, *lines)
    assert get_status(tenant, "lives in Leeds") == "superseded"
    assert get_status(tenant, "landlord is Mrs Keane") == "superseded"
    assert get_status(tenant, "moved to York") == "active"
    assert get_status(tenant, "landlord is Mr Okoro") == "active"


def test_a_chinese_move_told_later_in_one_call_is_a_move(tenant: Tenant) -> None:
    derive_one_call(tenant, "我住在杭州，房东是刘阿姨。", "上周我搬到苏州了，现在的房东是陈先生。")
    assert get_status(tenant, "住在杭州") == "superseded"
    assert get_status(tenant, "刘阿姨") == "superseded"
    assert get_status(tenant, "搬到苏州") == "active"


def test_a_job_left_last_week_is_over_though_it_was_told_today(tenant: Tenant) -> None:
    derive_one_call(tenant, "I work at Tesco.", "I quit Tesco last week.")
    assert get_status(tenant, "works at Tesco") == "superseded"


def test_a_move_of_long_ago_told_later_is_late_news(tenant: Tenant) -> None:
    derive_one_call(tenant, "I live in Leeds.", "I moved to York in 2019.")
    assert get_status(tenant, "lives in Leeds") == "active"


def derive_one_call(tenant: Tenant, *lines: str) -> None:
    messages = [Message("user", line, "Ana") for line in lines]
    job = ingest_messages(tenant.id, IngestRequest("ana", messages, "s")).job
    assert job is not None
    run_space(tenant.id, job.space_id)


def test_a_couple_that_split_up_is_none_whoever_was_told_of(tenant: Tenant) -> None:
    derive_one_call(tenant, "My girlfriend Lucy is a vet.", "Lucy and I broke up.")
    assert get_status(tenant, "Lucy is Ana's girlfriend") == "superseded"


def test_with_a_pet_that_died_ends_what_somebody_has_of_it(tenant: Tenant) -> None:
    """However much else is known of them that is more like the news than that is."""
    others = (
        "我住在大连",
        "我是电工",
        "我每天吃硝苯地平",
        "我女儿在读研",
        "我开一辆朗逸",
        "我对青霉素过敏",
    )
    derive_daily_lines(tenant, "我养了条狗叫大黄", *others, "大黄走了")
    assert get_status(tenant, "养了条狗叫大黄") == "superseded"
    assert get_status(tenant, "大黄是") == "superseded"


def test_a_message_ends_what_its_claims_do_not_name(tenant: Tenant) -> None:
    derive_daily_lines(
        tenant,
        "My landlord is Mr Osei.",
        "I rent a flat in Leith.",
        "well the old landlord sold up, the new one is a Mrs Vance. letter for her please",
    )
    assert get_status(tenant, "landlord is Mr Osei") == "superseded"
    assert get_status(tenant, "rents a flat") == "active"


@pytest.mark.parametrize(
    ("held", "told", "words"),
    [
        ("I work at Asda", "I work at Tesco now, not Asda", "at Asda"),
        ("We live in Bristol", "we live in Bath now not Bristol", "in Bristol"),
        ("I drive a Golf", "I drive a Polo now rather than the Golf", "drives a Golf"),
        ("I teach year 2", "I teach year 4 and not year 2 any more", "teaches year 2"),
        (
            "We bank with Barclays",
            "We bank with Monzo now, no longer with Barclays",
            "bank with Barclays",
        ),
        ("My sister Beth works at Boots", "Beth is at Superdrug now not Boots", "at Boots"),
        (
            "I go to the gym in Ash Street",
            "I now go to a gym in Mill Lane, not Ash Street",
            "the gym",
        ),
    ],
)
def test_what_is_so_now_ends_what_it_is_told_beside(
    tenant: Tenant, held: str, told: str, words: str
) -> None:
    derive_daily_lines(tenant, held, told)
    assert get_status(tenant, words) == "superseded"
    with tenant_scope(tenant.id):
        assert [f.polarity for f in Fact.objects.filter(status="active")] in (
            ["holds"], ["holds", "holds"],
        )  # fmt: skip


@pytest.mark.parametrize(
    ("held", "told", "status"),
    [
        ("I'm vegetarian", "I eat meat again", "superseded"),
        ("I'm vegetarian", "I've started eating fish", "active"),
        ("I'm vegan", "I've started eating fish", "superseded"),
        ("I'm vegan", "I eat vegan burgers a lot", "active"),
        ("I live alone", "I live with asthma", "active"),
        ("My nan is in hospital", "nan came home today", "superseded"),
        ("My nan is in hospital", "I came home at six", "active"),
        ("I'm learning to drive", "I passed my test!", "superseded"),
        ("I work full time", "I've gone part time", "superseded"),
        ("I live on my own", "I live with my girlfriend now", "superseded"),
        ("I'm single", "I'm seeing someone", "superseded"),
        ("I'm single", "I'm seeing a physio", "active"),
        ("I'm looking for a flat in Leith", "we finally got a flat, Duke Street", "superseded"),
        ("I'm saving up for a new car", "bought a new kettle", "active"),
        ("I'm reading Dune", "finished Dune", "superseded"),
        ("I'm reading Dune", "bought Dune for Tom", "active"),
        ("Sam is my boyfriend", "Sam and I got married", "superseded"),
        ("Sam is my boyfriend", "Sam and Jo got married", "active"),
        ("I'm seeing Pete", "it's over with Pete", "superseded"),
        ("I live in Leeds", "I'm hoping to move to Wales", "active"),
        ("I don't have a car", "bought a car", "superseded"),
        ("I don't have a car", "my brother bought a car", "active"),
        ("I don't smoke", "I've started smoking again, I know", "superseded"),
        ("I don't smoke", "I've started running", "active"),
        ("I've never been to Japan", "just back from Japan", "superseded"),
        ("I'm scared of dogs", "not scared of dogs any more", "superseded"),
    ],
)
def test_what_a_later_state_rules_out_is_over(
    tenant: Tenant, held: str, told: str, status: str
) -> None:
    derive_daily_lines(tenant, held)
    with tenant_scope(tenant.id):
        first = list(Fact.objects.values_list("id", flat=True))
    derive_daily_lines(tenant, held, told)
    with tenant_scope(tenant.id):
        assert Fact.objects.get(id__in=first).status == status


def test_an_answer_ends_with_its_question_what_is_held(tenant: Tenant) -> None:
    derive_exchanges(
        tenant,
        ("user", "I charge 20 a head for the harbour tour."),
        ("assistant", "Are you still charging 20 for the tour?"),
        ("user", "25 since May, fuel costs a fortune."),
    )
    assert get_status(tenant, "charges 20") == "superseded"


@pytest.mark.parametrize(
    ("told", "asked", "answer", "words"),
    [
        ("my gym's Ironworks, the one by the river", "Still at Ironworks?",
         "omg no, 45 quid a month", "Ironworks"),
        ("I take citalopram 20 mg", "Still taking the citalopram?", "came off it in july",
         "citalopram"),
        ("I smoke ten a day", "Do you still smoke?", "gave up at easter!!", "smokes"),
        ("Duarte does my taxes.", "Does Duarte still do your taxes?", "nope, Leonor does them",
         "Duarte"),
        ("我抽烟，一天一包", "还抽烟吗？", "戒了半年了", "抽烟"),
    ],
)  # fmt: skip
def test_what_an_answer_says_of_what_is_asked_after_ends_it(
    tenant: Tenant, told: str, asked: str, answer: str, words: str
) -> None:
    derive_exchanges(tenant, ("user", told), ("assistant", asked), ("user", answer))
    assert get_status(tenant, words) == "superseded"


LIFE = (
    "I live in Utrecht.",
    "I have two cats.",
    "My sister Lia is a nurse in Porto.",
    "I work as a baker.",
    "I am allergic to nuts.",
    "My car is a red Fiat.",
    "My brother Rui lives in Faro and has a boat.",
    "I take vitamin D every morning.",
)


@pytest.mark.parametrize(
    ("over", "status"),
    [
        ("Joao and I separated in June.", "superseded"),
        ("I got divorced last month.", "superseded"),
        ("The divorce was final last Friday.", "superseded"),
        ("My sister's divorce was final last Friday.", "active"),
        ("My sister Lia got divorced last month.", "active"),
    ],
)
def test_a_marriage_ends_however_much_else_is_known(tenant: Tenant, over: str, status: str) -> None:
    told = ["My husband Joao works at Philips.", *LIFE, over]
    derive_exchanges(tenant, *(("user", words) for words in told))
    with tenant_scope(tenant.id):
        tie = Fact.objects.get(text__regex=r"^Joao is .*husband\.$")
    assert tie.status == status


def test_of_two_appointments_neither_ends_the_other(tenant: Tenant) -> None:
    derive_exchanges(
        tenant,
        ("user", "My almond test is on 8 October."),
        ("user", "I have an eye test on 14 December."),
    )
    with tenant_scope(tenant.id):
        assert {fact.status for fact in Fact.objects.all()} == {"active"}


def test_who_is_dead_set_on_something_has_not_died(tenant: Tenant) -> None:
    derive_exchanges(
        tenant,
        ("user", "I work at Crumbfolk in Adamstown."),
        ("user", "for uni im dead set on marine bio at newy"),
    )
    with tenant_scope(tenant.id):
        assert {fact.status for fact in Fact.objects.all()} == {"active"}
