"""Names that were told wrong, in Chinese (我的狗不叫小黑，叫小白; spec E19)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from memoryhub.engines.local.chinese.clauses import split_sentences
from memoryhub.engines.local.chinese.introductions import may_be_name
from memoryhub.engines.local.chinese.rules import SLIP_WORDS
from memoryhub.engines.types import NameCorrection, SourceSpan, Utterance

_NAME = r"(?:[\u4e00-\u9fff]{2,4}?|[A-Za-z][\w'-]*)"
_NEW, _OLD = rf"(?P<new>{_NAME})", rf"(?P<old>{_NAME})"
_WHO = r"(?P<who>[^，,。！!？?；;\s]{0,10}?)"
_END = r"(?=[啊呀哦呢的啦嘛哈]?(?:[，,。！!；;、\s]|$))"
_GAP = r"[，,\s]*"
_CALLED = r"(?:名字)?(?:是|叫)(?:做)?"
# 叫 is also to ask for: that they are names is only known from what is held.
_CONTRASTS = (
    re.compile(rf"{_WHO}(?:不是?|没)叫{_OLD}{_GAP}(?:而是|是|应该是|应该)?叫?{_NEW}{_END}"),
    re.compile(rf"{_WHO}叫(?:做)?{_NEW}{_GAP}不(?:是)?叫{_OLD}{_END}"),
    re.compile(rf"{_WHO}叫(?:做)?{_NEW}{_GAP}(?:而)?不是{_OLD}{_END}"),
    re.compile(rf"{_WHO}的?名字不(?:是|叫){_OLD}{_GAP}(?:而)?(?:是|叫){_NEW}{_END}"),
    re.compile(rf"{_WHO}的?名字{_CALLED}?{_NEW}{_GAP}(?:而)?不是{_OLD}{_END}"),
    re.compile(rf"不是{_OLD}{_GAP}(?:而|应该)?是{_NEW}{_END}"),
    re.compile(rf"是{_NEW}{_GAP}(?:而)?不是{_OLD}{_END}"),
)
_SLIP = rf"(?:(?:我)?(?:{SLIP_WORDS})了?|(?<!没)错了|不对|哦不|更正)"
_RENAMING = re.compile(rf"{_SLIP}{_GAP}{_WHO}(?:应该|其实)?(?:是)?叫(?:做)?{_NEW}{_END}")
# Said back to whoever used a name: 小黑最近怎么样？ – 它叫小白; 错了，是小白.
_REPLY = re.compile(
    rf"^(?:{_SLIP}{_GAP})?(?:它|他|她|人家|名字)(?:应该|其实)?(?:是)?叫(?:做)?{_NEW}{_END}"
)
_BARE_REPLY = re.compile(rf"^{_SLIP}{_GAP}(?:应该|其实)?是{_NEW}{_END}")
# What one has come, or brought: 叫外卖, 叫车.
_CALLED_FOR = re.compile(
    r"外卖|车|滴滴|快递|跑腿|代驾|警察|物业|师傅|医生|救护|朋友|家人|同事|大家|起床|人来"
)
_TOLD_NAME = re.compile(rf"(?:叫做?|名叫|名字是){_NEW}{_END}")
_NOT_TOLD = re.compile(r"如果|要是|希望|以为|听说|想给|打算|可能|也许|[吗么]")
_SPEAKERS = ("我", "我们", "咱")  # who 叫 somebody asks them to come
_PRONOUNS = ("它", "他", "她", "名字", "人家", "")


def find_name_corrections(
    utterance: Utterance, before: Sequence[Utterance], known: Sequence[str] = ()
) -> list[NameCorrection]:
    """The names that an utterance puts right; `before` runs from the latest one back. `known`: of
    whom something is held."""
    own = [u.text for u in before if u.speaker == utterance.speaker]
    answered = before[0].text if before and before[0].speaker != utterance.speaker else ""
    names = {m["new"] for text in own[:3] for m in _TOLD_NAME.finditer(text)} | {*known}
    heard = {name for name in names if name in answered}
    return list(_read_corrections(utterance, own, heard))


def _read_corrections(
    utterance: Utterance, own: Sequence[str], heard: Collection[str]
) -> Iterator[NameCorrection]:
    """`heard`: the names that somebody else has just used."""
    for offset, sentence in split_sentences(utterance.text):
        found = _read_contrast(sentence)
        if found is None and heard:
            found = _read_reply(sentence, heard)
        elif found is None:
            found = _read_renaming(sentence, [utterance.text[:offset], *own])
        if found is None or sentence.rstrip().endswith(("?", "？")) or _NOT_TOLD.search(sentence):
            continue
        match, old = found
        thing = _read_thing(match)
        called_for = _CALLED_FOR.search(match["new"]) is not None
        if match["new"] != old and not called_for and not thing.endswith(_SPEAKERS):
            span = SourceSpan(utterance.handle, offset + match.start(), offset + match.end())
            yield NameCorrection(old, match["new"], thing, span, is_named=False)


def _read_contrast(said: str) -> tuple[re.Match[str], str] | None:
    """What says both names."""
    match = next((m for shape in _CONTRASTS if (m := shape.search(said))), None)
    return (match, match["old"]) if match else None


def _read_renaming(said: str, texts: Sequence[str]) -> tuple[re.Match[str], str] | None:
    """What says only the right name, with the one told last before it."""
    match = _RENAMING.search(said)
    if match is None:
        return None
    texts = [said[: match.start()], *texts]
    names = [m["new"] for t in texts[:3] for m in reversed([*_TOLD_NAME.finditer(t)])]
    return (match, names[0]) if names else None


def _read_reply(said: str, heard: Collection[str]) -> tuple[re.Match[str], str] | None:
    """What is said back to somebody who used one name alone, with that name. What is not called so
    (错了，是小白) may be anything, but for a name that is spelled like it."""
    if len(heard) > 1:
        return None
    (old,) = heard
    if match := _RENAMING.search(said) or _REPLY.search(said):
        return match, old
    match = _BARE_REPLY.search(said)
    alike = match is not None and may_be_name(match["new"]) and bool({*match["new"]} & {*old})
    return (match, old) if match is not None and alike else None


def _read_thing(match: re.Match[str]) -> str:
    """What the name is of, "" behind a pronoun: 我家的狗."""
    who = re.sub(rf"^.*?{_SLIP}", "", match.groupdict().get("who") or "")
    return "" if who.removesuffix("的") in _PRONOUNS else who.removesuffix("的")
