"""To forget one thing takes the words that tell it, and nothing else (spec §11.9, E20)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.dialogues.models import REDACTION_BAR, Turn
from memoryhub.dialogues.redaction import draw_bars, reads_over_bars
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.candidates import find_erasure_candidates
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from notes.erasure.clauses import (
    ToldClaim,
    find_told_spans,
    leave_out_repeating,
    list_clauses,
    says_more,
)
from notes.models import (
    Derivation,
    Fact,
    IndexEntry,
    Note,
    Receipt,
    Revision,
)
from tests.support.claims import (
    decide_on_claim,
    list_facts,
    list_proposals,
    make_fact_reply,
    make_facts_reply,
)
from tests.support.database_scan import find_tables_with_word
from tests.support.hub import ScriptedHub


def bar(words: str) -> str:
    return REDACTION_BAR * len(words)


ENGLISH = (
    "I live in Braga and my skin has dreadful eczema.",
    ("Ana lives in Braga.", "lives_in", "Braga", "I live in Braga"),
    ("Ana has eczema.", "has", "eczema", "my skin has dreadful eczema"),
    "eczema",
    f"I live in Braga {bar('and my skin has dreadful eczema.')}",
)
CHINESE = (
    "我住在上海，我对花生过敏。",
    ("Ana住在上海", "lives_in", "上海", "我住在上海"),
    ("Ana对花生过敏", "has", "花生", "我对花生过敏"),
    "花生",
    f"我住在上海，{bar('我对花生过敏。')}",
)
LANGUAGES = pytest.mark.parametrize("told", [ENGLISH, CHINESE], ids=["en", "zh"])


def make_reply(fact: tuple[str, str, str, str], source: str = "t1") -> dict[str, Any]:
    text, predicate, value, quote = fact
    return make_fact_reply(text, source, predicate=predicate, object=value, quote=quote)


@pytest.fixture
def reader(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("mem0", episodes__rolling=False, erase__on_request="auto")
    hub.embedder.table |= {"eczema": [1.0], "花生": [1.0]}
    return hub


def say_both(hub: ScriptedHub, told: Any, reply: str = "Noted.") -> None:
    said, kept, secret = told[:3]
    hub.model.script("extract_facts", make_facts_reply(make_reply(kept), make_reply(secret)))
    hub.say_exchange(said, reply)
    hub.run_due_jobs()


def get_fact(hub: ScriptedHub, text: str) -> Fact:
    (found,) = list_facts(hub, text=text)
    return found


def forget(hub: ScriptedHub, fact: Fact) -> Receipt:
    target = ErasureTarget("facts", (fact.id,), sources=True)
    return erase_targets.execute_erasure(hub.space, target, "eva", hub.now)


def list_said(hub: ScriptedHub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        return list(Turn.objects.order_by("seq").values_list("text", flat=True))


@LANGUAGES
def test_a_turn_that_tells_two_things_loses_one_clause(reader: ScriptedHub, told: Any) -> None:
    say_both(reader, told)
    kept = get_fact(reader, told[1][0])
    secret = get_fact(reader, told[2][0])
    with tenant_scope(reader.tenant.id):
        rests = list(Derivation.objects.filter(child_id=kept.id).values())
        changed = list(Revision.objects.filter(row_id=kept.id).values())
    target = ErasureTarget("facts", (secret.id,), sources=True)
    planned = erase_targets.plan_erasure(reader.space, target)
    assert (planned.counts["clauses"], "turns" in planned.counts) == (1, False)
    assert told[3] in planned.samples["clauses"][0]
    receipt = erase_targets.execute_erasure(reader.space, target, "eva", reader.now)
    assert (receipt.counts["clauses"], "turns" in receipt.counts) == (1, False)
    assert list_said(reader) == [told[4], "Noted."]
    for _ in range(2):
        with tenant_scope(reader.tenant.id):
            assert find_tables_with_word(told[3]) == []
            assert Fact.objects.filter(id=kept.id, version=kept.version).exists()
            assert list(Derivation.objects.filter(child_id=kept.id).values()) == rests
            assert list(Revision.objects.filter(row_id=kept.id).values()) == changed
        reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        entry = IndexEntry.objects.get(kind="turn", owner_id=Turn.objects.earliest("seq").id)
        assert entry.embedding is not None
        assert REDACTION_BAR not in entry.words
    assert erase_targets.plan_erasure(reader.space, target).is_empty


@LANGUAGES
def test_I1_a_delivery_of_what_was_cut_is_recognised(reader: ScriptedHub, told: Any) -> None:
    began = reader.now
    say_both(reader, told)
    forget(reader, get_fact(reader, told[2][0]))
    before = list_said(reader)
    again = reader.say(told[0], at=began)
    assert [turn.text for turn in again.turns] == [told[4]]
    reader.run_due_jobs()
    assert list_said(reader) == before


def test_a_turn_that_loses_one_clause_after_the_other_goes_in_the_end(
    reader: ScriptedHub,
) -> None:
    began = reader.now
    say_both(reader, ENGLISH)
    assert forget(reader, get_fact(reader, ENGLISH[2][0])).counts["clauses"] == 1
    assert forget(reader, get_fact(reader, ENGLISH[1][0])).counts["turns"] == 1
    reader.say(ENGLISH[0], at=began)
    reader.run_due_jobs()
    assert list_said(reader) == ["", "Noted."]
    with tenant_scope(reader.tenant.id):
        assert find_tables_with_word("Braga") == find_tables_with_word("eczema") == []


def test_I1_a_delivery_of_a_turn_that_went_whole_is_recognised(reader: ScriptedHub) -> None:
    began = reader.now
    reader.model.script("extract_facts", make_facts_reply(make_reply(ENGLISH[2])))
    reader.say("my skin has dreadful eczema")
    reader.run_due_jobs()
    assert forget(reader, get_fact(reader, "Ana has eczema.")).counts["turns"] == 1
    reader.say("my skin has dreadful eczema", at=began)
    assert list_said(reader) == [""]


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        (
            "Eczema is hard. Braga is lovely in spring.",
            f"{bar('Eczema is hard.')} Braga is lovely in spring.",
        ),
        ("So my skin has dreadful eczema, you say?", ""),
        ("Braga is lovely.", "Braga is lovely."),
    ],
)
def test_replies_lose_what_quotes_it(reader: ScriptedHub, reply: str, left: str) -> None:
    say_both(reader, ENGLISH, reply)
    forget(reader, get_fact(reader, "Ana has eczema."))
    assert list_said(reader) == [ENGLISH[4], left]
    with tenant_scope(reader.tenant.id):
        assert find_tables_with_word("eczema") == []


def test_a_reply_loses_the_words_of_the_claim_that_are_not_its_value(reader: ScriptedHub) -> None:
    lump = ("Ana的甲状腺有个结节", "health", "甲状腺", "甲状腺上有个结节")
    title = ("Ana评上了高级职称", "title", "高级", "职称评上了，高级")
    told = ("职称评上了，高级，甲状腺上有个结节。", title, lump)
    say_both(reader, told, "恭喜评上高级！结节请放宽心。")
    forget(reader, get_fact(reader, lump[0]))
    assert list_said(reader)[1] == f"恭喜评上高级！{bar('结节请放宽心。')}"


def test_a_reply_of_another_day_that_quotes_it_loses_it(reader: ScriptedHub) -> None:
    home = ("Ana lives at 12 Elm Street.", "address", "12 Elm Street", "I live at 12 Elm Street")
    reader.model.script("extract_facts", make_facts_reply(make_reply(home)))
    reader.say("I live at 12 Elm Street, and it rains.")
    reader.run_due_jobs(days=3)
    reader.model.script("extract_facts", make_facts_reply())
    reader.say_exchange(
        "What do I need?", "Boots. You live at 12 Elm Street, after all.", session="b"
    )
    reader.run_due_jobs()
    assert forget(reader, get_fact(reader, home[0])).counts["clauses"] == 2
    assert list_said(reader)[-1].startswith("Boots. ██")
    with tenant_scope(reader.tenant.id):
        assert find_tables_with_word("Elm Street") == []


@pytest.mark.parametrize(
    ("told", "before", "wish"),
    [
        (ENGLISH, "two grand nearly. ", "oh also can u get rid of that thing about my eczema"),
        (CHINESE, "房租快两千了。", "对了，顺便忘掉我对花生的事吧"),
        (ENGLISH, "", "forget my eczema please"),
    ],
)
def test_E20_a_wish_beside_other_news_loses_its_own_words(
    reader: ScriptedHub, told: Any, before: str, wish: str
) -> None:
    say_both(reader, told)
    reader.model.script("resolve", decide_on_claim(told[2][0], "forget"))
    acts = [{"handle": "t1", "act": "forget"}]
    reader.model.script("extract_facts", make_facts_reply(speech_acts=acts))
    reader.say(before + wish)
    reader.run_due_jobs()
    assert list_proposals(reader) == []
    assert list_said(reader) == [told[4], "Noted.", before and before + bar(wish)]
    with tenant_scope(reader.tenant.id):
        assert Receipt.objects.get().counts["wishes"] == 1
        assert find_tables_with_word(told[3]) == []
        assert Fact.objects.get().text == told[1][0]


def test_E20_news_beside_a_wish_are_kept_and_read(reader: ScriptedHub) -> None:
    say_both(reader, ENGLISH)
    wish = "My rent is two grand. Oh also forget my eczema."
    rent = make_fact_reply(
        "Ana pays two grand.", predicate="rent", object="two grand", quote="My rent is two grand"
    )
    acts = [{"handle": "t1", "act": "forget"}]
    reader.model.script("extract_facts", make_facts_reply(rent, speech_acts=acts))
    reader.model.allow(resolve=decide_forget)
    reader.say(wish)
    reader.run_due_jobs()
    assert {fact.text for fact in list_facts(reader)} == {
        "Ana lives in Braga.",
        "Ana pays two grand.",
    }
    assert list_said(reader)[-1].startswith("My rent is two grand. ██")


def decide_forget(data: dict[str, Any]) -> dict[str, Any]:
    wished = [new["handle"] for new in data["new"] if "forget" in new["text"]]
    held = [kept["handle"] for kept in data["kept"] if "eczema" in kept["text"]]
    return {
        "decisions": [
            {"candidate": each, "op": "forget", "target": held[0], "text": "", "reason": "asked"}
            for each in wished
        ]
    }


def test_a_note_and_an_episode_that_repeat_it_are_written_anew(hub: ScriptedHub) -> None:
    def describe(data: dict[str, Any]) -> dict[str, Any]:
        said = " ".join(message["text"] for message in data["messages"])
        changes = [
            {"text": text, "relation": relation, "value": value, "quote": quote}
            | {"source": message["handle"], "owner": "Ana"}
            for text, relation, value, quote in ENGLISH[1:3]
            for message in data["messages"]
            if quote in message["text"]
        ]
        words = said.replace(".", "").split()
        note = {"keywords": words, "tags": [], "context": said[:200]}
        return {"changes": changes, "note": note}

    def tell(data: dict[str, Any]) -> dict[str, Any]:
        return {"title": "Talk", "text": f"They talked. {data}"}

    hub.model.allow("resolve", "link_evolve", "merge_check", construct=describe)
    hub.model.allow(
        digest=tell, episode_write=tell, fold_summary=tell, episode_gate={"open": False}
    )
    hub.set_policy(
        "amem",
        facts__enabled=True,
        episodes__session=True,
        notes__links=False,
        notes__evolution=False,
        llm__combine_calls=True,
    )
    hub.say_exchange(ENGLISH[0], "Noted.")
    hub.run_due_jobs(days=2)
    with tenant_scope(hub.tenant.id):
        assert {"public.notes_note", "public.notes_episode"} <= set(find_tables_with_word("eczema"))
        old = Note.objects.get()
    kept = get_fact(hub, "Ana lives in Braga.")
    receipt = forget(hub, get_fact(hub, "Ana has eczema."))
    assert (receipt.counts["clauses"], receipt.counts["notes"]) == (1, 1)
    assert receipt.counts["withheld"] >= 1
    for _ in range(2):
        with tenant_scope(hub.tenant.id):
            assert find_tables_with_word("eczema") == []
        hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        note = Note.objects.get()
        assert note.id != old.id
        assert "I live in Braga" in note.content
        assert REDACTION_BAR not in note.content
        assert [fact.id for fact in Fact.objects.all()] == [kept.id]
    assert not any(REDACTION_BAR in str(each.data) for each in hub.model.requests)


WORDS = st.sampled_from(["skin", "rent", "Braga", "花生", "tea", "and", "also", "对了", "eczema"])
MARKS = st.sampled_from([", ", ". ", " ", "，", "。", "! "])
TEXTS = st.lists(st.tuples(WORDS, MARKS), min_size=1, max_size=12).map(
    lambda pairs: "".join(f"{word}{mark}" for word, mark in pairs)
)


@given(TEXTS, st.data())
def test_clauses_part_a_text_and_cuts_spare_what_is_kept(text: str, data: Any) -> None:
    clauses = list_clauses(text)
    assert all(one[1] <= two[0] for one, two in pairwise(clauses))
    kept = data.draw(st.sampled_from(clauses)) if clauses else None
    secret = ToldClaim("Ana has eczema.", "eczema", "Ana")
    held = [ToldClaim("", text[slice(*kept)], "Ana", kept)] if kept else []
    spans = find_told_spans(text, [secret], held)
    bars = draw_bars(text, spans)
    assert len(bars) == len(text)
    assert all(bar in (REDACTION_BAR, said) for bar, said in zip(bars, text, strict=True))
    assert kept is None or bars[slice(*kept)] == text[slice(*kept)]
    left = draw_bars(bars, [kept] if kept else [])
    assert "eczema" not in left
    assert not says_more(text, [(0, len(text))], ())


def test_a_reply_of_one_word_elsewhere_goes_with_what_it_repeats(reader: ScriptedHub) -> None:
    say_both(reader, ENGLISH)
    reader.say_exchange("What is wrong with my skin?", "eczema", session="s2")
    reader.say_exchange("Where do I live?", "Braga", session="s2")
    forget(reader, get_fact(reader, ENGLISH[2][0]))
    assert "eczema" not in " ".join(list_said(reader))
    assert "Braga" in list_said(reader), "what repeats another memory stays"


def test_a_preview_names_every_row_and_what_becomes_of_it(reader: ScriptedHub) -> None:
    say_both(reader, ENGLISH, reply="So you have eczema.")
    reader.say("Is there a cream for eczema?", session="s2")
    target = ErasureTarget("facts", (get_fact(reader, ENGLISH[2][0]).id,), sources=True)
    plan, rows, staying = erase_targets.preview_erasure(reader.space, target)
    fates = {(row.kind, row.role, row.how) for row in rows}
    assert {("fact", "", "goes"), ("turn", "user", "cut"), ("turn", "assistant", "goes")} <= fates
    assert plan.counts["clauses"] == 1
    assert [turn.text for turn in staying] == ["Is there a cream for eczema?"]


def test_what_is_meant_is_found_by_its_relation_and_its_words(reader: ScriptedHub) -> None:
    say_both(reader, ENGLISH)
    by_words = find_erasure_candidates(reader.space, "forget the thing about eczema")
    assert by_words[0].fact.object == "eczema"
    by_relation = find_erasure_candidates(reader.space, "forget where I live")
    assert by_relation[0].fact.object == "Braga"
    assert "relation" in by_relation[0].by


def test_what_a_lost_claim_says_over_again_is_not_spared() -> None:
    """ "I adopted a parrot called Rio" tells of getting it, and of what it is called."""
    lost = ToldClaim("Ana adopted a parrot called Rio.", "a parrot called Rio", "Ana", (0, 31))
    named = ToldClaim("Ana's parrot is called Rio.", "Rio", "Ana", (12, 31))
    beside = ToldClaim("Ana's parrot is called Rio.", "Rio", "Ana", (40, 60))
    more = ToldClaim("Ana's parrot sings opera.", "opera", "Ana", (12, 31))
    assert leave_out_repeating([named, beside, more], [lost]) == [beside, more]


@pytest.mark.parametrize(
    ("text", "gone", "broken"),
    [
        ("I teach swimming at Rosslyn Pool on Fridays.", "Rosslyn Pool", True),
        ("I teach swimming at Rosslyn Pool.", "Rosslyn Pool", True),
        ("I live in Braga and work at SAP.", "and work at SAP.", False),
        ("I live in Braga and work at SAP and love it.", "and work at SAP", False),
        ("I live in Braga, I work at SAP, it rains.", "I work at SAP,", False),
        ("我住在上海，我对花生过敏。", "我对花生过敏。", False),
        ("我在同济大学教书。", "同济大学", True),
    ],
)
def test_a_sentence_with_a_hole_is_known(text: str, gone: str, broken: bool) -> None:
    start = text.index(gone)
    cut = draw_bars(text, [(start, start + len(gone))])
    assert reads_over_bars(cut, 0, len(cut)) is broken
    assert not reads_over_bars(text, 0, len(text))


def test_no_sentence_is_made_by_what_an_erasure_took_from_within(reader: ScriptedHub) -> None:
    said = "I live in Braga. I teach swimming at Rosslyn Pool on Fridays."
    reader.say_exchange(said, "Noted.")
    with tenant_scope(reader.tenant.id):
        turn = Turn.objects.get(text=said)
        turn.text = draw_bars(said, [(said.index("Rosslyn"), said.index(" on Fridays"))])
        turn.save()
    home, cut = turn.words.removesuffix(".").split(". ")
    reader.model.script(
        "extract_facts",
        make_facts_reply(
            make_fact_reply("Ana lives in Braga.", quote=home),
            make_fact_reply("Ana teaches swimming at on Fridays.", quote=cut),
        ),
    )
    reader.run_due_jobs()
    assert [fact.text for fact in list_facts(reader)] == ["Ana lives in Braga."]
