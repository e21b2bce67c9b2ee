"""What the chat says without a model: what was noted, what is known of the person, and talk.

Everything is told to the person who speaks, in the language of what they said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db.models import Q

from memoryhub.console.pages.chat.readings import read_message
from memoryhub.console.pages.space_overview.queries import select_telling_facts
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.answers.address import address_person
from memoryhub.engines.local.attribution.own_names import find_introduced_name
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import Extraction, GroundedAnswer
from memoryhub.recall.render.citations import Citation
from memoryhub.recall.render.results import MemoryItem
from memoryhub.subject_names import get_first_name
from memoryhub.tenants.models import Space
from notes.facts.validity import build_plan_over_q, filter_current
from notes.models import Fact, Note

_MOST_NOTED, _MOST_LISTED = 4, 12
_ASKS = re.compile(r"[?？]")
# Asks for more than what is remembered.
_WANTS_WORK = re.compile(
    r"^\W*(?:please )?(?:can|could|would|will) (?:you|u) (?!tell|remember|remind|say|recall)"
    r"|(?:能不能|可以|可不可以|能|帮我|给我)(?:帮我|给我|替我)?(?:推荐|写|做|订|找|翻译|画|想|安排)",
    re.I,
)
_MONTH = (" ({:%B %Y})", "（{0.year}年{0.month}月）")
# Of a search's score: what is less near has nothing to do with the question.
_NEAR = 0.25
# A whole message that says no more than this.
_TALK = {
    "hello": re.compile(
        r"^\W*(?:hi|hey|hello|hiya|good (?:morning|afternoon|evening)|你好|您好|嗨"
        r"|哈[喽罗]|早上好|晚上好|早安)(?: there| again| hub)?[啊呀]?\W*$",
        re.I,
    ),
    "thanks": re.compile(
        r"^\W*(?:(?:ok(?:ay)?|great|perfect),? )?"
        r"(?:thanks?(?: you)?(?: (?:so much|a lot|very much))?|thx|cheers"
        r"|谢谢你?|多谢|太?感谢了?)[啊啦了]?\W*$",
        re.I,
    ),
    "bye": re.compile(
        r"^\W*(?:(?:good)?bye(?:[ -]bye)?|see you(?: later| soon| tomorrow)?|good night"
        r"|再见|拜拜|回头见|晚安)\W*$",
        re.I,
    ),
    "fine": re.compile(
        r"^\W*(?:ok(?:ay)?|great|good|nice|cool|perfect|alright|all right|i see|got it"
        r"|好的?|嗯+|行|可以|知道了|明白了?)[呀啊吧]?\W*$",
        re.I,
    ),
}
_SAID = {
    "hello": (
        "Hello! Tell me something about yourself, or ask what I remember of you.",
        "你好！可以跟我说说你自己，也可以问我记得什么。",
    ),
    "thanks": ("You are welcome.", "不客气。"),
    "bye": ("Goodbye. I keep what you told me.", "再见，你说过的我都记着。"),
    "fine": ("All right.", "好的。"),
    "name": (
        "Nice to meet you, {}. I will remember your name.",
        "很高兴认识你，{}。你的名字我记住了。",
    ),
    "noted": ("Noted: {}.", "记下了：{}。"),
    "nothing": (
        "I read nothing lasting in that, so I noted no fact. "
        "“Remember this” keeps it word by word.",
        "这句话里没有读到可以长期记住的内容，所以没有记下。要逐字保留，请点“记住这条”。",
    ),
    "unknown": ("I don’t know that yet.", "这个我还不知道。"),
    "unread": (
        "I don’t know that yet. I am still reading what you said before: ask again in a moment.",
        "这个我还不知道。你之前说的话我还在读，请稍后再问。",
    ),
    "unable": (
        "Without a language model I can only tell what I remember.",
        "没有接入语言模型，我只能告诉你我记得的内容。",
    ),
    "nearest": ("{} The nearest I remember: {}", "{}最接近的记忆：{}"),
    "known": ("This is what I remember of you:", "我记得你的这些事："),
    "more": ("And {} more under All memories.", "其余 {} 条在“全部记忆”里。"),
    "nobody": (
        "I know nothing of you yet. Tell me something about yourself.",
        "我还不了解你，跟我说说你自己吧。",
    ),
    "nobody_read": (
        "I am still reading what you told me, and know nothing else of you yet: "
        "ask again in a moment.",
        "你告诉我的话我还在读，其他的我还不了解，请稍后再问。",
    ),
    "reading": (
        "I am still reading what you said last: it may change this.",
        "你刚才说的话我还在读，读完后这个回答可能会变。",
    ),
}
# What asks for something, and tells nothing of the person.
_ASKING_ACTS = ("question", "request", "hypothetical")


def build_talk_reply(turn: Turn, names: Collection[str]) -> GroundedAnswer | None:
    """To what asks nothing: what the rules note of it, or a word in return; None where it asks or
    wants something."""
    if kind := find_talk(turn.text):
        return _say(kind, turn)
    built = read_message(turn)
    asks = built.speech_acts.get("turn") not in ("assertion", "chitchat")
    if asks or _ASKS.search(turn.text):
        return None
    if noted := _list_noted(built, turn, names):
        return _say("noted", turn, ("；" if _is_chinese(turn) else "; ").join(noted))
    if name := find_introduced_name(turn.text):
        return _say("name", turn, get_first_name(name))
    return _say("nothing", turn)


def find_talk(text: str) -> str:
    """What kind of talk a message is that says nothing else: "hello", "thanks", …; or ""."""
    return next((kind for kind, told in _TALK.items() if told.match(text)), "")


def may_tell(turn: Turn) -> bool:
    """Whether reading the message may change what is known of the person."""
    asks = read_message(turn).speech_acts.get("turn") in _ASKING_ACTS
    return not asks and not find_talk(turn.text)


def add_caveat(text: str, turn: Turn) -> str:
    """With the word that something said before is still being read."""
    return f"{text}\n\n{_say('reading', turn).text}"


def _list_noted(built: Extraction, turn: Turn, names: Collection[str]) -> list[str]:
    """Each thing once: what another one says with more words is left out."""
    said = list(dict.fromkeys(fact.text.rstrip(".。") for fact in built.facts))
    words = {text: set(text.split()) for text in said}
    telling = [one for one in said if not any(words[one] < words[other] for other in said)]
    own = [address_person(text, [turn.speaker, *names]) for text in telling[:_MOST_NOTED]]
    return [text[0].lower() + text[1:] if text.startswith("You") else text for text in own]


def address_answer(
    made: GroundedAnswer, items: Sequence[MemoryItem], names: Collection[str]
) -> str:
    """The answer's text with what the hub wrote itself told to the person; what somebody said
    stays word by word, in its quotation marks."""
    parts, end = list[str](), 0
    for support in sorted(made.supports, key=lambda each: each.part):
        start, stop = support.part
        if start < end:
            return made.text
        part = made.text[start:stop]
        if items[support.quote].kind != "turn":
            part = address_person(re.sub("[“”]", "", part), names)
        parts += [made.text[end:start], part]
        end = stop
    return "".join([*parts, made.text[end:]])


def build_unknown_reply(
    turn: Turn, recalled: Sequence[MemoryItem], names: Collection[str], *, reading: bool
) -> tuple[str, MemoryItem | None]:
    """(what is said where no memory answers, the nearest fact it names). `reading`: what was said
    before is not read yet, and may answer it."""
    requested = read_message(turn).speech_acts.get("turn") == "request"
    unknown = "unread" if reading else "unknown"
    why = "unable" if requested or _WANTS_WORK.search(turn.text) else unknown
    said = _say(why, turn).text
    facts = (item for item in recalled if item.kind == "fact" and not item.valid_to)
    near = next((fact for fact in facts if fact.relevant and fact.score >= _NEAR), None)
    if near is None:
        return said, None
    return _say("nearest", turn, said, address_person(near.text, names)).text, near


def build_overview(
    space: Space, turn: Turn, now: datetime, *, reading: bool
) -> tuple[str, list[Citation]]:
    """(what holds of the person, a line each; the facts behind the lines, in their order).
    `reading`: what was said before is not read yet. Call inside the tenant's scope."""
    facts, total = _list_known_facts(space, now)
    if not facts:
        return _say("nobody_read" if reading else "nobody", turn).text, []
    lines = [_say("known", turn).text]
    month = _MONTH[_is_chinese(turn)]
    lines += [
        f"– {address_person(fact.text, space.called_names)}{month.format(fact.asserted_at)}"
        for fact in facts
    ]
    if total > len(facts):
        lines.append(_say("more", turn, total - len(facts)).text)
    text = "\n".join(lines)
    return add_caveat(text, turn) if reading else text, [cite_fact(fact) for fact in facts]


def _list_known_facts(space: Space, now: datetime) -> tuple[list[Fact], int]:
    """(at most so many that hold, the lasting before the latest events; how many there are)."""
    held = filter_current(Fact.objects.filter(space=space), now)
    facts = [
        each for each in select_telling_facts(space, now, 2 * _MOST_LISTED) if not _is_bare(each)
    ]
    facts = facts[:_MOST_LISTED]
    told = [fact.id for fact in facts]
    gone_by = held.filter(Q(kind="event") | build_plan_over_q(now)).exclude(id__in=told)
    latest = gone_by.order_by("-asserted_at", "-id")
    return [*facts, *latest[: _MOST_LISTED - len(facts)]], held.count()


def _is_bare(fact: Fact) -> bool:
    """A fragment that only says whose it is, "Ana: the oven is new", or what was answered."""
    return fact.text.startswith((f"{fact.owner}:", f"{fact.owner}：", 'Asked "'))


def cite_fact(fact: Fact) -> Citation:
    span = (0, len(fact.text))
    return Citation("fact", fact.id, fact.text, fact.text, span, span, (), fact.asserted_at)


def cite_note(note: Note) -> Citation:
    span = (0, len(note.content))
    return Citation("note", note.id, note.content, note.content, span, span, (), note.occurred_at)


def cite_turn(turn: Turn) -> Citation:
    span = (0, len(turn.text))
    return Citation("turn", turn.id, turn.text, turn.text, span, span, (), turn.occurred_at)


def _is_chinese(turn: Turn) -> bool:
    return detect_language(turn.text) == "zh"


def _say(what: str, turn: Turn, *values: object) -> GroundedAnswer:
    return GroundedAnswer(_SAID[what][_is_chinese(turn)].format(*values), quoted=True)
