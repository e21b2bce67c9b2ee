"""What the subject of a space is called where something is written about them (spec E25).

Applications name subjects by ids. An id stands in no sentence: until a name is known they are
"the user", in Chinese 用户.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

THE_USER = "the user"
THE_USER_BY_LANGUAGE = {"zh": "用户"}
PLACEHOLDERS = (THE_USER, *THE_USER_BY_LANGUAGE.values())
MAX_OWNER_LENGTH = 120
_MAX_WORD = 20  # letters: no name has a longer word
_NAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[ .,'’·‧-]){0,199}")
_NO_NAMES = frozenset(
    {
        *("user", "the user", "default", "guest", "anonymous", "unknown", "customer", "client"),
        *("me", "human", "person", "speaker", "sender", "member", "visitor", "caller"),
        *("用户", "客户", "访客", "顾客", "我"),
    }
)
_PART = r"(?:[^\W\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|-)"  # of a word in letters
# Names as accounts are called by them: "ana-ferreira", "ana.f".
_JOINED_NAMES = re.compile(r"([a-z]{3,})(?:[-_.][a-z]+)+")
_CHANGES_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OWNED = re.compile(r"['’]s?(?:\s|$)|的")  # "Ana's sister" is somebody else than Ana
_LONG_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{3,4}")
_MIN_HAN = 2  # characters of a Chinese name that stand for the whole of it: 小雨 for 陈小雨

# Control characters and what breaks a line: a name with them can be neither read nor typed, and
# neither an address nor a header carries it. Of a pattern, in brackets.
HIDDEN_CHARACTERS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029"
_HIDDEN = re.compile(f"[{HIDDEN_CHARACTERS}]")


def has_hidden_characters(name: str) -> bool:
    """Whether nobody new may be named so."""
    return _HIDDEN.search(name) is not None


def reads_like_name(subject: str) -> bool:
    """Whether people may be called so, and not only rows of a database: ("ana"), ("小李") → True,
    ("user_42"), ("a@b.c"), ("46c8c0c1-…") → False."""
    if not _NAME.fullmatch(subject) or subject.casefold() in _NO_NAMES:
        return False
    words = subject.split()
    slug = any(word.count("-") > 2 or len(word) > _MAX_WORD for word in words)
    return not slug and len(_CHANGES_CASE.findall(subject)) < 3


def may_name_one_person(known: str, other: str) -> bool:
    """Whether one name is the other, shortened: ("ana", "Ana Ferreira"), ("petra-novak", "Petra"),
    ("陈小雨", "小雨") → True; ("Ana Silva", "Ana Lopez") → False."""
    if not known.isascii() and not other.isascii():
        return known in other or other in known
    words, others = ({*re.findall(r"[^\W\d_]+", name.casefold())} for name in (known, other))
    return bool(words and others) and (words <= others or others <= words)


def is_same_name(name: str, other: str) -> bool:
    """Whether two names that something is told of may be one person's: ("Ana", "ana"),
    ("Ana", "Ana Ferreira") → True; ("Ana", "Ana's sister"), ("user_1", "user_2") → False."""
    short, long = sorted((name.casefold().strip(), other.casefold().strip()), key=len)
    if short == long:
        return bool(short)
    if any(_OWNED.search(each) or not reads_like_name(each) for each in (short, long)):
        return False
    return (short.isascii() or len(short) >= _MIN_HAN) and may_name_one_person(short, long)


def list_same_names(name: str, known: Iterable[str], called: Collection[str] = ()) -> list[str]:
    """`name`, and those of the `known` that may be the same person's. `called`: what stands for
    the subject, of which each stands for all."""
    own = [name, *(called if any(is_same_name(name, each) for each in called) else ())]
    also = [each for each in known if any(is_same_name(each, mine) for mine in own)]
    return list(dict.fromkeys([*own, *also]))


def list_short_names(name: str) -> list[str]:
    """What somebody of this name is called for short: ("Lucy Ferreira") → ["Lucy", "Ferreira"],
    ("陈小雨") → ["小雨"], ("Lucy"), ("Lucy's sister"), ("the bakery") → []."""
    if _OWNED.search(name) or not reads_like_name(name):
        return []
    words = [w for w in re.findall(r"[^\W\d_]+", name) if w[0].isupper() and w != "The"]
    if len(words) > 1:
        return [words[0], words[-1]]
    return [name[-_MIN_HAN:]] if _LONG_HAN_NAME.fullmatch(name) else []


def get_first_name(name: str) -> str:
    """("Ana Ferreira") → "Ana", ("ana-ferreira") → "ana"; what stands for a name has no first word
    of its own."""
    if name.casefold() in PLACEHOLDERS or not name.split():
        return name
    joined = _JOINED_NAMES.fullmatch(name)
    return joined[1] if joined and joined[1] not in _NO_NAMES else name.split()[0]


def choose_display_name(name: str, subject: str, placeholder: str = "") -> str:
    """How somebody of this name, "" for not known, and of this subject is called; where no name
    is known, by the `placeholder`."""
    if name or reads_like_name(subject):
        return (name or subject)[:MAX_OWNER_LENGTH]
    return placeholder or THE_USER


def list_called_names(shown: str, subject: str, former: Iterable[str] = ()) -> tuple[str, ...]:
    """All that stands for the subject, the name that is `shown` first."""
    return tuple(dict.fromkeys([shown, subject, *former, *PLACEHOLDERS]))


def replace_names(text: str, old: Collection[str], new: str) -> str:
    """`text` with every name of `old` as a word of its own put as `new`: ("The user's cat")."""
    words = sorted(filter(None, old), key=len, reverse=True)
    if not words or not text:
        return text
    plain = [_match_at_sentence_start(word) for word in words if word.isascii()]
    others = [re.escape(w) for w in words if not w.isascii()]
    # Chinese is written without spaces: "zhou住在杭州".
    parts = [rf"(?<!{_PART})(?:{'|'.join(plain)})(?!{_PART})"] if plain else []
    return _capitalise_like(text, re.sub("|".join([*parts, *others]), lambda _: new, text))


def _match_at_sentence_start(name: str) -> str:
    """A name in small letters may stand first in a sentence: "Walker has a cat" of walker."""
    first, rest = name[:1], re.escape(name[1:])
    return f"[{first.upper()}{first}]{rest}" if first.islower() else re.escape(name)


def _capitalise_like(before: str, after: str) -> str:
    """A sentence that began with a capital goes on doing so."""
    opens = before[:1].isupper() and after[:1].islower()
    return after[:1].upper() + after[1:] if opens else after
