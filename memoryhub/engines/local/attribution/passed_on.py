"""Words that a message only passes on: what a mail, a page or somebody else says. Pure.

They are kept as words, and what they tell may be kept as told; but they are nobody's own word, so
that they end nothing and ask for nothing to be forgotten (spec E24). English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memoryhub.engines.local.attribution.made_texts import Span, find_handed_over

# What is there to be read by programs and not by people; a joiner of emojis is none.
_HIDDEN = re.compile(
    "[\u00ad\u115f\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_PAPER = (
    r"(?:e-?mails?|mails?|messages?|texts?|letters?|pages?|web ?sites?|websites?|sites?|articles?"
    r"|blogs?|posts?|documents?|docs?|pdfs?|files?|attachments?|notes?|reports?|reviews?|comments?"
    r"|newsletters?|tweets?|sms|logs?|transcripts?|outputs?|results?|records?|forms?|leaflets?"
    r"|flyers?|booklets?|books?|papers?|adverts?|ads?|notices?|chats?|conversations?|tools?|apps?"
    r"|bots?|chatbots?|assistants?|ai|gpt|search|systems?|prompts?|screens?|labels?|signs?)"
)
# What follows is somebody else's to the end of the message, or until a blank line and "I".
_OPENERS = tuple(
    re.compile(pattern, re.I | re.M)
    for pattern in (
        rf"(?<!\boff the )\b{_PAPER}\b[^.!?\n:：]{{0,80}}[:：](?![\d/])",
        r"\b(?:says?|said|reads?|writes?|wrote|written|states?|stated|told (?:me|us)|replied"
        r"|claims?|claimed|answered|pasted?|copied|quote[ds]?|forwarded|got this|received|following"
        r"|here (?:it )?(?:is|are)|here's|below)\b[^.!?\n:：]{0,60}[:：](?![\d/])",
        r"\b(?:this|these|online|found)\b[^.!?\n:：]{0,40}[:：](?![\d/])",
        r"^[ \t]{0,9}-{2,}[^\n]{0,30}(?:original|forwarded)[^\n]{0,40}$",
        r"^[ \t]{0,9}begin forwarded message",
        r"^[ \t]{0,9}(?:from|subject|sent|cc|bcc|reply-to|date)[ \t]{0,3}:[ \t]{0,3}\S",
        r"^[ \t]{0,9}on [^\n]{3,80} wrote:",
        # Parts that are played in a message itself.
        r"(?:^|(?<=[.!?\n。！？]))[ \t]{0,9}[#*\[<(|{]{0,4}[ \t]{0,3}(?:system|assistant|developer"
        r"|user|human|ai|bot|tool|function|admin|administrator|operator|memory)"
        r"(?:[ \t_-]{0,2}(?:message|prompt|instruction|note|override|result|output|update))?"
        r"[ \t]{0,3}[\]>)|}*]{0,4}"
        r"[ \t]{0,3}[:：>\]]",
        r"<\|[^|\n]{1,40}\|>|\[/?inst\]|<<sys>>|</?(?:system|assistant|user|tool|instructions?"
        r"|document|context|memory)[^>\n]{0,40}>|<!--",
        r"(?:邮件|信件?|短信|消息|网页|页面|网站|文章|文件|文档|帖子|博客|评论|报告|通知|公告|记录|日志|转发|原文|内容"
        r"|截图|聊天记录|说明书|工具|系统|助手|机器人|说|写道?|写着|显示|如下|回复|告诉我)[^。！？\n:：]{0,20}[:：]",
        r"^[ \t]{0,9}(?:发件人|收件人|主题|转发|系统|助手|用户|管理员)[^\n:：]{0,8}[:：]",
        r"[【\[](?:系统|助手|管理员|用户|工具)[^】\]\n]{0,8}[】\]]",
    )
)
_OWN_AGAIN = re.compile(r"\n[ \t]{0,9}\n(?=[ \t]{0,9}(?:I\b|I['’]m\b|My\b|我))")
# Eight characters at least, of Chinese four: fewer are a title or a name.
_QUOTATIONS = re.compile(
    r"\"([^\"\n]{8,})\"|“([^”\n]{4,})”|«([^»\n]{8,})»|「([^」\n]{4,})」|『([^』\n]{4,})』"
    r"|(?<![\w])'((?:[^'\n]|(?<=\w)'(?=\w)){8,2000})'(?!\w)|‘([^\n]{8,2000}?)’(?!\w)"
)
_SAYING = (
    r"(?:says?|said|saying|claims?|claimed|states?|stated|writes?|wrote|mentions?|mentioned"
    r"|reports?|reported|insists?|insisted|suggests?|suggested|announces?|announced|replied|replies"
    r"|explains?|explained|warns?|warned|thinks?|thought|believes?|believed|reckons?|assumes?"
    r"|decided|concluded|concludes|tells? (?:me|us|everyone|people)"
    r"|told (?:me|us|him|her|them|everyone|people))"
)
_NOT_ME = (
    r"(?!(?:i|we|never|not|just|also|once|already|always|only|had|have|has|ve|be|been|being|is|was"
    r"|to|as|should|would|could)\b|i['’]|we['’]|\w+n['’]t\b)"
)
_REPORTS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:according to|as per|per the)\b[^,.!?\n]{0,60},?",
        r"\b(?:allegedly|supposedly|reportedly|apparently|rumou?r has it|word is|they say"
        r"|people say|it (?:says|said|reads|is said|was said|claims))\b",
        r"\b(?:i|we)(?:['’]ve| have|['’]m| am| was| were| just| also| once)? {0,2}"
        r"(?:heard|hear|read|been told|told by|told that|saw)\b"
        r"(?: (?:that|somewhere|in|on|online|about|from)\b)?",
        rf"\b{_NOT_ME}(?P<who>[\w'’-]+)(?: (?:just|also|once|always|now|has|had|have|page|site))?"
        rf" {_SAYING}\b",
        rf"(?<=,) (?:or so |so )?{_SAYING} {_NOT_ME}[^.!?\n]{{1,60}}",
        rf"\b{_PAPER} (?:shows?|has it|tells?|reads|lists?|confirms?|says?)\b",
    )
)
_CHINESE_REPORTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"据说|听说|听人说|据报道|据称|据悉|传言|传闻|网上说|有人说|人家说|大家说|他们说|别人说|看到说|说是",
        r"(?:根据|依据|按照|据)[^，。！？\n]{1,20}[，,]?",
        r"(?:网页|网站|页面|网上|文章|邮件|信上|短信|帖子|报告|说明书|有人|人家|别人|大家|[他她]们?|机器人|助手)"
        r"[^，。！？\n我不没别]{0,6}?(?:说(?![的过不起话人明])|显示|提到)",
        r"(?<![我们])(?P<who>[^我，。！？\s]{1,8}?)(?:表示|声称|宣称|告诉我|写道)",
    )
)
# An attribution that comes after what it attributes: ", the page says".
_TRAILING = re.compile(r"[,，–—-]\s*(?:(?:or )?so |as |at least )?$|^$", re.I)
_NO_CLAUSE = re.compile(
    r"\s*(?:(?:no|yes|hi|hello|bye|goodbye|sorry|thanks|thank you|nothing|something|a word)"
    r"\s*(?:[,.!?;…]|$)|[a-z']+\s*(?:[.!?;…]|$))",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_THIRD_PERSON = "he she they 他 她"
_WORD = re.compile(r"[^\W_]+")


def strip_hidden(text: str) -> str:
    """Without characters that nobody sees."""
    return _HIDDEN.sub("", text)


@lru_cache(maxsize=4)
def find_quoted_matter(text: str) -> tuple[Span, ...]:
    """The characters of a person's message that are another's words, as they were written."""
    found = [*find_handed_over(text)]
    for opener in _OPENERS:
        for match in opener.finditer(text):
            if text[match.end() :].strip():
                own = _OWN_AGAIN.search(text, match.end())
                found.append((match.start(), own.start() if own else len(text)))
                break
    return (*found, *(m.span() for m in _QUOTATIONS.finditer(text)))


def mask_quoted_matter(text: str) -> str:
    """The message with what it quotes left blank, and of the same length."""
    for start, end in find_quoted_matter(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


@lru_cache(maxsize=4)
def mask_passed_on(text: str) -> str:
    """The message with what it quotes and what it tells of others' words left blank, and every
    sentence in which something is hidden; of the same length."""
    told = mask_quoted_matter(text)
    for sentence in _SENTENCE.finditer(told):
        start, end = sentence.span()
        reports = [report.start() for report in _find_reports(sentence[0])]
        if _HIDDEN.search(sentence[0]):
            reports.append(0)
        if reports:
            first = start + min(reports)
            first = start if told[start:first].rstrip().endswith((",", "，")) else first
            told = told[:first] + " " * (end - first) + told[end:]
    return told


def is_passed_on(text: str, start: int, end: int, claim: str, owner: str, speaker: str) -> bool:
    """Whether a claim that rests on these characters of a person's message is told of what somebody
    else says, or stands in words that are quoted or hidden.

    What people tell of themselves and is passed on counts as told: "my sister says she moved".
    """
    span = text[start:end]
    if _HIDDEN.search(span):
        return True
    # White space around it belongs to neither.
    first = start + len(span) - len(span.lstrip())
    last = end - (len(span) - len(span.rstrip()))
    quoted = find_quoted_matter(text)
    if any(from_ < last and first < to for from_, to in quoted) and _rests_on_spans(
        text, first, last, quoted, claim, owner
    ):
        return True
    sentence = _widen_to_sentence(text, first, last)
    return _is_hearsay(sentence, text[first:last], claim, owner, speaker)


def _rests_on_spans(
    text: str, start: int, end: int, spans: Sequence[Span], claim: str, owner: str
) -> bool:
    """Whether what bears the claim there is quoted: its own words bear less of it."""
    own = "".join(
        char for at, char in enumerate(text[start:end], start) if not _is_within(at, spans)
    )
    quoted = "".join(
        char for at, char in enumerate(text[start:end], start) if _is_within(at, spans)
    )
    words = _extract_words(claim) - _extract_words(owner)
    return len(words & _extract_words(quoted)) >= len(words & _extract_words(own))


def _is_within(at: int, spans: Sequence[Span]) -> bool:
    return any(start <= at < end for start, end in spans)


def _widen_to_sentence(text: str, start: int, end: int) -> str:
    before = [m.end() for m in _SENTENCE_END.finditer(text, 0, start)]
    after = _SENTENCE_END.search(text, max(end - 1, start))
    return text[before[-1] if before else 0 : after.end() if after else len(text)]


def _is_hearsay(sentence: str, span: str, claim: str, owner: str, speaker: str) -> bool:
    words = _extract_words(claim) - _extract_words(owner)
    themselves = frozenset() if owner == speaker else _extract_words(f"{owner} {_THIRD_PERSON}")
    for report in _find_reports(sentence):
        who = report.groupdict().get("who") or ""
        if _extract_words(who) & themselves:
            continue
        before, after = sentence[: report.start()], sentence[report.end() :]
        if not after.strip(" .!?。！？,，") and not before.strip():
            continue
        if _TRAILING.search(before) and not after.strip(" .!?。！？\"”'’"):
            return True
        own, told = words & _extract_words(before), words & _extract_words(after)
        is_after = span.strip() and span in after
        if is_after or len(told) > len(own) or (len(told) == len(own) and not before.strip()):
            return True
    return False


def _find_reports(sentence: str) -> Iterator[re.Match[str]]:
    """Where something is told of what others say; "said no", "claimed bins" and "without saying
    bye" tell nothing. After ", " a report may end its sentence: "he moved, Rui says"."""
    for pattern in (*_REPORTS, *_CHINESE_REPORTS):
        for report in pattern.finditer(sentence):
            if sentence[report.end() :].strip() == "" or not _NO_CLAUSE.match(
                sentence, report.end()
            ):
                yield report


def _extract_words(text: str) -> frozenset[str]:
    """Beginnings of words, and single characters of Chinese."""
    found = set()
    for word in _WORD.findall(text.lower()):
        if word.isascii():
            found.add(word[:4])
        else:
            found |= set(word)
    return frozenset(found)
