"""Texts that are made and not said: a drafted letter, a translation, a poem, a role play, and what
a user hands over to be worked on. "I" in them is nobody (spec E24, E25).

What is asked for is looked at first, then the form of the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memoryhub.engines.local.wordlists import compile_patterns
from memoryhub.engines.types import Exchange

Span = tuple[int, int]

_WORKS = (
    r"(?:letter|e-?mail|message|text|reply|response|poem|haiku|sonnet|limerick|verse|song|lyrics"
    r"|rap"
    r"|story|tale|fable|scene|script|dialogue|monologue|essay|article|blog|post|tweet|caption|bio"
    r"|biography|profile|speech|toast|eulogy|vows|note|memo|statement|paragraph|sentences?|draft"
    r"|cover letter|cv|r[eé]sum[eé]|introduction|intro|review|complaint|invitation|card|diary"
    r"|journal"
    r"|entry|testimonial|pitch|summary|translation|template|example|sample|version|persona"
    r"|character"
    r"|report|announcement|apology|resignation|reference|advert|ad|listing|obituary|prayer|joke)"
)
_MAKING = (
    r"(?:write|draft|compose|rewrite|re-write|reword|rephrase|paraphrase|proofread|polish|translate"
    r"|transcribe|summari[sz]e|shorten|simplify|improve|correct|fix|edit|continue|finish|complete"
    r"|generate|create|produce|invent|make up|make|come up with|give|show|tell|prepare"
    r"|put together)"
)
# Verbs that only ever make or rework words; the others need to be told what.
_MAKING_WORDS = (
    r"(?:translate|rephrase|reword|paraphrase|rewrite|re-write|proofread|summari[sz]e"
    r"|draft|compose)"
)
_REQUESTS = compile_patterns(
    rf"\b{_MAKING}\b(?:\W+(?!your\b)\w+){{0,6}}?\W+{_WORKS}\b",
    rf"(?:^|[.!?\n,]\s{{0,3}}|\b(?:you|please|help me|now|and|to|just)\s){_MAKING_WORDS}\b",
    r"\bhow (?:do|would|should|can|could) (?:you|i|one|we|they|he|she|an? \w+)(?: \w+)? (?:say"
    r"|write"
    r"|put|phrase|word|introduce|begin|start|answer|reply|respond)\b",
    r"\bwhat (?:would|should|could|might) (?:\w+ ){1,4}(?:say|write|reply|answer)\b",
    r"\bin (?:spanish|french|german|italian|portuguese|dutch|polish|russian|chinese|mandarin"
    r"|japanese|korean|arabic|hindi|turkish|english|latin|greek|swedish),? (?:please|pls)\b",
)
_ROLE_PLAY = re.compile(
    r"\b(?:role-?\s?play|pretend (?:to be|(?:that )?you|i['’]?m|we)|act (?:as|like)\b|in character"
    r"|play the (?:role|part)|(?:you (?:are|play)|you['’]re) (?:now )?(?:playing|pretending"
    r"|the part)"
    r"|you are now\b|imagine (?:that )?you(?:['’]re| are| were)\b|stay in character"
    r"|be my (?:pretend|imaginary)"
    r"|(?:speak|talk|answer|respond|reply|write|tell it) as (?:if you|an? |the |my )"
    r"|from the (?:point of view|perspective) of|in the (?:voice|style|words) of)"
    r"|角色扮演|扮演|假装(?:你|是)|假如你是|假设你是|想象你是|你现在是|你来演|你演"
    r"|以.{1,12}的(?:口吻|身份|语气|视角)|模仿",
    re.I,
)
# In these the user plays a part, too: who only has the assistant act as a cook is themselves.
_SHARED_PLAY = re.compile(
    r"\b(?:role-?\s?play|pretend (?:that )?(?:i\b|i['’]?m|we)|in character|play the (?:role|part)"
    r"|let['’]s (?:play|pretend|act))|角色扮演|我(?:来)?(?:扮演|演)|(?<!假)假装我|你来?演",
    re.I,
)
_ROLE_PLAY_ENDS = re.compile(
    r"\b(?:stop|end|quit|exit|leave|drop|enough|break|out of|done with)\b.{0,24}\b(?:role-?\s?play"
    r"|pretending|character|act|game)"
    r"|\bback to (?:normal|yourself|reality)\b|(?:停止|结束|不要再|别再|退出).{0,6}(?:扮演|角色)",
    re.I,
)
# A text just made is asked for in another form.
_REVISION = re.compile(
    r"\b(?:shorter|longer|softer|warmer|funnier|sadder|simpler|nicer|stronger|clearer|(?:more"
    r"|less) \w+|again|another"
    r"|once more|instead|tone|version|rhym\w+|continue|go on|carry on|keep going|next (?:verse"
    r"|chapter|part|paragraph)"
    r"|add|change|replace|remove|include|mention|make it|try|now in|the same)\b"
    r"|短一点|长一点|再(?:来|写|短|长|正式|改)|换(?:一|个|成)|改(?:成|一下|得)|加上|继续|更\w",
    re.I,
)
_MAX_REVISION = 240  # characters: who tells more than that tells something of their own
_CHINESE_MAKING = re.compile(
    r"(?:写|起草|草拟|拟|编|创作|作|续写|仿写|生成|来)(?:一?[封首篇个段份条则句副]|一下|个"
    r"|几[封首篇个段份条句])"
    r"|翻译|翻成|译成|润色|改写|扩写|缩写|续写|仿写|校对|代笔|起草|造句|写信|写诗|作诗|讲个故事"
    r"|用(?:英|日|韩|法|德|西班牙|俄|意大利|葡萄牙)[语文]怎么(?:说|写|讲)"
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")
_OF_SELF = re.compile(r"\b(?:i|i['’]m|my|me|we|our)\b", re.I)
_CHINESE_REQUEST = re.compile(
    r"\s{0,4}(?:请|麻烦|帮忙|帮我|给我|替我|再|你|您|能|可以|能不能|可不可以|来){0,5}"
    r"(?:(?:用|以|按|按照|根据|就)[^，。！？我]{1,20}?|把[^。！？]{1,40}?|将[^。！？]{1,40}?)?"
    rf"(?:给我|帮我)?(?:{_CHINESE_MAKING.pattern})(?![是家过了]|工作|公司)"
)
_FORMS = compile_patterns(
    # How what is handed over is announced.
    rf"^\W{{0,4}}(?:(?:sure|of course|certainly|absolutely|okay|ok|gladly"
    rf"|happy to)\b[^\n]{{0,40}}?\W{{1,3}})?"
    rf"(?:here(?:['’]s| is| are)|below is|this is|how about(?: this)?|try this|you could (?:say"
    rf"|write|send)|i['’]d (?:write|say|put it))"
    rf"\b[^\n]{{0,60}}?(?:\b{_WORKS}\b|:[ \t]{{0,9}}$)",
    r"^\W{0,4}(?:subject|betreff|translation|draft|title|re)\s?:",
    r"^\W{0,4}(?:dear|to whom it may concern|estimad[oa]s?|sehr geehrte|cher|chère"
    r"|querid[oa])\b[^\n.!?]{0,60}[,:]?[ \t]{0,9}$",
    r"^\W{0,4}(?:(?:best|kind|warm|kindest|warmest)?\s?regards|sincerely|yours (?:truly"
    r"|sincerely|faithfully)"
    r"|with love|respectfully|all the best|best wishes|yours)\s?,?[ \t]{0,9}$",
    r"^\*[^*\n]{3,200}\*",  # *leans on the counter*
    r"\bonce upon a time\b",
    r"^\W{0,4}(?:尊敬的|亲爱的)[^\n。]{0,30}[：:,，][ \t]{0,9}$|^此致|^敬礼|译文[：:]"
    r"|以下是[^\n]{0,20}(?:译文|草稿|信|邮件|诗|故事|文章)",
    flags=re.I | re.M,
)
_QUOTED_LINE = re.compile(r"^[ \t]{0,3}>[^\n]*$|```[^`]*(?:```|\Z)", re.M)
_SALUTATION, _SIGNED = _FORMS[2], _FORMS[3]
_MIN_VERSE, _MAX_VERSE_LINE = 4, 60
_LIST_LINE = re.compile(r"\s*(?:[-*•·>#|]|\d{1,3}[.)])")
# What is handed over to be worked on follows its colon or stands below.
_HANDED_OVER = re.compile(
    rf"\b(?:{_MAKING_WORDS}\b[^.!?\n:：]{{0,80}}[:：\n]"
    rf"|(?:correct|fix|edit|improve|polish|shorten|simplify|check|review|grade|continue|reply to"
    rf"|answer)"
    rf" (?:this|these|the|my|it)\b[^.!?\n:：]{{0,80}}[:：\n]"
    rf"|(?:this|the following|following) (?:\w+ ){{0,2}}{_WORKS}\b[^.!?\n:：]{{0,60}}[:：])"
    r"|(?:翻译|润色|改写|修改|校对|总结|概括|缩写|扩写|续写"
    r"|看看这[段封篇])[^。！？\n：:]{0,30}[：:\n]",
    re.I,
)


def find_made_spans(exchange: Exchange) -> Mapping[str, Sequence[Span]]:
    """By handle, the characters of utterances that are nobody's claims."""
    found: dict[str, list[Span]] = {}
    playing = shared = made = False
    asked = ""
    read = {u.handle for u in exchange.utterances}
    for utterance in [*exchange.history, *exchange.utterances]:
        text = utterance.text
        if utterance.role == "user":
            spans = list(find_handed_over(text))
            own = text[: spans[0][0]] if spans else text
            over = bool(_ROLE_PLAY_ENDS.search(own))
            begins = None if over else _SHARED_PLAY.search(own)
            if begins:
                spans = [(_find_sentence_start(own, begins.start()), len(text))]
            elif shared and not over:
                spans = [(0, len(text))]
            else:
                spans += find_requests(own)
            shared = bool(begins) or (shared and not over)
            playing = is_role_play(own) or (playing and not over)
            revised = made and len(own) <= _MAX_REVISION and bool(_REVISION.search(own))
            asked = own if asks_for_text(own) or revised else ""
        elif utterance.role == "assistant":
            made = playing or bool(asked) or has_made_form(text)
            spans = [(0, len(text))] if made else list(_find_quoted(text))
        else:
            continue
        if spans and utterance.handle in read:
            found[utterance.handle] = spans
    return found


def _find_sentence_start(text: str, at: int) -> int:
    return max(text.rfind(mark, 0, at) for mark in ".!?\n。！？") + 1


def find_requests(text: str) -> Iterator[Span]:
    """Sentences that ask for a text or a part and name nobody: 写一首诗 and "Act as a cook." would
    read as what the user does or is."""
    for found in _SENTENCE.finditer(text):
        asks = _CHINESE_REQUEST.match(found[0]) or _ROLE_PLAY.search(found[0])
        if asks and not _OF_SELF.search(found[0]):
            yield found.span()


def is_role_play(text: str) -> bool:
    return bool(_ROLE_PLAY.search(text)) and not _ROLE_PLAY_ENDS.search(text)


def asks_for_text(text: str) -> bool:
    """Whether a text is asked for that somebody is to say, send or read."""
    return any(p.search(text) for p in _REQUESTS) or bool(_CHINESE_MAKING.search(text))


def has_made_form(text: str) -> bool:
    """Whether a reply looks like a letter, a scene or a poem, or announces one."""
    return any(form.search(text) for form in _FORMS) or _is_verse(text)


def _is_verse(text: str) -> bool:
    """Several short lines in a row that are no list."""
    run = 0
    for line in text.splitlines():
        short = 0 < len(line.strip()) <= _MAX_VERSE_LINE and not _LIST_LINE.match(line)
        run = run + 1 if short else 0
        if run >= _MIN_VERSE:
            return True
    return False


def find_handed_over(text: str) -> Iterator[Span]:
    handed = _HANDED_OVER.search(text)
    if handed and text[handed.end() :].strip():
        yield handed.end(), len(text)
        return
    opened, signed = _SALUTATION.search(text), _SIGNED.search(text)
    if opened and signed and signed.start() > opened.end():
        yield opened.start(), signed.end()
        return
    yield from _find_quoted(text)


def _find_quoted(text: str) -> Iterator[Span]:
    for found in _QUOTED_LINE.finditer(text):
        yield found.span()
