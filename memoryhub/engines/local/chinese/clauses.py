"""Chinese sentences as clauses: where they begin and end, and the words they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import rjieba

from memoryhub.engines.local.language import HAN

TaggedWord = tuple[str, str]

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*")
# What holds commas, colons or spaces of its own: mail, links, numbers, titles and quotations.
_WHOLE = (
    r"(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,64}|https?://[^\s，。]{1,300}"
    r"|(?<!\d)\d{1,20}(?:[-:：.,/~]\d{1,20}){1,8}|《[^》\n]{0,60}》|[“「][^”」\n]{0,120}[”」]"
)
_MARKS = r"，,～~…—\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F"
# Between two Chinese characters a space is a comma.
_SPACE = rf"(?<=[{HAN}])\s+(?=[{HAN}])|(?<=\d)\s+(?=[我俺他她这那])|(?<=了)\s+(?=\d{{1,3}}岁)"
_CLAUSE = re.compile(rf"(?:{_WHOLE}|(?!{_SPACE})[^{_MARKS}])+")
# So it is behind a number or a Latin word that is written close to what is before it: "今年45
# 在沈阳", and not "今年 45 岁".
_MEASURES = "了多岁块元斤公米厘克个年月号日点楼层平万千百亿分小时天周次人只条本套度级"
# "我叫何苗 24 西安人": between two spaces it is somebody's age.
_AGE_BETWEEN = re.compile(rf"(?<=[{HAN}]) (\d{{2}}) (?=[{HAN}])(?![{_MEASURES}])")
_BREAK_BEHIND = re.compile(
    rf"(?:(?<=[{HAN}])|^)\d[\d.,:/%~+-]{{0,15}} (?=[{HAN}])(?![{_MEASURES}])"
    rf"|(?<=[{HAN}])(?:(?<![在到去跟和用给从对把被的])[A-Za-z][A-Za-z0-9.+-]{{0,20}} (?=[{HAN}])"
    r"|[A-Za-z][A-Za-z0-9.+-]{0,20}(?: [A-Za-z0-9]{1,12}){0,2} "
    r"(?=[我俺他她这那还也]|现在|之前|以前|原来|后来|但|不过|可是|因为|所以|有点))"
)
_LEADING_FILLER = re.compile(
    r"^(?:[^\w《“「]|(?:hi|hello|hey)(?![a-z])|嗯+|嘿+|哈+|哇塞?|哎呀?|诶|欸|害|唉|啊|噢|哦|嗨|呵呵|喏|emm+|ok(?![a-z])|p\.?s\.?"
    r"|(?:好的|是的|是啊|对啊|没错|当然)(?=\W|$)|好吧|行吧|算了(?=\w)"
    r"|(?:其实)?是(?=[我他她]\w{1,5}?(?:住在|在|搬|去|做|养|喜欢))|其实|实际上|事实上|另外|而且|但是|但|不过|可是|还有(?![\d一二两三四五六七八九十半个]|什么)|所以|因为|因此|由于|然后|对了|说实话|说真的|总之|同时|此外"
    r"|顺便(?:说一?[下句])?|也许|毕竟|比如说?|例如|只是|于是|虽然|尽管|尤其是|看来|对于?我来说|更正一下|更正"
    r"|不对(?=\W|$)|反正|就是(?=\w{3})|哦?那个(?=\W|$)|话说|(?:来)?(?:报喜|汇报|更新)(?:一?下|个事儿?)?|好消息|坏消息|(?:跟|和|给|同)你(?:讲|说|汇报)(?:一?[下声]|个\w{0,3})?"
    r"|[^\W\d我俺咱]{1,6}[：:](?=[我俺咱])"
    r"|(?:请|麻烦|帮我|给我|你|您)*记(?:一?[下笔哈]|住|着|好)(?!来))+", re.I
)  # fmt: skip
_TRAILING_PARTICLE = re.compile(
    r"(?:[呢啊哦呀啦嘛哟呐吧咯噻嗦哈嘞喽呗]|lah|你(?:敢信|说巧不巧|能信|猜怎么着)[^，。]{0,12}|[\s.。！!？?…、；;)）(（:：]){1,12}$"
)


@dataclass(frozen=True, slots=True)
class ChineseClause:
    """Characters [start, end) of the utterance; `text` is told without its `lead` and `mark`.

    `words`: parsed without guessing new ones, which glues verbs to nouns.
    """

    text: str
    start: int
    end: int
    words: tuple[TaggedWord, ...]
    lead: str = ""
    mark: str = ""

    def list_verbs(self) -> list[str]:
        """Its verbs in order; also short words of no known kind that take an object."""
        return [word for place, (word, _) in enumerate(self.words) if self._is_verb(place)]

    def _is_verb(self, place: int) -> bool:
        word, tag = self.words[place]
        if tag.startswith("v"):
            return tag != "vn"
        after, kind = self.words[place + 1] if place + 1 < len(self.words) else ("", "")
        if len(word) > 1:
            return False
        unknown = tag in ("zg", "nz") and kind.startswith(("ul", "m", "q", "r"))
        return unknown or after in ("了", "过", "着")


def tag_words(text: str) -> list[TaggedWord]:
    """Words with their part-of-speech tags."""
    # The segmenter glues "I" to a following verb it does not know.
    pieces = (piece for piece in re.split(r"(我们?)", text) if piece)
    return [word for piece in pieces for word in rjieba.tag(piece)]


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """(offset, sentence with its closing mark)."""
    for match in _SENTENCE.finditer(text):
        yield match.start(), match[0]


def split_clauses(sentence: str, offset: int) -> Iterator[ChineseClause]:
    """The clauses of a sentence at `offset` of its utterance; of empty ones only the lead is left,
    which the next one has."""
    before = ""
    told = _AGE_BETWEEN.sub(r"，\1，", sentence)
    told = _BREAK_BEHIND.sub(lambda found: f"{found[0][:-1]}，", told)
    for match in _CLAUSE.finditer(told):
        lead = _LEADING_FILLER.match(match[0])
        said = match[0][lead.end() :] if lead else match[0]
        text = _TRAILING_PARTICLE.sub("", said)
        opening = before + (lead[0] if lead else "")
        before = "" if text else opening
        if not text:
            continue
        start = offset + match.end() - len(said)
        tail = said[len(text) :]
        # 啦 is 了 with a smile.
        text += "了" if tail[:1] in "啦咯喽嘞" and tail and not text.endswith("了") else ""
        words = tuple(rjieba.tag(text, False))
        yield ChineseClause(text, start, start + len(said) - len(tail), words, opening, tail)
