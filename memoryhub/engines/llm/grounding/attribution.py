"""What a sentence can be evidence of: that something is so, and of whom. Pure.

A small model reads a question as a claim, gives one speaker's words to the other, and hangs what
happened on whatever predicate it was shown. Its words are held against the sentence it quotes:
what that sentence can not say is refused (spec E13, E25, E26). Pronouns and names of predicates are
known in English and Chinese; in other languages only names and question marks are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoryhub.engines.llm.packaged_prompts import normalise_text
from memoryhub.engines.local.attribution.made_texts import asks_for_text
from memoryhub.engines.local.grammar.speech import asks_plainly_to_forget, is_small_talk
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE
from memoryhub.engines.types import SpeechAct, Utterance

_SENTENCE = re.compile(r".+?(?:[.!?]+(?=\s|$|[\"'”’)])|[。！？\n]+|$)", re.S)
_QUESTION_END = re.compile(r"[?？][\"'”’」』）)\]\s]*$")

_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|u)\b|你|您", re.I)
_THANKS = re.compile(r"\bthank you\b|谢谢[你您]", re.I)
_OPENS_WITH_YOU = re.compile(r"^\W*you(?:rs?|rself)?\b|^[你您]", re.I)
_FIRST_PERSON = re.compile(r"\b(?:i|im|ive|me|my|mine|myself)\b|我(?!们)|俺", re.I)
_FIRST_PERSON_PLURAL = re.compile(r"\b(?:we|us|ours?)\b|我们|咱", re.I)
_THIRD_PERSON = re.compile(r"\b(?:he|she|they|him|her|his|hers|their|them)\b|[他她]", re.I)
# "My brother Simon", 我弟弟: who is spoken of by what they are to the speaker.
_RELATIVES = "|".join(sorted(PEOPLE | ANIMALS, key=len, reverse=True))
_OWN_RELATIVE = re.compile(
    rf"\b(?i:my|our) (?:[\w-]+ )?(?P<who>(?i:{_RELATIVES}))\b(?:,? (?P<name>[A-Z]\w+))?"
    r"|(?<![回去到在跟给陪找])我(?:的|们|家)?(?P<zh>爸爸?|妈妈?|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外婆|外公|儿子|女儿|老婆|老公"
    r"|妻子|丈夫|室友|同事|同学|朋友|猫|狗)",
)
_POSSESSIVE = re.compile(r"\w['’]s?\b|的")
_OPENS_WITH_OTHER = re.compile(r"^\W*(?:s?he|they)(?:['’]\w+)?\b|^[他她]", re.I)
_CLAUSE_END = re.compile(r"[,;:.!?](?=\s|$)|[，；：。！？\n]|\s[-–—]\s")
_JOINED = re.compile(r"\s*(?:,|&|\band\b|[、和与跟])\s*")
_MIN_HAN_NAME_LENGTH = 2
_MIN_NAME_LENGTH = 3  # letters of a name that stand for the whole of it: "Mel" for "Melanie"

# By predicate, what a sentence must speak of; a key or its first word and "_".
_EVIDENCE_PATTERNS = {
    "lives_in": r"\b(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|resid\w+|home|settl\w+|relocat\w+"
    r"|emigrat\w+|based|house|apartment|flat|stay\w*)\b|住|搬|定居|家",
    "address": r"\d|\b(?:address|street|road|avenue|lane|square)\b|住|址|[路街号弄]",
    "works_as": r"\bwork(?:s|ed|ing)?\b.{0,20}\bas\b|\b(?:job|career|profession|occupation"
    r"|promot\w+|position|retire\w*|employ\w+|qualif\w+|train\w*|hired)\b|\b(?:is|was|am|be|becom\w+|became)"
    r" (?:now )?(?:an?|the)\b|'m (?:now )?an?\b|工作|职|当|做|任|是",
    "works_at": r"\bwork(?:s|ed|ing)?\b.{0,20}\b(?:at|for|in|with)\b|\b(?:job|employ\w+|hired"
    r"|join\w*|start\w*|company|firm|resign\w*|retire\w*|quit|left|notice)\b|工作|上班|职|公司|单位",
    "marital_status": r"\b(?:marri\w+|marry\w*|wed\w*|engag\w+|divorc\w+|separat\w+|single"
    r"|widow\w*|husband|wife|spouse|fianc\w+|partner|split)\b|婚|单身|丈夫|妻子|老公|老婆",
    "age": r"\d|\b(?:year|birthday|old|turn|born|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety)|岁|生日",
    "favourite": r"\bfavou?rite|\bprefer|\b(?:best|most)\b|\b(?:like|love|adore|enjoy)|最|喜欢|爱",
    "has_count": r"\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|many)\b"
    r"|[一二两三四五六七八九十几个只]",
}
_EVIDENCE_REGEXES = {key: re.compile(pattern, re.I) for key, pattern in _EVIDENCE_PATTERNS.items()}


# Words that point or bind, of which no text is about.
_IDLE_WORD_LIST = """
a an the this that these those it its is are was were be been being am do does did done has have
had having will would can could should may might must shall i me my mine myself we us our you your
he him his she her they them their who what when where which how why and or but if so as at by for
from in into of on off out over to too up with without about no not never none nor any anymore
more longer now then just still already also again very really all some there here than s t d m ll
re ve don didn doesn isn aren wasn weren hasn haven user person one ones thing things go goes
going went gone get gets got say says said tell told hello hi hey thanks thank please ok okay yes
yeah well good
"""
_IDLE_WORDS = frozenset(_IDLE_WORD_LIST.split())
_IDLE_HAN = frozenset(
    "我你他她它们您的了在是有不没无也都就和与及很还又再已经过着吗呢吧啊呀哦这那个里上下中到去来会能可以"
    "要想说被把给对从用为之其此某些什么怎样谁哪好人户"
)
_LEAST_WORDS, _LEAST_HAN = 2, 3  # of a statement
_ANSWER = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|no|nope|nah|not|true|false|right|correct|wrong|exactly|sure|neither"
    r"|never|anymore)\b|^\W*(?:是|对|不|没|嗯|否|错|从)",
    re.I,
)
_POINTING = re.compile(r"\b(?:it|he|him|his|she|her|they|them|both)\b|[他她它]", re.I)
# What takes one of the things that were offered: "that one, yes", 第二个.
_CHOICE = re.compile(
    r"\b(?:that|this|the (?:first|second|third|last|former|latter|other)) ones?\b"
    r"|\bthe (?:first|second|third|former|latter|other)\b|[这那]个|第[一二三]个|前者|后者",
    re.I,
)


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """The sentences of `text` that the characters from `start` to `end` are part of."""
    last = len(text) if end is None else end
    found = (match for match in _SENTENCE.finditer(text) if match[0].strip())
    return [m[0].strip() for m in found if m.start() < last and m.end() > start]


def select_bearing_sentences(claim: str, said: Sequence[str], names: Iterable[str]) -> list[str]:
    """Of the sentences those that share most words with the `claim`, but for `names`; none if
    none does."""
    words = extract_word_beginnings(claim) - extract_word_beginnings(" ".join(names))
    shared = [len(words & extract_word_beginnings(sentence)) for sentence in said]
    most = max(shared, default=0)
    return [s for s, count in zip(said, shared, strict=True) if count and 2 * count > most]


def has_assertion(said: Sequence[str], act: SpeechAct | None) -> bool:
    """Whether the sentences, of a message that is this act as a whole, say that something is so.

    The act decides whether a question mark asks: "I got the job, can you believe it?" asserts.
    """
    if act == "hypothetical" or all(asks_plainly_to_forget(sentence) for sentence in said):
        return False
    return act == "assertion" or not all(_QUESTION_END.search(sentence) for sentence in said)


def find_clause(text: str, start: int, end: int) -> str:
    """The clause, or the clauses, that the characters from `start` to `end` are part of."""
    before = [match.end() for match in _CLAUSE_END.finditer(text, 0, start)]
    after = _CLAUSE_END.search(text, end)
    return text[before[-1] if before else 0 : after.start() if after else len(text)]


def may_be_about(
    owner: str, source: Utterance, said: str, people: Iterable[str], heard: str, clause: str
) -> bool:
    """Whether `said`, words of `source`, can be about `owner`.

    `people` are those who talk, `heard` all that the model was shown and all names known: an owner
    who is neither one of them nor named there was invented. `clause` is what is quoted of `said`;
    where it is "", that is the whole message. Both may speak to somebody and of the speaker as
    well: "what grades do you need? im 17".
    """
    people = list(people)
    if _speaks_for_several(owner, source.speaker, people):
        return True
    known = [name for name in people if _is_same_name(owner, name)]
    if not known and not _is_same_name(owner, source.speaker):
        return _mentions_name(owner, [*people, heard])
    if detect_language(source.text) == "other":
        return True
    names = " ".join([owner, *known])
    if _is_same_name(owner, source.speaker):
        spoken_to = _SECOND_PERSON.search(_THANKS.sub(" ", clause))
        of_another = bool(_OPENS_WITH_YOU.search(said) or spoken_to)
        return (
            not of_another
            or bool(_FIRST_PERSON.search(said) or _FIRST_PERSON_PLURAL.search(said))
            or _mentions_name(names, [said])
        )
    both = _FIRST_PERSON_PLURAL.search(said) and not _FIRST_PERSON.search(
        said
    )  # "I learnt to mind our health" is one's own
    return bool(
        _SECOND_PERSON.search(said) or _THIRD_PERSON.search(said) or both
    ) or _mentions_name(names, [said])


def _speaks_for_several(owner: str, speaker: str, people: Sequence[str]) -> bool:
    """Whether the speaker is one of several owners who all talk here: "Ana and Rui"."""
    owners = [part for part in _JOINED.split(owner) if part]
    return (
        len(owners) > 1
        and any(_is_same_name(part, speaker) for part in owners)
        and all(any(_is_same_name(part, name) for name in people) for part in owners)
    )


def may_be_of_listener(
    owner: str, source: Utterance, said: str, claim: str, people: Iterable[str]
) -> bool:
    """Whether an assistant's words, and a `claim` read of them, can be about `owner`: of one of
    those it talks to, they have to address somebody, or the claim to name whom it is about
    ("running along the water sounds pleasant" is about nobody)."""
    if _is_same_name(owner, source.speaker) or detect_language(source.text) == "other":
        return True
    if not any(_is_same_name(owner, name) for name in people):
        return True
    spoken_to = _SECOND_PERSON.search(said) or _THIRD_PERSON.search(said)
    spoken_of = _FIRST_PERSON.search(said) or _FIRST_PERSON_PLURAL.search(said)
    return bool(spoken_to or spoken_of) or _mentions_name(owner, [said, claim])


def tells_of_somebody_of_theirs(
    owner: str, source: Utterance, said: str, claim: str, names: Iterable[str]
) -> bool:
    """Whether words that are `said` tell of somebody who belongs to the speaker, or of "she", and
    the `claim` says that of the speaker: "my brother lives in Leeds" for "Ana lives in Leeds"."""
    if not _is_same_name(owner, source.speaker):
        return False
    relative = _OWN_RELATIVE.search(said)
    if relative is None and not _OPENS_WITH_OTHER.search(said):
        return False
    rest = _OWN_RELATIVE.sub(" ", said)
    if _FIRST_PERSON.search(rest) or _FIRST_PERSON_PLURAL.search(rest):
        return False
    if _POSSESSIVE.search(claim):
        return False  # "Ana's brother lives in Leeds"
    if relative and _mentions_name((relative["who"] or relative["zh"]), [claim]):
        return False
    others = extract_word_beginnings(" ".join(names))
    called = extract_word_beginnings(relative["name"] or "") if relative else frozenset()
    words = extract_word_beginnings(claim) - others
    return bool(words & extract_word_beginnings(rest)) and not words & called


def names_other_person(claim: str, owner: str, people: Iterable[str]) -> bool:
    """Whether a claim names somebody who talks and not its owner: the model contradicts itself.

    "Nora's friend moved" names Nora for her friend only.
    """
    if _mentions_name(owner, [claim]):
        return False
    spoken_of = re.sub(r"\b\w+['’]s\b", "", claim)
    others = [name for name in people if not _is_same_name(owner, name)]
    return any(_mentions_name(name, [spoken_of]) for name in others)


def is_from_other_speaker(
    claim: str, said: str, others: Iterable[str], names: Iterable[str], own: Iterable[str] = ()
) -> bool:
    """Whether no word or number of the `claim` is in what it rests on, `said`, but two words are in
    what others told: a model that mixes up two messages quotes one of them for the other.

    What others asked does not count: a plain "yes" makes a claim of somebody else's question. Nor
    does what is in the speaker's `own` words, whoever repeats it: "made it" is of what they told
    before.
    """
    words = extract_word_beginnings(claim) - extract_word_beginnings(" ".join(names))
    shared = words & extract_word_beginnings(said) or _find_numbers(claim) & _find_numbers(said)
    words -= extract_word_beginnings(" ".join(own))
    if not words or shared:
        return False
    told = (s for text in others for s in split_sentences(text) if not _QUESTION_END.search(s))
    return any(len(words & extract_word_beginnings(sentence)) > 1 for sentence in told)


def extract_word_beginnings(text: str) -> frozenset[str]:
    """Those of words of four letters and more ("like" of "likes"), and single Chinese characters:
    what two texts with the same words in other forms have in common."""
    return frozenset(re.findall(r"\b[^\W\u4e00-\u9fff]{4}|[\u4e00-\u9fff]", text.lower()))


def _find_numbers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", text))


def bears_on(said: str, claims: Iterable[str], names: Iterable[str], key: str = "") -> bool:
    """Whether words that are `said` speak of what the `claims` are about: they share a word that
    tells something, or one that speaks of the predicate. "Hello!" bears nothing."""
    left_out = _extract_telling_words(" ".join(names))
    about = frozenset(w for claim in claims for w in _extract_telling_words(claim)) - left_out
    if about & _extract_telling_words(said):
        return True
    patterns = (p for name, p in _EVIDENCE_REGEXES.items() if _matches_predicate(key, name))
    return any(pattern.search(said) for pattern in patterns)


def _extract_telling_words(text: str) -> frozenset[str]:
    """The beginnings of words but for those that point or bind, numbers, and single characters of
    Chinese but for the same."""
    words = re.findall(r"[^\W\u4e00-\u9fff]+|[\u4e00-\u9fff]", normalise_text(text))
    return frozenset(
        word[:4] for word in words if word not in _IDLE_WORDS and word not in _IDLE_HAN
    )


def tells_something(said: str) -> bool:
    """Whether words are a statement that may change what is held though it shares no word with it:
    "I quit", 换了别的药; no greeting, question or request."""
    words = _extract_telling_words(said)
    least = _LEAST_HAN if detect_language(said) == "zh" else _LEAST_WORDS
    return (
        len(words) >= least
        and not _QUESTION_END.search(said)
        and not is_small_talk(said)
        and not asks_for_text(said)
    )


def speaks_of_oneself(said: str) -> bool:
    """Whether some sentence says "I", and neither asks nor is polite. In a language whose pronouns
    are not known, any may."""
    if detect_language(said) == "other":
        return True
    return any(
        (_FIRST_PERSON.search(each) or _FIRST_PERSON_PLURAL.search(each))
        and not _QUESTION_END.search(each)
        and not is_small_talk(each)
        for each in split_sentences(said)
    )


def names_something(said: str) -> bool:
    """Whether some word of it does not only point or bind."""
    return bool(_extract_telling_words(said))


def leans_on_context(said: str) -> bool:
    """Whether words point at what was said before them: "yes", "he died", "不再了"."""
    return bool(_ANSWER.match(said) or _POINTING.search(said) or _CHOICE.search(said))


def takes_what_was_offered(said: str) -> bool:
    """Whether words do nothing but answer, or choose: what they say is in what was said before."""
    return bool(_ANSWER.match(said) or _CHOICE.search(said)) and not names_something(
        _CHOICE.sub(" ", said)
    )


def choose_predicate(key: str, verb: str, said: str) -> str:
    """`key` where `said` speaks of what it means, else the verb as a key of its own, where that
    is none of the table's in its turn ("works_as" for a run); else "". A verb that is not English
    makes no key: 在马戏团管账 would be a relation that nothing else has.

    `said` is the claim with the words it rests on. Free predicates are left as they are.
    """
    of_verb = key_from_words(verb)
    keys = (key, of_verb if of_verb.isascii() else "")
    return next((each for each in keys if _speaks_of(each, said)), "")


def _speaks_of(key: str, said: str) -> bool:
    pattern = next(
        (p for name, p in _EVIDENCE_REGEXES.items() if _matches_predicate(key, name)), None
    )
    return pattern is None or bool(pattern.search(said)) or detect_language(said) == "other"


def key_from_words(words: str) -> str:
    """("Moved to") → "moved_to"."""
    return re.sub(r"\W+", "_", words.strip().lower()).strip("_")[:64]


def _matches_predicate(key: str, name: str) -> bool:
    return key == name or (name in ("favourite", "has_count") and key.startswith(f"{name}_"))


def _is_same_name(owner: str, name: str) -> bool:
    """Whether two names are one person's: the same, or one the beginning of the other."""
    short, long = sorted((normalise_text(owner), normalise_text(name)), key=len)
    return bool(short) and (
        short == long or (len(short) >= _MIN_NAME_LENGTH and long.startswith(short))
    )


def _mentions_name(owner: str, texts: Iterable[str]) -> bool:
    """Whether a word of the name, or its beginning, is said somewhere."""
    said = normalise_text(" ".join(texts))
    words = set(re.findall(r"\w+", said))
    for part in re.findall(r"[^\W的]+", normalise_text(owner)):
        # "青雀" for 青雀项目.
        begins = part if len(part) <= _MIN_HAN_NAME_LENGTH else part[:_MIN_HAN_NAME_LENGTH]
        if part in words or (not part.isascii() and begins in said):
            return True
        if len(part) > _MIN_NAME_LENGTH and any(
            len(word) >= _MIN_NAME_LENGTH and part.startswith(word) for word in words
        ):
            return True
    return False
