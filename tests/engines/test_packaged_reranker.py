"""A question and a text read in one by the packaged reader."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memoryhub.engines import registry
from memoryhub.engines.embedding import minilm_graph
from memoryhub.engines.local.comparison.reading import CHANGES_GRAPH_FILE
from memoryhub.engines.registry import EngineSettings
from memoryhub.engines.reranking.packaged import (
    PAIRS_GRAPH_FILE,
    PackagedReranker,
    get_packaged_reranker,
)

TOLD = (
    "Pulled a double at the bakery again, flour everywhere.",
    "My sister Ines drives a tram in Lisbon.",
    "The landlord, Mr Quill, still hasn't fixed the boiler.",
    "Kiwi makes my lips swell up like balloons.",
    "Choir is on Wednesdays at the old mill.",
    "We finally got a kitten, she's called Biscuit.",
    "Dad turned seventy-one last week.",
)
ASKED = {
    "whats my job": 0,
    "what does my sister do for a living": 1,
    "who do i rent from": 2,
    "what am i allergic to": 3,
    "when do i sing": 4,
    "whats my cat called": 5,
    "how old is my dad": 6,
}
TOLD_IN_CHINESE = (
    "昨晚在急诊站了十二个小时，脚都肿了",
    "我姐在铁路上做检票员",
    "吃了芒果嘴唇肿得老高，再也不敢碰了",
    "每周三下班去打两个小时羽毛球",
    "猫又把沙发抓烂了，豆包真是欠揍",
)
ASKED_IN_CHINESE = {
    "我姐姐是干什么的": 1,
    "我不能吃什么": 2,
    "我平时做什么运动": 3,
    "我家猫叫啥": 4,
}


def find_best(question: str, texts: tuple[str, ...]) -> int:
    return int(np.argmax(get_packaged_reranker(1).score_texts(question, texts)))


@pytest.mark.parametrize(("asked", "at"), ASKED.items())
def test_what_answers_is_told_from_what_is_only_near(asked: str, at: int) -> None:
    assert find_best(asked, TOLD) == at


@pytest.mark.parametrize(("asked", "at"), ASKED_IN_CHINESE.items())
def test_chinese_is_read_by_its_words(asked: str, at: int) -> None:
    assert find_best(asked, TOLD_IN_CHINESE) == at


def test_what_nothing_answers_scores_less_than_nothing() -> None:
    """A score is counted from that nothing answers, which is 0."""
    best = {asked: max(get_packaged_reranker(1).score_texts(asked, TOLD)) for asked in ASKED}
    unknown = ("whats my bank", "how tall is my brother", "when is my dentist appointment")
    least = min(best.values())
    for asked in unknown:
        assert max(get_packaged_reranker(1).score_texts(asked, TOLD)) < least


def test_a_score_does_not_depend_on_the_other_texts() -> None:
    reader, asked = get_packaged_reranker(1), "whats my cat called"
    together = reader.score_texts(asked, TOLD)
    alone = [reader.score_texts(asked, [text])[0] for text in TOLD]
    assert together == pytest.approx(alone, abs=0.05)


@pytest.mark.parametrize("text", ["", "x" * 5000, "\ud83d", "a\x00b", "。。。", "猫" * 900])
def test_any_text_has_a_score(text: str) -> None:
    for question, told in ((text, "I keep bees."), ("what do i keep", text)):
        assert np.isfinite(get_packaged_reranker(1).score_texts(question, [told])).all()


def test_of_nothing_there_is_no_score() -> None:
    assert get_packaged_reranker(1).score_texts("what do i keep", []) == []


def test_what_was_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = PackagedReranker()
    first = reader.score_texts("whats my job", TOLD)
    monkeypatch.setattr(reader, "_read_pairs", lambda question, texts: [0.0] * len(texts))
    assert reader.score_texts("whats my job", [*TOLD, "new"]) == [*first, 0.0]
    assert reader.score_texts("where do i live", TOLD) == [0.0] * len(TOLD)


def test_several_threads_get_the_same() -> None:
    reader = get_packaged_reranker(1)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda asked: reader.score_texts(asked, TOLD), [*ASKED] * 3))
    assert told[: len(ASKED)] == told[len(ASKED) : 2 * len(ASKED)] == told[2 * len(ASKED) :]


def test_settings_name_it() -> None:
    made = registry.get_reranker(EngineSettings(reranker="packaged"))
    assert made is get_packaged_reranker(1)


@pytest.mark.parametrize("graph", [PAIRS_GRAPH_FILE, CHANGES_GRAPH_FILE])
def test_the_graphs_are_minilm_with_corrections_of_low_rank(graph: Path) -> None:
    reading = minilm_graph.read_pairs_graph(graph)
    assert len(reading.corrections) == minilm_graph.LAYERS * len(minilm_graph.PRODUCT_NAMES)
    assert all(c.down.shape[1] == c.up.shape[0] <= 32 for c in reading.corrections.values())
    assert all(name.endswith("bias") or "LayerNorm" in name for name in reading.given)
    drawn = minilm_graph.build_pairs_graph(reading).SerializeToString(deterministic=True)
    assert graph.read_bytes() == drawn
