"""What a sentence does: assert, ask, request, wish, or keep the talk going (spec E20, E26).

Only assertions become facts. The tests are word patterns and a look at the root of the
parse; they err towards leaving a sentence out, for the raw turn stays searchable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from memoryhub.engines.local.chinese import rules as chinese_rules
from memoryhub.engines.local.grammar.verbs import (
    is_past_form,
    is_subjectless_liking,
    is_told_bare,
)
from memoryhub.engines.local.grammar.wish_decider import (
    MAX_CHARACTERS,
    is_likely_wish,
    is_unlikely_wish,
)
from memoryhub.engines.local.grammar.wishes import find_forget_wish as find_english_wish
from memoryhub.engines.local.grammar.wishes import list_sentences as list_english_sentences
from memoryhub.engines.local.grammar.wishes import may_ask_to_forget as may_ask_in_english
from memoryhub.engines.local.grammar.wishes import may_be_wish as may_be_english_wish
from memoryhub.engines.local.grammar.wishes import strip_wish_frame as strip_english_wish_frame
from memoryhub.engines.local.language import detect_language, detect_read_language
from memoryhub.engines.types import SpeechAct

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

    from memoryhub.engines.local.grammar.clauses import Clause

# What is meant was named before.
_BARE_PRONOUN = re.compile(
    r"\b(?:it|that|this|them|those|that (?:bit|part|one|thing))\b(?=\W*$|[.,!?;]|\W*(?:all|please"
    r"|pls|out|from|off|away|go|gone|entirely|down|now|for|will|would|can)\b)|[它此](?!们|前|后)"
    r"|(?:这|那)(?:个|段|事|件|句|条)?(?:[，。！,]|$)",
    re.I,
)
_TAKES_UP = re.compile(r"\W*(?:it|this)(?:['’]s| is| was)\b", re.I)
_FEW_WORDS = 2  # besides the frame of a wish; of Chinese, characters
# Of a longer message nothing is weighed, and of one the last sentences: each takes its time.
_MOST_JUDGED, _MOST_ASKING = 2000, 8
_MOST_AFTER = 60  # characters that are said after a wish and read with it
_LEADING_WORDS = r"^\W*(?:(?:hey|please|ok|okay|and|also|now|so|actually|oh|well)\b\W*)*"
_SORRY = r"^\W*(?:(?:oh|no|hmm|um|ah)\W+)*(?:sorry|wait|oops)\b"
_CORRECTION = re.compile(
    r"\bi (?:never|didn't|did not) (?:say|said)\b|\bi (?:meant|misspoke|mistyped)\b"
    r"|^\W*correction\b|\bi was wrong\b"
    r"|\bthat(?:'s| is| was) (?:wrong|not right|not what i|incorrect)\b"
    r"|^\W*(?:no\W+|oh\W+|sorry\W+|wait\W+|well\W+)*actually\b.*\bnot\b|\bnot .+\bas i said\b"
    rf"|{_SORRY}(?:.*\bnot\b|\W+(?:i|it|my)\b)",
    re.I,
)
_CONDITIONAL_VERB = r"(?:would|could|might|'d|were|will|'ll|can|may)"
# "if you can believe that" supposes nothing.
_NOT_IF = r"(?! (?:you|u) (?:can|could|must|ask|know|want|like)\b| (?:it|that) (?:matters|helps)\b)"
_HYPOTHETICAL = re.compile(
    r"\b(?:i wish|imagine|what if|suppose|supposing|as if|if only)\b"
    r"|^\W*(?:just )?in case\b(?! (?:you|u|it)\b)"
    r"|^\W*(?:and |but |so )?(?:maybe|perhaps)\b"
    r"|\b(?:i|we) (?:might|may)\b(?! have (?:told|mentioned|said))"
    rf"|\bif\b{_NOT_IF}.*\b{_CONDITIONAL_VERB}\b|\b{_CONDITIONAL_VERB}\b.*\bif\b{_NOT_IF}|^\W*if\b",
    re.I,
)
_EXCLAMATION = r"(?:hey|wow|oh|yeah|yes|aw+|haha|no|so|absolutely|totally|definitely|well|omg|ah)"
# How small talk begins, after exclamations and perhaps a name.
_SMALL_TALK_PHRASES = (
    r"thanks?\b|thank you|congrat|sounds?\b|(?:so )?glad\b|good (?:luck|job|for|to)"
    r"|great (?:job|to)|nice (?:job|to)|well done|way to go"
    r"|keep (?:up|it|going|me|at|on|your|that|pushing|chasing)|go for it"
    r"|you(?:'re| are|'ve| have|'ll| will|r)?\b|it(?:'s| is| was|'ll| will)"
    r"|that(?:'s| is| was|'ll| must| sounds)|this is|take care|bye|see you|(?:i )?hope\b"
    r"|i(?:'m| am)(?: \w+){0,2} (?:proud|glad|happy|thrilled)(?: \w+){0,2} (?:of|for|with) you"
    r"|i(?:'m| am)(?: \w+)? (?:here for|behind|sure|glad|sorry)|wish(?:ing)? you|best of"
    r"|proud of|never give up|don't (?:give|worry|forget|stop)|let(?:'s| me| us)"
    r"|stay(?=\W*$| (?:strong|safe|positive|tuned|well|healthy|warm|true|focused|calm|motivated"
    r"|hydrated|connected|in touch|on track|on top|with it)\b)"
    r"|can't wait|looking forward|no (?:worries|problem|way)|same here|me too"
    r"|i (?:agree|bet|guess|totally|completely|can imagine|can see|can relate)"
    # Not "I get up at five", "I know Greek", "I see him in May".
    r"|i (?:know|see|hear|get)(?=\W*$|[,.!;]| (?:it|that|this|you|what|how|why|where|exactly)\b)"
    r"|i (?:appreciate|admire|believe in)"
)
_SMALL_TALK = re.compile(rf"^\W*(?:{_EXCLAMATION}\b\W*)*(?:\w+\W+)?(?:{_SMALL_TALK_PHRASES})", re.I)
_QUESTION_LEAD = re.compile(
    rf"{_LEADING_WORDS}(?:who|what|what's|where|when|why|how|which|whose|do|does|did|is|are|was|were|can"
    r"|could|would|will|have|has|should)\s+(?:\w+\s+)?(?:you|your|he|she|they|it|the|this|that|i|my"
    r"|we|is|are|do|did|does|was|were)\b"
    # "How many kids do I have", "what kind of music does she like".
    rf"|{_LEADING_WORDS}(?:how (?:many|much)|what|which)(?! an?\b)(?:\s+[\w'’-]+){{1,3}}"
    r"\s+(?:do|does|did|is|are|am|was|were|have|has|had|can|will|would)\s+(?:i|you|he|she|we|they|my|his|her|our"
    r"|their|the)\b",
    re.I,
)
# "Whats my job", "whos my landlord": typed in a hurry, and no more than that.
_HURRIED_QUESTION = re.compile(
    rf"{_LEADING_WORDS}(?:who|what|where|when|how|why)'?s (?!more\b|worse\b)"
    r"[\w'’-]{1,30}(?: [\w'’-]{1,30}){0,6}$",
    re.I,
)
# "I work at Lowtide now, how sick is that??", "I'm engaged???"
_AMAZED = re.compile(r"\bhow \w+ is (?:that|this|it)\W*$|\?\?+!*$|[!?]*\?!+$|!\?+$", re.I)
_TRAILING_MARKS = re.compile(r"[\s\"'”’)\]]+$|[^\w?!.,;:'\"]+$")


def classify_act(sentence: Span) -> SpeechAct:
    """The speech act of one parsed sentence."""
    text = normalise_quotes(sentence.text)
    if find_forget_wish(text, sentence.doc.text) or _belongs_to_wish(sentence):
        return "forget"
    if is_question(text) and not _leaves_out_i(sentence):
        return "question"
    if _HYPOTHETICAL.search(text):
        return "hypothetical"
    if is_imperative(sentence.root):
        return "request"
    has_verb = any(token.pos_ in ("VERB", "AUX") for token in sentence)
    return "chitchat" if is_small_talk(text) or not has_verb else "assertion"


# What is to stay of what was told.
_STAYS = re.compile(
    r"\b(?:bit|part|thing|stuff|rest|one)s?\b[^.!?]{0,20}\b(?:can|may|should) (?:stay|remain)\b",
    re.I,
)
_MOST_NAMED = 100  # characters


def _belongs_to_wish(sentence: Span) -> bool:
    """ "that money business with my brother," before "can you lose it", which names nothing; "the
    choir bit can stay" behind it."""
    doc, text = sentence.doc, sentence.text.rstrip()
    if _STAYS.search(text):
        return bool(find_forget_wish(doc.text))
    if not text.endswith(",") or len(text) > _MOST_NAMED or sentence.end >= len(doc):
        return False
    behind = normalise_quotes(doc[sentence.end].sent.text)
    return _names_nothing(behind, "en") and bool(find_forget_wish(behind, doc.text))


def _leaves_out_i(sentence: Span) -> bool:
    """ "did the marathon in May", which asks nothing: "did" is all of its verb."""
    opens = sentence.root.i == next((t.i for t in sentence if t.is_alpha), -1)
    asks = "?" in sentence.text or any(t.dep_ == "nsubj" for t in sentence.root.children)
    return opens and sentence.root.lower_ in ("did", "had") and not asks


def is_question(text: str) -> bool:
    ended = _TRAILING_MARKS.sub("", normalise_quotes(text))
    opens = bool(_QUESTION_LEAD.match(ended) or _HURRIED_QUESTION.match(ended))
    return ended.endswith("?") or (opens and not ended.endswith((".", "!")))


def classify_plain_act(text: str) -> SpeechAct:
    """The act of a whole message by its words alone, where nobody parses it."""
    sentences = [part for part in re.split(r"(?<=[.!?。！？])\s*|\n+", text) if part.strip()]
    if find_forget_wish(text):
        return "forget"
    if sentences and all(is_question(sentence) for sentence in sentences):
        return "question"
    return "chitchat" if is_small_talk(text) else "assertion"


def find_forget_wish(text: str, around: str = "") -> str:
    """The sentences of a message, English or Chinese, that ask for something told to be forgotten;
    "" for none. `around`: the whole message, where `text` is a part of it."""
    language, message = _read_message(around or text)
    if language == "en":
        text, around = normalise_quotes(text), message
    found = _find_plain_wish(text, around, language)
    if found and not (
        is_unlikely_wish(found, language)
        and is_unlikely_wish(_get_surroundings(found, message), language)
    ):
        return found
    return _find_likely_wish(text, message, language)


def _find_plain_wish(text: str, around: str, language: str) -> str:
    """The sentences that the rules take for a wish; of English, with plain quotes."""
    if language == "zh":
        return chinese_rules.find_forget_wish(text, around)
    return find_english_wish(text, around or text)


def _find_likely_wish(text: str, message: str, language: str) -> str:
    """The sentences with words of a wish, where the message, or what of it stands around them, is
    likely one though no rule says so."""
    if len(message) > _MOST_JUDGED:
        return ""
    if language == "zh":
        split, may_be_wish = chinese_rules.list_sentences, chinese_rules.may_be_wish
    else:
        split, may_be_wish = list_english_sentences, may_be_english_wish
    asking = [each for each in split(text) if may_be_wish(each)][-_MOST_ASKING:]
    return " ".join(
        each
        for each in asking
        if is_likely_wish(_get_surroundings(each, message), language)
        and (len(asking) == 1 or is_likely_wish(each, language))
    )


def extract_wish(text: str) -> str:
    """The sentences of a message that ask for something to be forgotten, with the one before them
    where they only say "it"; all of it where none does."""
    language, message = _read_message(text)
    split = (chinese_rules.list_sentences if language == "zh" else list_english_sentences)(message)
    asking = [at for at, each in enumerate(split) if find_forget_wish(each, message)]
    asking += [at - 1 for at in asking if at and _names_nothing(split[at], language)]
    return " ".join(split[at] for at in sorted({*asking})) or text


def extract_wish_words(text: str) -> str:
    """What a wish to forget says of the thing that is meant, without the words of the wish."""
    return _strip_frame(extract_wish(text), _read_message(text)[0])


def _strip_frame(wish: str, language: str) -> str:
    if language == "zh":
        return chinese_rules.strip_wish_frame(wish)
    return strip_english_wish_frame(normalise_quotes(wish))


def _names_nothing(wish: str, language: str) -> bool:
    words = _strip_frame(wish, language)
    count = len(words) if language == "zh" else len(words.split())
    bare = count <= _FEW_WORDS or _TAKES_UP.match(wish) is not None
    return not words or (bare and _BARE_PRONOUN.search(wish) is not None)


def _get_surroundings(sentence: str, message: str) -> str:
    """With what is said right before it, and a little of what follows."""
    start = message.find(sentence)
    if start < 0:
        return sentence
    end = min(len(message), start + len(sentence) + _MOST_AFTER)
    return message[max(0, end - MAX_CHARACTERS) : end]


@lru_cache(maxsize=2)
def _read_message(text: str) -> tuple[str, str]:
    """Whether it is read as Chinese or as English, "zh" or "en", and its plain words: once for all
    of its sentences."""
    return detect_read_language(text), normalise_quotes(text)


def may_ask_to_forget(text: str) -> bool:
    """Whether a message has the words of a wish to forget, of whatever: less than
    `find_forget_wish` wants, where a model has found a wish."""
    if detect_language(text) == "zh":
        return chinese_rules.may_ask_to_forget(text)
    return may_ask_in_english(normalise_quotes(text))


def asks_to_forget(text: str, around: str = "") -> bool:
    """As `find_forget_wish`."""
    return bool(find_forget_wish(text, around))


def asks_plainly_to_forget(text: str) -> bool:
    """Whether the rules alone hear a wish in it. What a model took for told is not dropped for
    less: "hygiene 4 so leave that off" is of a menu."""
    language, message = _read_message(text)
    return bool(_find_plain_wish(text if language == "zh" else message, "", language))


def is_correction(text: str) -> bool:
    """The speaker takes back or puts right what was said (spec E19)."""
    return bool(_CORRECTION.search(normalise_quotes(text)))


def is_small_talk(text: str) -> bool:
    """Thanks, praise and encouragement: they say little of anybody's life."""
    return bool(_SMALL_TALK.match(normalise_quotes(text)))


def find_small_talk_end(text: str) -> int:
    """Characters of `text` before which nothing is worth reading; 0 when it opens soberly."""
    found = _SMALL_TALK.match(straighten_quotes(text))
    return found.end() if found else 0


def is_imperative(root: Token) -> bool:
    """A bare verb without a subject; "Lost my job" is no order, for it is a past form."""
    opens = root.sent.text.lower().lstrip()
    if (
        opens.startswith(("gonna", "gotta", "wanna"))
        or is_subjectless_liking(root)
        or is_told_bare(root)
    ):
        return False
    if root.tag_ not in ("VB", "VBP") or is_past_form(root.text):
        return False
    return not any(c.dep_ in ("nsubj", "nsubjpass", "csubj", "expl", "aux") for c in root.children)


def is_order(clause: Clause) -> bool:
    """A clause that opens with a bare verb: "keep track please"."""
    return clause.subject is None and is_imperative(clause.head)


def is_stated(clause: Clause, *, alone: bool) -> bool:
    """A clause of a question that is told and not asked: "I got the job, can you believe it?"

    `alone`: it is all of the sentence.
    """
    subject, head = clause.subject, clause.head
    if subject is None:
        return False
    bare = subject.tag_ == "NN" and not any(c.dep_ in ("det", "poss") for c in subject.children)
    if not (subject.lower_ in ("i", "we") or _is_mine(subject) or bare):
        return False
    verbs = [head, *(c for c in head.children if c.dep_ in ("aux", "auxpass"))]
    led = any(t.tag_ in ("WP", "WRB", "WDT", "WP$", "MD") for t in [*head.children, *verbs])
    turned = any(verb.i < subject.i for verb in verbs)
    going_on = head.tag_ in ("VBD", "VBN", "VBG") or _AMAZED.search(head.sent.text) is not None
    return not (led or turned) and (going_on or not alone)


def _is_mine(subject: Token) -> bool:
    return any(c.lower_ in ("my", "our") for c in subject.children if c.dep_ == "poss")


def choose_overall_act(acts: Iterable[SpeechAct]) -> SpeechAct:
    """The act of an utterance: the weightiest of its sentences'."""
    found = set(acts)
    order: tuple[SpeechAct, ...] = ("forget", "assertion", "question", "request", "hypothetical")
    return next((act for act in order if act in found), "chitchat")


def normalise_quotes(text: str) -> str:
    return straighten_quotes(text).strip()


def straighten_quotes(text: str) -> str:
    """Leaves every character in its place."""
    return text.replace("’", "'").replace("‘", "'")
