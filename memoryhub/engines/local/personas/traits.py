"""Likes, habits and interests that repeat; and an agent that follows fixed rules.

What comes up again and again is an interest. Words, not meanings: honest about topics, silent
about character. English words are compared as they stand and without a plural's s, Chinese ones
wherever they occur.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    AgentContext,
    AgentMessage,
    AgentStep,
    Exchange,
    Extraction,
    Knowledge,
    KnowledgeItem,
    Passage,
    Role,
    TraitAssessment,
    TraitScale,
    TraitState,
    Utterance,
)

_KEPT_KINDS = frozenset({"state", "preference", "attribute"})
_SPEAKER_LINE = re.compile(r"^([^:：\n]{1,60})[:：] ?", re.M)
OFTEN, VERY_OFTEN = 2, 4  # pages that touch an interest
_MAX_ITEMS = 20


class PersonaRules:
    def extract_memories(self, exchanges: Sequence[Exchange]) -> list[Extraction]:
        raise NotImplementedError

    def extract_knowledge(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """What the subject states of themselves, word by word as a derivation reads it, so that
        it is found to be held already; and what the assistant recommended. Pages whose claims
        are known are not read again."""
        unread = [page for page in pages if not page.claims]
        ready = [_exchange_from_page(page, subject) for page in unread]
        built = self.extract_memories(ready) if ready else []
        user: dict[str, list[str]] = defaultdict(list)
        agent: dict[str, list[str]] = defaultdict(list)
        for page in pages:
            for text in (claim for claim in page.claims if claim.startswith(subject)):
                user[text].append(page.handle)
        for page, construction in zip(unread, built, strict=True):
            for fact in construction.facts:
                kept = fact.kind in _KEPT_KINDS and fact.polarity == "holds"
                if fact.kind == "recommendation":
                    agent[fact.text].append(page.handle)
                elif kept and fact.owner == subject:
                    user[fact.text].append(page.handle)
        return Knowledge(_rank_items(user), _rank_items(agent))

    def find_unpredicted(
        self, predicted: str, span: Sequence[Passage], *, subject: str
    ) -> list[KnowledgeItem]:
        """The claims of the span that were not predicted word by word."""
        expected = set(predicted.split("\n"))
        told: dict[str, list[str]] = defaultdict(list)
        read = self.extract_memories([_exchange_from_page(page, subject) for page in span])
        for page, built in zip(span, read, strict=True):
            for text in {fact.text: None for fact in built.facts if fact.text not in expected}:
                told[text].append(page.handle)
        return [KnowledgeItem(text, tuple(pages)) for text, pages in told.items()]

    def assess_traits(
        self, pages: Sequence[Passage], current: Sequence[TraitState], scales: Sequence[TraitScale]
    ) -> list[TraitAssessment]:
        """Interests that several pages touch. Character is not judged: words do not show it."""
        said = {page.handle: _select_first_speaker(page.text) for page in pages}
        liked, disliked = group_by_interest(said)
        found = []
        for key in (scale.key for scale in scales):
            likes, dislikes = liked.get(key, []), disliked.get(key, [])
            if len(dislikes) > len(likes):
                found.append(_build_assessment(key, "low", dislikes))
            elif len(likes) >= OFTEN:
                level = "high" if len(likes) >= VERY_OFTEN else "medium"
                found.append(_build_assessment(key, level, likes))
        return found

    def choose_agent_step(self, context: AgentContext) -> AgentStep:
        """Searches what was said last, then says what was found. No model decides anything, so that
        what the system tells it goes unheard."""
        heard = [message for message in context.messages if message.role != "system"]
        last = heard[-1] if heard else AgentMessage("user", "")
        offered = {tool.name for tool in context.tools}
        if last.role == "user" and "recall_search" in offered:
            asked = {"query": last.content[:500], "heartbeat": True}
            return AgentStep("recall_search", json.dumps(asked, ensure_ascii=False))
        if "send_message" in offered:
            said = {"text": last.content[:2000] or "…"}
            return AgentStep("send_message", json.dumps(said, ensure_ascii=False))
        return AgentStep(text=last.content)


def _build_assessment(key: str, level: str, evidence: Sequence[str]) -> TraitAssessment:
    share = min(0.9, 0.4 + 0.1 * len(evidence))
    return TraitAssessment(key, level, "", tuple(evidence), share)  # type: ignore[arg-type]  # one of the levels


def _rank_items(found: dict[str, list[str]]) -> tuple[KnowledgeItem, ...]:
    ranked = sorted(found, key=lambda text: -len(found[text]))[:_MAX_ITEMS]
    return tuple(KnowledgeItem(text, tuple(dict.fromkeys(found[text]))) for text in ranked)


def _exchange_from_page(page: Passage, subject: str) -> Exchange:
    said = []
    for at, (name, text) in enumerate(_split_by_speaker(page.text)):
        role: Role = "user" if name == subject else "assistant"
        said.append(Utterance(f"{page.handle}.{at}", name, role, text, page.at))
    names = tuple(dict.fromkeys(each.speaker for each in said))
    return Exchange(utterances=said, participants=names, subject=subject)


def _split_by_speaker(text: str) -> Iterator[tuple[str, str]]:
    """(speaker, words) of "Speaker: words" lines; a line without a speaker goes on."""
    parts = _SPEAKER_LINE.split(text)
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        if said.strip():
            yield name.strip(), said.strip()


def _select_first_speaker(text: str) -> str:
    """What the one who speaks first says: of an exchange, the person."""
    voices = list(_split_by_speaker(text))
    return "\n".join(said for name, said in voices if name == voices[0][0]) if voices else text


_INTEREST_WORDS = {
    "anime": "anime manga cosplay 动漫 漫画 二次元",
    "art": "museum gallery exhibition sculpture artwork 美术 艺术 画展 雕塑",
    "camping": "camping campsite campfire tent campground 露营 帐篷 篝火",
    "cars": "car driving roadtrip motorbike motorcycle engine 汽车 开车 自驾 摩托车",
    "cinema": "movie film cinema director 电影 影院 导演",
    "crafts": "pottery knitting crochet sewing woodworking clay 手工 陶艺 编织 木工",
    "culture": "festival tradition heritage theatre theater opera 文化 传统 戏剧 京剧",
    "dance": "dance dancing ballet salsa choreography 跳舞 舞蹈 芭蕾",
    "digital_technology": "computer software programming coding gadget robot 编程 电脑 软件 数码",
    "education": "school course class degree exam teacher 学校 课程 考试 老师 学位",
    "environmental_concern": "climate recycling sustainability pollution 环保 气候 污染",
    "fashion": "fashion outfit dress clothing style 时尚 穿搭 服装",
    "finance": "stock investment investing savings budget 股票 投资 理财 基金",
    "fitness": "gym workout yoga running exercise marathon 健身 瑜伽 跑步 锻炼",
    "gaming": "game gaming videogame console playstation nintendo 游戏 电竞",
    "gourmet_food": "restaurant recipe cooking baking cuisine dish 美食 餐厅 做饭 烘焙 菜谱",
    "health": "doctor therapy medication hospital diagnosis 医生 医院 治疗 药",
    "history_interest": "history historical ancient 历史 古代",
    "home_decor": "furniture decor decorating interior 家具 装修 家居",
    "humor": "comedy comedian joke sitcom 喜剧 笑话 相声",
    "law": "lawyer court lawsuit legal 律师 法律 法院",
    "music": "music song concert guitar piano violin band album 音乐 歌 演唱会 吉他 钢琴",
    "outdoors": "hiking hike mountain trail forest climbing kayaking 徒步 爬山 登山 户外",
    "painting": "painting paint watercolor watercolour canvas sketch drawing 绘画 画画 水彩 油画",
    "parenting": "kid child children son daughter baby parenting 孩子 儿子 女儿 宝宝",
    "pets": "dog cat puppy kitten pet hamster 狗 猫 宠物",
    "photography": "photo photography camera lens 摄影 相机 拍照",
    "political_concern": "election politics government activism vote 选举 政治 政府",
    "psychology": "psychology counseling counselling mindfulness 心理 心理学 咨询",
    "reading": "book novel reading author library 书 小说 阅读 作者",
    "religious_interest": "church prayer faith mosque temple religion 教堂 信仰 寺庙 宗教",
    "science": "science physics biology chemistry astronomy research 科学 物理 生物 天文",
    "social_media_activity": "instagram tiktok twitter blog vlog follower 微博 抖音 朋友圈",
    "sports": "football soccer basketball tennis swimming match team 足球 篮球 网球 游泳 比赛",
    "travel": "travel trip vacation flight hotel abroad 旅行 旅游 机票 酒店",
    "weddings": "wedding bride groom 婚礼 新娘 新郎",
    "workplace": "job office colleague boss meeting career promotion 工作 同事 老板 会议 升职",
}
_DISLIKE = re.compile(
    r"\b(?:hate|hated|dislike|disliked|can't stand|cannot stand|bored by|boring|"
    r"not into|don't like|don't enjoy)\b|讨厌|不喜欢|受不了",
    re.I,
)
_LATIN = re.compile(r"[a-z]+(?:'[a-z]+)?")


def _index_words() -> tuple[dict[str, str], dict[str, str]]:
    latin: dict[str, str] = {}
    han: dict[str, str] = {}
    for key, said in _INTEREST_WORDS.items():
        for word in split_words(said):
            (latin if word.isascii() else han)[word] = key
    return latin, han


_EN, _ZH = _index_words()


def find_interests(text: str) -> set[str]:
    """Keys of the interests that the text touches."""
    folded = text.casefold()
    found = {
        _EN[form] for word in _LATIN.findall(folded) for form in _list_forms(word) if form in _EN
    }
    return found | {key for word, key in _ZH.items() if word in folded}


def _list_forms(word: str) -> Iterable[str]:
    yield word
    if word.endswith("s") and len(word) > 3:
        yield word[:-1]


def group_by_interest(
    texts: Mapping[str, str],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By interest, the handles of texts that touch it: with pleasure or none said, and with
    dislike."""
    liked: dict[str, list[str]] = defaultdict(list)
    disliked: dict[str, list[str]] = defaultdict(list)
    for handle, text in texts.items():
        sides = (liked, disliked)
        for sentence in re.split(r"(?<=[.!?。！？\n])", text):
            into = sides[bool(_DISLIKE.search(sentence))]
            for key in find_interests(sentence):
                if handle not in into[key]:
                    into[key].append(handle)
    return dict(liked), {key: handles for key, handles in disliked.items() if handles}
