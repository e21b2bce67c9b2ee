"""A name that was told wrong is put right in all that was told under it (spec E19)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.ingest.dry_run import preview_ingest
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.review.answer_proposals import answer_proposal, take_back_answer
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Derivation, Entity, EvolutionEvent, Fact, Proposal

pytestmark = pytest.mark.django_db

WRONG_NAMES = ("Rex", "rex", "Lena", "Theo", "Donna", "Shivon", "Oak", "小丽", "小黑")
AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def tell(tenant: Tenant, *lines: str) -> Space:
    """One line a day, each derived before the next; behind " / " what an assistant says to it."""
    for day, line in enumerate(lines):
        at = AT + timedelta(days=day)
        said, *replies = line.split(" / ")
        messages = [Message("user", said, "Ana", at)]
        messages += [Message("assistant", reply, "", at) for reply in replies]
        job = ingest_messages(tenant.id, IngestRequest("ana", messages, "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
    with tenant_scope(tenant.id):
        return Space.objects.get()


def list_current_texts(tenant: Tenant) -> set[str]:
    with tenant_scope(tenant.id):
        rows = Fact.objects.filter(status="active", retired_at=None, valid_to=None)
        return {*rows.values_list("text", flat=True)}


@pytest.mark.parametrize(
    ("told", "put_right", "held"),
    [
        (
            "I have a dog called Rex",
            "Actually, my dog is called Max, not Rex",
            {"Ana has a dog called Max.", "Max is Ana's dog.", "Ana's dog is called Max."},
        ),
        (
            "My daughter Lena starts school in August",
            "she's called Lea, not Lena",
            {"Ana's daughter Lea starts school in August.", "Lea is Ana's daughter."},
        ),
        (
            "My son Theo plays the cello",
            "No wait, his name isn't Theo, it's Leo",
            {"Ana's son Leo plays the cello.", "Leo is Ana's son."},
        ),
        (
            "My partner is called Donna. Donna works at Barclays.",
            "sorry, I meant Dana, not Donna",
            {"Ana's partner is called Dana.", "Dana works at Barclays."},
        ),
        (
            "My daughter Shivon loves horses",
            "it's Siobhan, with a b",
            {"Ana's daughter Siobhan loves horses.", "Siobhan is Ana's daughter."},
        ),
        (
            "My daughter Sarah loves horses",
            "I meant Sara, without the h",
            {"Ana's daughter Sara loves horses.", "Sara is Ana's daughter."},
        ),
        (
            "I live on Oak Street in Leeds",
            "my street is called Elm Street, not Oak Street",
            {"Ana lives on Elm Street in Leeds."},
        ),
        ("my dog is called rex", "oops my dogs called max not rex", {"Ana's dog is called max."}),
        (
            "I have a dog called Rex",
            "Actually my dog is called Max",
            {"Ana has a dog called Max.", "Max is Ana's dog.", "Ana's dog is called Max."},
        ),
        ("我女儿叫小丽", "说错了，叫小莉", {"小莉是Ana的女儿。"}),
        ("我有一只狗叫小黑", "我的狗不叫小黑，叫小白", {"Ana有一只狗叫小白。", "小白是Ana的狗。"}),
    ],
)
def test_E19_all_that_was_told_under_a_wrong_name_is_so_under_the_right_one(
    tenant: Tenant, told: str, put_right: str, held: set[str]
) -> None:
    tell(tenant, told, put_right)
    texts = list_current_texts(tenant)
    assert held <= texts
    assert not [text for text in texts for name in WRONG_NAMES if name in text]


def test_whose_the_named_thing_is_stays_as_it_was_told(tenant: Tenant) -> None:
    tell(
        tenant,
        "My sister has a parrot called Kiki",
        "Sorry, the parrot is called Coco, not Kiki",
    )
    assert list_current_texts(tenant) == {"Ana's sister has a parrot called Coco."}


def test_a_name_put_right_in_the_same_message_is_right(tenant: Tenant) -> None:
    tell(tenant, "I have a dog called Rex. Sorry, he's called Max, not Rex. He is four")
    texts = list_current_texts(tenant)
    assert {"Ana has a dog called Max.", "Max is four."} <= texts
    assert not [text for text in texts if "Rex" in text]


@pytest.mark.parametrize(
    "ordinary",
    [
        "Max is my dog, not Anna's",
        "I called Max, not Rex",
        "I'm meeting Max, not Rex, on Friday",
        "I wish my dog was called Max, not Rex",
        "Is my dog called Max, not Rex?",
        "My cat is called Max, not Rex",
        "The meeting is called off, not postponed",
        "It was Max who barked, not Rex",
        "We met a dog called Max, not Rex, at the park",
        "Rex is a dog, not a cat",
        "Tom says my dog is called Max, not Rex",
    ],
)
def test_what_merely_has_two_names_in_it_puts_no_name_right(tenant: Tenant, ordinary: str) -> None:
    tell(tenant, "I have a dog called Rex", ordinary)
    assert {"Ana has a dog called Rex.", "Rex is Ana's dog."} <= list_current_texts(tenant)


@pytest.mark.parametrize(
    "back",
    [
        "No, it's Max",
        "it's Max actually",
        "It's Max, actually",
        "he's called Max",
        "his name is Max",
        "You mean Max",
        "Max, not Rex",
        "Max*",
    ],
)
def test_a_name_said_back_to_whoever_used_the_wrong_one_is_the_right_one(
    tenant: Tenant, back: str
) -> None:
    tell(tenant, "I have a dog called Rex / How is Rex doing?", back)
    held = {"Ana has a dog called Max.", "Max is Ana's dog.", "Ana's dog is called Max."}
    assert list_current_texts(tenant) == held


@pytest.mark.parametrize(
    ("asked", "back"),
    [
        ("Does Rex live in Leeds with you?", "No, it's York"),
        ("Is it Rex that hates cats?", "No, it's Max"),
        ("Does Rex sleep on the sofa?", "No, it's Max"),
        ("Who walks Rex?", "It's Tom actually"),
        ("When do you walk Rex?", "It's Sunday actually"),
        ("How is Rex?", "No, he's ill"),
        ("How are Rex and Tom?", "No, it's Max"),
        ("How is your dog?", "No, it's Max"),
    ],
)
def test_what_may_answer_what_was_asked_puts_no_name_right(
    tenant: Tenant, asked: str, back: str
) -> None:
    tell(tenant, f"I have a dog called Rex / {asked}", back)
    assert {"Ana has a dog called Rex.", "Rex is Ana's dog."} <= list_current_texts(tenant)


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        (["我的狗叫小黑 / 小黑最近怎么样？", "不对，叫小白"], "Ana的狗叫小白。"),
        (["我的狗叫小黑 / 小黑最近怎么样？", "错了，是小白"], "Ana的狗叫小白。"),
        (["我的狗叫小黑 / 小黑最近怎么样？", "是小白，不是小黑啦"], "Ana的狗叫小白。"),
        (["我的狗叫小黑 / 小黑最近怎么样？", "人家叫小白"], "Ana的狗叫小白。"),
        (["我的狗叫小黑 / 小黑在北京吗？", "不对，是上海"], "Ana的狗叫小黑。"),
        (["我的狗叫小黑 / 要叫车吗？", "不对，叫外卖"], "Ana的狗叫小黑。"),
        (["我女儿叫小丽", "我儿子叫小强 / 小丽和小强好吗？", "不对，叫小莉"], "小强是Ana的儿子。"),
    ],
)
def test_a_name_said_back_in_chinese(tenant: Tenant, lines: list[str], held: str) -> None:
    tell(tenant, *lines)
    assert held in list_current_texts(tenant)


@pytest.mark.parametrize(
    "ordinary",
    [
        "The vet is called away, not Rex",
        "The match is called off, not Rex",
        "the police were called out, not Rex",
        "he was called in, not Rex",
        "she's named after Grandma, not Rex",
        "The dog is called good, not Rex",
        "he's called home, not Rex",
        "my dog is called over, not Rex",
        "no, my dog is called away",
        "his name is mud, not Rex",
        "my dog is called every five minutes, not Rex",
        "It's Max's fault, not Rex",
    ],
)
def test_who_is_called_somewhere_is_not_called_that(tenant: Tenant, ordinary: str) -> None:
    tell(tenant, "I have a dog called Rex", ordinary)
    held = {"Ana has a dog called Rex.", "Rex is Ana's dog.", "Ana's dog is called Rex."}
    assert held <= list_current_texts(tenant)


def test_what_is_over_has_the_right_name_too(tenant: Tenant) -> None:
    space = tell(tenant, "I have a dog called Rex", "Rex sleeps in the kitchen")
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text="Rex sleeps in the kitchen.")
    corrections.end_fact(space, fact.id, "eva", AT + timedelta(days=3))
    with tenant_scope(tenant.id):
        ended = Fact.objects.get(id=fact.id)
        Fact.objects.filter(id=fact.id).update(corrected_by="")
    tell(tenant, "Actually, my dog is called Max, not Rex")
    with tenant_scope(tenant.id):
        told = Fact.objects.get(text="Max sleeps in the kitchen.", retired_at=None)
        assert (told.valid_to, told.status) == (ended.valid_to, "superseded")
        assert not Fact.objects.filter(text__contains="Rex", retired_at=None).exists()


def test_one_s_own_name_put_right_leaves_no_fragment(tenant: Tenant) -> None:
    tell(tenant, "My name is Anna, not Ana")
    assert list_current_texts(tenant) == {"Ana's name is Anna, not Ana."}


def test_a_name_told_in_passing_takes_the_place_of_none_that_is_known(tenant: Tenant) -> None:
    def say(text: str, day: int) -> Space:
        said = Message("user", text, "", AT + timedelta(days=day))
        job = ingest_messages(tenant.id, IngestRequest("u-1", [said], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)
        with tenant_scope(tenant.id):
            return Space.objects.get()

    assert say("I'm Irish, I grew up in Galway", 0).name == ""
    assert say("I'm Ottilie, I teach pottery", 1).name == "Ottilie"
    assert {"Ottilie is Irish.", "Ottilie teaches pottery."} <= list_current_texts(tenant)
    assert say("this is Lena", 2).name == "Ottilie"
    assert say("My name is Tilly", 3).name == "Tilly"


def test_so_it_is_in_chinese(tenant: Tenant) -> None:
    tell(tenant, "我的狗叫小黑", "他不叫外卖，叫朋友来吃", "小白不是我的狗，是我的猫")
    assert "Ana的狗叫小黑。" in list_current_texts(tenant)


def test_another_of_the_wrong_name_keeps_it(tenant: Tenant) -> None:
    tell(
        tenant,
        "I have a dog called Rex",
        "My brother Rex lives in Hull",
        "Actually, my dog is called Max, not Rex",
    )
    texts = list_current_texts(tenant)
    assert {"Max is Ana's dog.", "Rex is Ana's brother."} <= texts


def test_what_may_be_told_of_another_of_the_name_is_put_before_a_person(tenant: Tenant) -> None:
    space = tell(
        tenant,
        "I have a dog called Rex",
        "My brother Rex lives in Hull",
        "Rex loves football",
        "Actually, my dog is called Max, not Rex",
    )
    assert "Rex loves football." in list_current_texts(tenant)
    with tenant_scope(tenant.id):
        asked = Proposal.objects.get(space=space, payload__candidate__text="Max loves football.")
    answer_proposal(asked, "apply", "eva", AT + timedelta(days=9))
    texts = list_current_texts(tenant)
    assert "Max loves football." in texts
    assert "Rex loves football." not in texts


def test_a_longer_name_may_be_another_s(tenant: Tenant) -> None:
    tell(
        tenant,
        "My husband Marc runs a bakery",
        "We met Marc Jones at the fair",
        "My husband's name is spelled Mark, not Marc",
    )
    texts = list_current_texts(tenant)
    assert "Ana's husband Mark runs a bakery." in texts
    assert [text for text in texts if "Marc Jones" in text]


def test_undo_of_the_one_event_brings_the_former_name_back(tenant: Tenant) -> None:
    space = tell(tenant, "I have a dog called Rex")
    before = list_current_texts(tenant)
    tell(tenant, "Actually, my dog is called Max, not Rex")
    with tenant_scope(tenant.id):
        event = EvolutionEvent.objects.filter(space=space, kind="resolve").latest("created_at")
    corrections.undo_event(event, "eva", AT + timedelta(days=9))
    assert list_current_texts(tenant) == before


def test_a_version_of_the_right_name_rests_on_both_messages_and_names_the_same_kind_of_thing(
    tenant: Tenant,
) -> None:
    tell(tenant, "My daughter Lena plays the cello", "She's called Lea, not Lena")
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text="Lea is Ana's daughter.", retired_at=None)
        old = Fact.objects.get(text="Lena is Ana's daughter.")
        assert (fact.owner, fact.lineage, fact.valid_from) == ("Lea", old.lineage, old.valid_from)
        supports = Derivation.objects.filter(child_id=fact.id, role="support")
        assert supports.values("turn").distinct().count() == 2
        assert Entity.objects.get(canonical_key="lea").type == "person"


def test_what_a_person_corrected_is_only_asked_about(tenant: Tenant) -> None:
    space = tell(tenant, "I have a dog called Rex")
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text="Rex is Ana's dog.")
    corrections.set_pinned(space, "fact", fact.id, True, "eva", AT)
    tell(tenant, "Actually, my dog is called Max, not Rex")
    assert {"Rex is Ana's dog.", "Ana has a dog called Max."} <= list_current_texts(tenant)
    with tenant_scope(tenant.id):
        assert Proposal.objects.get(row_id=fact.id).kind == "overwrite"


def test_a_dry_run_shows_what_would_follow(tenant: Tenant) -> None:
    tell(tenant, "I have a dog called Rex")
    said = Message("user", "My dog is called Max, not Rex", "Ana", AT + timedelta(days=1))
    shown = preview_ingest(tenant.id, IngestRequest("ana", [said], "s"), AT + timedelta(days=1))
    ops = {each["text"]: each["op"] for each in shown.decisions}
    assert ops["Max is Ana's dog."] == "augment"


def correct_by_hand(tenant: Tenant, space: Space, text: str, words: str) -> EvolutionEvent:
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text=text, retired_at=None)
    return corrections.correct_fact(space, fact.id, words, "eva", AT + timedelta(days=8)).event


def list_cases(tenant: Tenant) -> list[tuple[str, str, str, set[str]]]:
    """State, names and the memories of each case about a name, as they are worded."""
    with tenant_scope(tenant.id):
        texts = {str(row): text for row, text in Fact.objects.values_list("id", "text")}
        return [
            (
                case.state,
                case.payload["old"],
                case.payload["new"],
                {texts[each] for each in case.payload["fact_ids"]},
            )
            for case in Proposal.objects.filter(kind="rename").order_by("created_at", "id")
        ]


def get_case(tenant: Tenant, state: str = "open") -> Proposal:
    with tenant_scope(tenant.id):
        return Proposal.objects.get(kind="rename", state=state)


REX_TOLD = ("I have a dog called Rex", "Rex hates cats")
REX_IS, MAX_IS = "Ana's dog is called Rex.", "Ana's dog is called Max."
REX_ELSEWHERE = {"Ana has a dog called Rex.", "Rex is Ana's dog.", "Rex hates cats."}


def test_who_corrects_a_name_by_hand_is_asked_once_about_all_other_claims(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    before = list_current_texts(tenant)
    assert list_cases(tenant) == [("open", "Rex", "Max", REX_ELSEWHERE)]
    answered = answer_proposal(get_case(tenant), "accept", "eva", AT + timedelta(days=9))
    texts = list_current_texts(tenant)
    assert {"Ana has a dog called Max.", "Max is Ana's dog.", "Max hates cats."} <= texts
    assert not [text for text in texts if "Rex" in text]
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(text="Max is Ana's dog.", retired_at=None)
        assert (fact.owner, fact.corrected_by) == ("Max", "")
        assert Derivation.objects.filter(child_id=fact.id, role="support").exists()
    take_back_answer(answered, "eva", AT + timedelta(days=10))
    assert list_current_texts(tenant) == before
    assert list_cases(tenant) == [("open", "Rex", "Max", REX_ELSEWHERE)]


def test_a_name_asked_about_is_refused_as_one(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    answer_proposal(get_case(tenant), "reject", "eva", AT + timedelta(days=9))
    assert list_current_texts(tenant) == {MAX_IS, *REX_ELSEWHERE}
    with pytest.raises(InvalidInput):
        answer_proposal(get_case(tenant, "rejected"), "keep_both", "eva", AT)


def test_whoever_takes_the_correction_back_is_asked_no_more(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    event = correct_by_hand(tenant, space, REX_IS, MAX_IS)
    undone = corrections.undo_event(event, "eva", AT + timedelta(days=9)).event
    assert [state for state, *_ in list_cases(tenant)] == ["rejected"]
    corrections.undo_event(undone, "eva", AT + timedelta(days=10))
    assert [state for state, *_ in list_cases(tenant)] == ["open"]


def test_what_is_put_right_otherwise_leaves_nothing_to_be_asked(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    for text in sorted(REX_ELSEWHERE):
        assert get_case(tenant)
        correct_by_hand(tenant, space, text, text.replace("Rex", "Max"))
    assert {state for state, *_ in list_cases(tenant)} == {"rejected"}


def test_a_correction_that_is_itself_reworded_still_asks(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    correct_by_hand(tenant, space, REX_IS, "Ana's dog is called Maks.")
    correct_by_hand(tenant, space, "Ana's dog is called Maks.", "Ana's old dog is called Maks.")
    assert [state for state, *_ in list_cases(tenant)] == ["open"]


def test_a_name_put_right_twice_is_asked_about_as_it_was_at_first(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD)
    correct_by_hand(tenant, space, REX_IS, "Ana's dog is called Maks.")
    correct_by_hand(tenant, space, "Ana's dog is called Maks.", MAX_IS)
    cases = list_cases(tenant)
    assert cases[0][:3] == ("rejected", "Rex", "Maks")
    assert cases[1:] == [("open", "Rex", "Max", REX_ELSEWHERE)]


def test_an_erased_name_is_in_no_case(tenant: Tenant) -> None:
    space = tell(tenant, *REX_TOLD, "Rex is four")
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    with tenant_scope(tenant.id):
        first = Turn.objects.get(text=REX_TOLD[0])
    target = erase_targets.ErasureTarget("turns", (first.id,))
    erase_targets.execute_erasure(space, target, "eva", AT + timedelta(days=9))
    assert list_cases(tenant) == []


def test_a_case_ends_with_the_last_memory_that_it_is_about(tenant: Tenant) -> None:
    space = tell(tenant, "I have a dog called Rex", "Rex hates cats")
    with tenant_scope(tenant.id):
        own = list(Fact.objects.filter(text__in=["Rex is Ana's dog.", "Ana has a dog called Rex."]))
    corrections.forget_facts(space, [fact.id for fact in own], "eva", AT + timedelta(days=7))
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    assert list_cases(tenant) == [("open", "Rex", "Max", {"Rex hates cats."})]
    with tenant_scope(tenant.id):
        told = Turn.objects.get(text="Rex hates cats")
    target = erase_targets.ErasureTarget("turns", (told.id,))
    erase_targets.execute_erasure(space, target, "eva", AT + timedelta(days=9))
    assert list_cases(tenant) == []


def test_by_hand_another_of_the_name_is_asked_about_by_itself(tenant: Tenant) -> None:
    space = tell(
        tenant, "I have a dog called Rex", "My brother Rex lives in Hull", "Rex loves football"
    )
    correct_by_hand(tenant, space, REX_IS, MAX_IS)
    asked = [texts for *_, texts in list_cases(tenant)]
    assert {"Ana has a dog called Rex.", "Rex is Ana's dog."} in asked
    assert {"Rex loves football."} in asked
    assert not any("Rex is Ana's brother." in texts for texts in asked)


def test_another_value_put_right_by_hand_asks_nothing(tenant: Tenant) -> None:
    space = tell(tenant, "I live in Leeds", "My choir in Leeds meets on Mondays")
    with tenant_scope(tenant.id):
        fact = Fact.objects.get(predicate_key="lives_in")
    corrections.correct_fact(space, fact.id, "Ana lives in York.", "eva", AT)
    with tenant_scope(tenant.id):
        assert not Proposal.objects.filter(space=space).exists()
