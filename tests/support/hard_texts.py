"""Texts that are hard to read: what a careless expression or a parser takes quadratic time for.

`python -m tests.support.hard_texts 50000` tells how many seconds the local engine takes for each,
slowest last; a process each, ended after `LONGEST` seconds.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

LONGEST = 60.0


def repeat(piece: str, *, first: str = "", last: str = "") -> Callable[[int], str]:
    """Builds a text of so many characters out of one piece."""

    def build(size: int) -> str:
        inner = size - len(first) - len(last)
        return first + (piece * (inner // len(piece) + 1))[:inner] + last

    return build


HARD_TEXTS: Mapping[str, Callable[[int], str]] = {
    "spaces between words": repeat(" ", first="I like", last="tea"),
    "a question of one long word": repeat("a", first="whats ", last="!x,"),
    "names in hyphens": repeat("A-", first="two kids, ", last=" in A so"),
    "places that lead nowhere": repeat("in Ada so "),
    "tabs": repeat("\t", first="I like", last="tea"),
    "lines": repeat("\n", first="I like", last="tea"),
    "carriage returns": repeat("\r\n", first="I like", last="tea"),
    "wide spaces": repeat("\u3000", first="我喜欢", last="茶"),
    "narrow spaces": repeat("\u00a0", first="I like", last="tea"),
    "no letters at all": repeat(" "),
    "double quotes": repeat('"'),
    "single quotes": repeat("'"),
    "curly quotes": repeat("“”"),
    "quotes after a word": repeat('"', first="I like tea"),
    "quotes before a word": repeat('"', last="tea I like"),
    "apostrophes": repeat("I'm "),
    "contractions": repeat("'s"),
    "full stops": repeat("."),
    "dots after a word": repeat(".", first="I like tea"),
    "dots between letters": repeat("a."),
    "commas": repeat(","),
    "commas between words": repeat("tea, ", first="I like "),
    "and between words": repeat("tea and ", first="I like "),
    "hyphens": repeat("-", first="I like", last="tea"),
    "hyphens between words": repeat("tea-", first="I like "),
    "underscores": repeat("_"),
    "brackets open": repeat("(", first="I like tea "),
    "brackets close": repeat(")", first="I like tea "),
    "square brackets": repeat("[", first="I like tea "),
    "angle brackets": repeat("<", first="I like tea "),
    "memory blocks open": repeat("<memory>"),
    "one word": repeat("a"),
    "one long word": repeat("tea", first="I like "),
    "capitals": repeat("A", first="I like "),
    "capital words": repeat("Mira Sol "),
    "digits": repeat("1", first="I was born in "),
    "numbers": repeat("1 "),
    "dates": repeat("12/12/2024 "),
    "relative dates": repeat("last week "),
    "times": repeat("10:30 "),
    "weekdays": repeat("on Monday ", first="I work "),
    "a sentence": repeat("I like tea. "),
    "a sentence without stops": repeat("I like tea "),
    "sentences on lines": repeat("I like tea\n"),
    "questions": repeat("Do I like tea? "),
    "denials": repeat("I do not like tea any more. "),
    "corrections": repeat("No, I mean tea. "),
    "wishes": repeat("Please forget that I like tea. "),
    "not not": repeat("not ", first="I do "),
    "very very": repeat("very ", first="I am a ", last="old cook"),
    "that that": repeat("that ", first="I know "),
    "of of": repeat("of the friend ", first="I am a friend "),
    "my my": repeat("my sister's ", first="I like ", last="tea"),
    "who who": repeat("who knows a man ", first="I know a man "),
    "if if": repeat("if I like tea and "),
    "because": repeat("because I like tea "),
    "I I": repeat("I "),
    "is is": repeat("is ", first="My name "),
    "mail addresses": repeat("a@"),
    "addresses": repeat("http://a.a/"),
    "slashes": repeat("/", first="I like", last="tea"),
    "emoji": repeat("😀"),
    "joined emoji": repeat("👩\u200d"),
    "combining marks": repeat("\u0301", first="I like te"),
    "hidden characters": repeat("\u200b", first="I like", last="tea"),
    "JSON": repeat('{"a":['),
    "Markdown": repeat("**", first="I like ", last="tea"),
    "headings": repeat("# "),
    "tables": repeat("| "),
    "backticks": repeat("`"),
    "Chinese sentence": repeat("我喜欢喝茶。"),
    "Chinese without stops": repeat("我喜欢喝茶"),
    "Chinese commas": repeat("茶，", first="我喜欢"),
    "Chinese enumeration": repeat("茶、", first="我喜欢"),
    "Chinese one character": repeat("我"),
    "Chinese of of": repeat("朋友的", first="我是", last="朋友"),
    "Chinese not": repeat("不", first="我", last="喜欢茶"),
    "Chinese quotes": repeat("「", first="我喜欢"),
    "Chinese dates": repeat("昨天"),
    "Chinese wishes": repeat("请忘记我喜欢茶。"),
    "mixed": repeat("我like喜欢tea "),
    "Cyrillic": repeat("Я люблю чай. "),
    "Arabic": repeat("أحب الشاي. "),
}


def read_text(text: str) -> None:
    """What a text of a user goes through before anything is compared."""
    from memoryhub.engines.local.engine import LocalEngine
    from memoryhub.engines.types import Exchange, Utterance

    at = datetime(2026, 1, 1, tzinfo=UTC)
    utterance = Utterance(handle="u1", speaker="user", role="user", text=text, at=at)
    LocalEngine().extract_memories([Exchange((utterance,), participants=("user",))])


def main(size: int) -> None:
    read_text("I like tea. 我喜欢茶。")  # what is loaded once
    forking = multiprocessing.get_context("fork")
    taken = {}
    for name, build in HARD_TEXTS.items():
        process = forking.Process(target=read_text, args=(build(size),))
        began = time.monotonic()
        process.start()
        process.join(LONGEST)
        if process.is_alive():
            process.kill()
            process.join()
        taken[name] = time.monotonic() - began
        print(f"{taken[name]:6.1f} {name}{' FAILED' if process.exitcode else ''}", flush=True)
    print("---")
    for name, seconds in sorted(taken.items(), key=lambda pair: pair[1]):
        print(f"{seconds:6.1f} s  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
