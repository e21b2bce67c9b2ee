"""Chains, themes and segments by a model: what is offered, and what is taken from a reply."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import Passage
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
PAGES = [Passage(f"p{n}", f"Ana: words {n} " + "x" * 4000, AT) for n in (1, 2)]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def engine(model: ScriptedModel) -> LLMEngine:
    return LLMEngine(model)


def test_a_chain_is_judged_with_what_came_before(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script(
        "chain",
        {
            "pages": [
                {"handle": "p2", "continues": "true", "summary": " Both. "},
                {"handle": "p7", "continues": True, "summary": "Invented."},
            ]
        },
    )
    judged = engine.chain_pages(PAGES, Passage("p0", "Ana: before", AT), "Earlier.")
    assert judged.continues == (None, True)
    assert judged.summaries == ("", "Both.")
    assert engine.rejected == 1
    (given,) = model.list_calls("chain")
    assert (given["summary"], given["previous"]["text"]) == ("Earlier.", "Ana: before")
    assert len(given["pages"][0]["text"]) == 1500


def test_themes_claim_only_what_was_offered(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script(
        "themes",
        {
            "themes": [
                {"name": "Tea", "keywords": "tea", "text": "Tea.", "pages": ["p1", "p9", "p1"]},
                {"name": "Nothing", "keywords": [], "text": "?", "pages": ["p8"]},
                {"name": "Dogs", "keywords": ["dog", " dog "], "text": "Dogs.", "pages": "p2"},
                {"name": "Third", "keywords": ["more"], "text": "More.", "pages": ["p2"]},
            ]
        },
    )
    first, second = engine.extract_themes(PAGES)
    assert (first.pages, first.keywords) == (("p1",), ("tea",))
    assert (second.pages, second.keywords) == (("p2",), ("dog",))
    assert engine.rejected == 4


def test_as_many_themes_as_pages_and_no_more(model: ScriptedModel, engine: LLMEngine) -> None:
    pages = [Passage(f"p{n}", f"Ana: word {n}", PAGES[0].at) for n in range(5)]
    handles = [page.handle for page in pages]
    said = [
        {"name": f"t{n}", "keywords": ["k"], "text": "T.", "pages": [handle]}
        for n, handle in enumerate([*handles, handles[0]])
    ]
    model.script("themes", {"themes": said})
    assert [theme.pages for theme in engine.extract_themes(pages)] == [(h,) for h in handles]
    assert engine.rejected == 1


def test_caps_hold_whatever_the_model_sends(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script(
        "segment_refresh", {"text": "long " * 500, "keywords": [f"k{n}" for n in range(40)]}
    )
    text = engine.refresh_segment("Before.", ["k"], PAGES)
    assert len(text.text) <= 500
    assert len(text.keywords) == 12


@pytest.mark.parametrize("purpose", ["chain", "themes", "segment_refresh"])
def test_E12_prose_is_a_failed_call_and_no_empty_result(
    model: ScriptedModel, engine: LLMEngine, purpose: str
) -> None:
    model.script(purpose, "I am sorry, I can't do that.", "Still not.")
    asked: dict[str, Callable[[], object]] = {
        "chain": lambda: engine.chain_pages(PAGES),
        "themes": lambda: engine.extract_themes(PAGES),
        "segment_refresh": lambda: engine.refresh_segment("", [], PAGES),
    }
    with pytest.raises(EngineError):
        asked[purpose]()


def test_nothing_is_asked_about_nothing(engine: LLMEngine) -> None:
    assert engine.chain_pages([]).continues == ()
    assert engine.extract_themes([]) == []
