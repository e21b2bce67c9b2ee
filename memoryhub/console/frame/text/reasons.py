"""Why something was decided or changed, as rows keep it, in the reader's language."""

from __future__ import annotations

import re

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

# What the rules of claims, the steps, corrections and the lab's writers write beside what they do,
# without a full stop.
REASONS = (
    _("a late turn or an erasure"),
    _("a model's word waits for a person"),
    _("a page was read"),
    _("a person has said that this was never so"),
    _("a person may have several of this"),
    _("a person's word stands against it"),
    _("a plan changes nothing yet"),
    _("a plan, said to change what is held"),
    _("a topic came to its end"),
    _("accepted"),
    _("adds to what a person said"),
    _("already held"),
    _("an answer taken back"),
    _("asked for on their page"),
    _("asked to forget"),
    _("asked to forget, 1 memory found that it may mean"),
    _("asked to forget; which memory is meant is to be chosen"),
    _("both are so, by a model's word"),
    _("both may be so"),
    _("both may be so, as a person has set"),
    _("brought back what had been undone"),
    _("by hand"),
    _("by its own tool"),
    _("chosen in a list"),
    _("contradicted: closed, and nothing put in its place"),
    _("contradicted: taken out"),
    _("contradicts what a person said"),
    _("contradicts what is held: both are kept"),
    _("contradicts what was held, and is newer"),
    _("corrected"),
    _("denied by someone whose word can't end this"),
    _("denies something not held"),
    _("described"),
    _("ended"),
    _("ends something, and nobody says what"),
    _("enough was said since"),
    _("forgotten"),
    _("forgotten in the chat"),
    _("found to be one"),
    _("golden question changed"),
    _("golden question saved"),
    _("golden question taken away"),
    _("it may end one of several claims"),
    _("its exchange told too much already"),
    _("its time is over"),
    _("its turn ended too much already"),
    _("kept as it came"),
    _("kept beside what is held"),
    _("kept in the archive"),
    _("kept word by word"),
    _("left the window"),
    _("left with it"),
    _("linked with what it belongs to"),
    _("may contradict what is held"),
    _("merged"),
    _("new"),
    _("no longer so"),
    _("no longer so, says the person it is about"),
    _("no message says it"),
    _("not right, says the person it is about"),
    _("not to be forgotten, says the person"),
    _("nothing is left of what it covered"),
    _("nothing is left of what it told"),
    _("only one can be so at a time, and this is newer"),
    _("outlived"),
    _("over already, since nobody says when"),
    _("over by now: it ended nothing that holds"),
    _("over: what it names"),
    _("over: engaged, then married"),
    _("a higher level"),
    _("pinned"),
    _("put right"),
    _("quality"),
    _("reads like an instruction, not like a claim"),
    _("recalled while dormant"),
    _("rejected"),
    _("restored"),
    _("retracted"),
    _("said before in the same words"),
    _("said in the dialogue"),
    _("said later of the same time"),
    _("said of somebody else"),
    _("saved by the agent"),
    _("says more of the same"),
    _("says the opposite, and was taken for more of the same"),
    _("says the opposite, and was taken for the same"),
    _("says the person it is about"),
    _("says the same in other words"),
    _("set by hand"),
    _("so after all, says the person"),
    _("so again"),
    _("somebody else may go by the name that was put right"),
    _("something was said later that belongs to it"),
    _("summed up anew"),
    _("taken back by the person it is about"),
    _("taken back: it was never so"),
    _("the agent's first blocks"),
    _("the conversation went on"),
    _("the exchange went on"),
    _("the facts it mirrors changed"),
    _("the name was put right"),
    _("the name was put right in another claim"),
    _("the rest of what is held may be so"),
    _("the same on another occasion"),
    _("the speaker corrected it"),
    _("the subject's name"),
    _("Returned to the setting before any version"),
    _("the words it rests on do not say it"),
    _("the words it rests on were not found"),
    _("They say much the same"),
    _("to be forgotten, says the person it is about"),
    _("told of what somebody else says"),
    _("too many segments in reach"),
    _("traits or profile changed"),
    _("unpinned"),
    _("updated by the agent"),
    _("warm enough to be kept at hand"),
    _("was denied before it came to be so"),
    _("was not predicted"),
    _("was so before what is known since"),
    _("written by hand"),
)
# What is written with something of the case in it.
_SHAPES = (
    (re.compile(r"of (?P<level>low|medium|high) risk: (?P<why>.+)"), _("%(level)s risk: %(why)s")),
    (
        re.compile(r"said by (?P<role>\w+), whose words are data"),
        _("said by %(role)s, whose words are data"),
    ),
    (
        re.compile(r"asked to forget, (?P<count>\d+) memories found that it may mean"),
        _("asked to forget, %(count)s memories found that it may mean"),
    ),
    (re.compile(r"faded by the curve, mode (?P<mode>\w+)"), _("faded by the curve (%(mode)s)")),
    # Notes that belong together, why each of them grew, and what is said of a link.
    (re.compile(r"“(?P<text>.+)”: (?P<why>.+)"), _("“%(text)s”: %(why)s")),
    (re.compile(r"Both speak of (?P<words>.+)"), _("Both speak of %(words)s")),
    # What an undo, a rule, a trial and a setting did.
    (
        re.compile(r"took back: (?P<what>[^()]+) \((?P<why>.+)\)"),
        _("took back: %(what)s (%(why)s)"),
    ),
    (re.compile(r"took back: (?P<what>[^()]+)"), _("took back: %(what)s")),
    (
        re.compile(r"by a rule of (?P<person>[^:]+): (?P<why>.+)"),
        _("by a rule of %(person)s: %(why)s"),
    ),
    (re.compile(r"by a rule of (?P<person>[^:]+)"), _("by a rule of %(person)s")),
    (re.compile(r"tried on (?P<count>\d+) test questions"), _("tried on %(count)s test questions")),
    (re.compile(r"Returned to version (?P<number>\d+)"), _("Returned to version %(number)s")),
    (
        re.compile(r"(?P<key>\w+): (?P<what>one value|several values|automatic)"),
        _("%(key)s: %(what)s"),
    ),
    # Why a person is asked, and what would have been done.
    (
        re.compile(rf"(?P<doubt>{'|'.join(map(re.escape, REASONS))}): (?P<why>.+)"),
        _("%(doubt)s: %(why)s"),
    ),
    # How sure the rules of claims are, and by which words.
    (
        re.compile(r"(?P<why>[^()]+) \((?P<sure>\d+ % (?:about the same|that its message).+)\)"),
        _("%(why)s (%(sure)s)"),
    ),
    (
        re.compile(r"(?P<sure>\d+ % .+); against it: (?P<words>[^;]+)"),
        _("%(sure)s; said against it: “%(words)s”"),
    ),
    (
        re.compile(r"(?P<sure>\d+ % .+); for it: (?P<words>[^;]+)"),
        _("%(sure)s; said for it: “%(words)s”"),
    ),
    (
        re.compile(r"(?P<same>\d+) % about the same, (?P<ends>\d+) % that it ends it"),
        _(
            "%(same)s %% sure that both are about the same thing, "
            "%(ends)s %% that the new one ends the old one"
        ),
    ),
    (
        re.compile(r"(?P<ends>\d+) % that its message ends it"),
        _("%(ends)s %% sure that the message as a whole ends the old one"),
    ),
    (re.compile(r"(?P<why>[^()]+) \((?P<told>.+)\)"), _("%(why)s (%(told)s)")),
)
_WORDS_WITHIN = {"doubt", "level", "why", "role", "sure", "what"}


def translate_reason(said: str) -> str:
    """The program's own words in the reader's language; what people and models wrote as it is."""
    return "\n".join(map(_translate_line, said.split("\n")))


def _translate_line(said: str) -> str:
    if said in REASONS:
        return gettext(said)
    for shape, words in _SHAPES:
        if found := shape.fullmatch(said):
            parts = {
                name: translate_reason(part) if name in _WORDS_WITHIN else part
                for name, part in found.groupdict().items()
            }
            return gettext(words) % parts
    return gettext(said) if said else ""
