"""Chinese sentences as clauses with a subject, grouped into statements about one person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import rjieba

from memoryhub.engines.local.chinese.people import find_relative, is_name
from memoryhub.engines.local.chinese.rules import is_chitchat, is_hypothetical, is_question

SubjectKind = Literal["speaker", "person", "none", "other"]
TaggedWord = tuple[str, str]

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*")
_CLAUSE = re.compile(r"[^，,：:～~]+")
_LEADING_FILLER = re.compile(
    r"^(?:\W|嗯+|哈哈+|哇塞?|哎呀?|唉|啊|噢|哦|呵呵|好的|是的|是啊|对啊|没错|当然|其实|实际上|事实上|另外|而且|但是|但|不过|可是|还有|所以"
    r"|因为|因此|由于|然后|对了|说实话|总之|同时|此外|顺便说一下|顺便|也许|可能|毕竟|比如说?|例如|只是|于是|虽然|尽管|尤其是|看来|对于我来说|对我来说|更正一下|更正)+"
)
_TRAILING_PARTICLE = re.compile(r"(?:呢|啊|哦|呀|啦|嘛|哟|呐|吧|[\s.。！!？?…、；;])+$")
_IDLE_TALK = re.compile(
    r"[你您]|咱们|伴侣|^(?:亲爱的)?朋友们?$|建议|听起来|分享一下|(?:该|应该)(?:怎|如何|谈)|说的(?:对|是)"
    r"|^(?:也|还|正|真|都|就)?(?:会|要|去|想)?(?:试试|看看|试一试|考虑一下|尝试一下)"
    r"|我(?:也|还|一定|真的)*会(?:去|再|认真|好好|继续|尽量|多|按照)*(?:考虑|思考|琢磨|尝试|试|参考|努力|注意|记住|看一|看看|想想|加油|坚持|安排|照做|了解|来)"
    r"|我(?:也|真的|都)*(?:知道|明白|同意|理解|相信|懂|听说|猜|认为|想问|想知道|好奇|想向|在想|也是|先走|要走|必须离开|也这么|了解了|很期待|期待|希望|该|应该|可以|需要|能|怎么|有个?问题|看到|有个|有些事|有点事)"
    r"|(?:准备|现在要|得|先|要)(?:去|回).{0,10}了$|[说记写搞弄]错了?$|试试|会(?:好好|一定)"
    r"|^(?:因为)?(?:我|我们)?(?:真的)?(?:觉得|认为|感觉到?)(?:这|那|它|他|她|非常|很|特别|自己|有些|有点)"
)  # fmt: skip
_TIME_TAGS = frozenset(
    {"t", "tg", "f", "d", "m", "mq", "c", "u", "ul", "uj", "x", "a", "ad", "q", "r"}
)
_TAGS_AFTER_SUBJECT = ("v", "d", "p", "t", "c", "z", "f")  # tags: verbs, adverbs, "in", "yesterday"
_REPORTING_VERBS = ("说", "觉得", "问", "告诉")
_SELF_WORDS = ("我", "我们", "本人", "俺")


@dataclass(frozen=True, slots=True)
class ChineseClause:
    """Characters [start, start + len(text)) of the utterance, leads and particles cut off."""

    text: str
    start: int
    words: tuple[TaggedWord, ...]
    subject: SubjectKind
    person: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tag_words(text: str) -> list[TaggedWord]:
    """Words with their part-of-speech tags."""
    # The segmenter glues "I" to a following verb it does not know.
    pieces = (piece for piece in re.split(r"(我们?)", text) if piece)
    return [word for piece in pieces for word in rjieba.tag(piece)]


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """(offset, sentence with its closing mark)."""
    for match in _SENTENCE.finditer(text):
        yield match.start(), match[0]


def group_statements(
    sentence: str, offset: int, people: frozenset[str], known: str = "", speaker: str = ""
) -> Iterator[tuple[ChineseClause, ...]]:
    """Runs of clauses about one person; subjectless clauses follow the one before them.

    `known` is whom 他 or 她 stands for; where nobody is, what follows them has no subject either.
    """
    run: list[ChineseClause] = []
    somebody = False
    for clause in _parse_clauses(sentence, offset, people, known, speaker):
        if clause is not None and clause.subject != "none":
            somebody = clause.subject == "other" and bool(re.match(r".{0,3}[他她]", clause.text))
        joins = clause is not None and clause.subject == "none" and run and len(run) < 3
        if not joins:
            if run:
                yield tuple(run)
            run = []
        if clause is not None and (joins or (_opens_statement(clause) and not somebody)):
            run.append(clause)
    if run:
        yield tuple(run)


_STRONG_OPENING = re.compile(
    r"^(?:现在|目前|最近|平时|一直|今天|昨天|已经|刚|刚刚|也|都|还|很|最|非常|特别|比较|不|没|不太|(?:和|跟|与).{1,6}?(?:一起)?(?=去|打|看|吃))*"
    r"(?:喜欢|爱好|热爱|住在|搬到|养了|在学|决定|打算|准备|计划|参加|学会|学了|买了|去(?:打|看|吃|学|爬|逛)?了|看了|吃了|做了|遇到|换了|租了|拍了|收养了|辞|毕业|考上|讨厌|对.{1,10}(?:过敏|感兴趣))"
)


def _opens_statement(clause: ChineseClause) -> bool:
    """Whether a statement may start here; Chinese drops "I" before the strongest verbs."""
    strong = clause.subject == "none" and bool(_STRONG_OPENING.match(clause.text))
    return strong or clause.subject in ("speaker", "person")


def _parse_clauses(
    sentence: str, offset: int, people: frozenset[str], known: str, speaker: str
) -> Iterator[ChineseClause | None]:
    """None stands for a clause that says nothing of anyone."""
    for match in _CLAUSE.finditer(sentence):
        lead = _LEADING_FILLER.match(match[0])
        start = lead.end() if lead else 0
        text = _TRAILING_PARTICLE.sub("", match[0][start:])
        if _is_idle(text):
            yield None
            continue
        words = tuple(tag_words(text))
        subject, person = _find_subject(text, words, people, known)
        known = person or find_relative(text, speaker) or known
        yield ChineseClause(text, offset + match.start() + start, words, subject, person)


def _is_idle(text: str) -> bool:
    idle = len(text) < 3 or bool(_IDLE_TALK.search(text))
    return idle or is_question(text) or is_chitchat(text) or is_hypothetical(text)


def _find_subject(
    text: str, words: tuple[TaggedWord, ...], people: frozenset[str], known: str
) -> tuple[SubjectKind, str]:
    """Who does it, read off the words before the first verb."""
    if re.match(r"(?:名字)?叫", text):
        return "none", ""
    after_when = re.search(r"(?:的时候|之后|以后|时|后)(?=我)", text)
    if after_when:
        return "speaker", ""
    for i, (word, tag) in enumerate(words):
        owns = words[i + 1 : i + 2] == (("的", "uj"),)
        if word.startswith("每"):
            continue
        if word in ("他", "她") and known and not owns:
            return "person", known
        follows = words[i + 1 : i + 2]
        if is_name(word, tag) and follows and follows[0][1].startswith(_TAGS_AFTER_SUBJECT):
            return ("other", "") if follows[0][0] in _REPORTING_VERBS else ("person", word)
        if word in _SELF_WORDS or (word.startswith("我") and tag == "r"):
            return "speaker", ""
        if word in people:
            return "person", word
        if tag.startswith("v") or word in ("被", "把", "在", "对", "跟", "和", "给", "从", "为"):
            return ("speaker", "") if _has_late_subject(text) else ("none", "")
        if tag not in _TIME_TAGS or word in ("这", "那", "它", "他", "她", "他们", "它们", "她们"):
            return ("speaker", "") if _has_late_subject(text) else ("other", "")
    return "none", ""


def _has_late_subject(text: str) -> bool:
    """ "I" after a phrase of time or place: 在公园里我遇到了… ."""
    return bool(re.match(r"^(?:在|从|当|自从|关于|对于|除了).{1,14}我(?!的)", text))
