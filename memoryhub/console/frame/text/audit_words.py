"""What the audit and the history keep of a change in English, in the reader's language: what set it
off, what it was about and what was told with it."""

from __future__ import annotations

import re

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text.reasons import translate_reason
from memoryhub.console.frame.text.wording import join_list, join_phrases
from memoryhub.pipeline.models import Job

# What sets off an event, where it is no step of the pipeline.
_TRIGGERS = {
    "block": _("a block was edited"),
    "erase": _("an erasure"),
    "import": _("an import"),
    "ingest": _("messages arrived"),
    "manual": _("by hand"),
    "profile": _("the profile was brought in step"),
    "recall": _("a recall"),
    "remember": _("told to remember"),
    "undo": _("an undo"),
    "unseal": _("an erasure was taken back"),
    "window": _("the window moved on"),
}
_STEPS = dict(Job.Step.choices)
_ABOUT = {
    "endpoint": _("endpoint"),
    "endpoint of the hub": _("endpoint of the hub"),
    "engine": _("engine"),
    "everything": _("everything"),
    "name": _("name"),
    "prices of the hub": _("prices of the hub"),
    "quota": _("quota"),
    "second factor": _("second factor"),
}
_WORDS = {
    "admin": _("admin"),
    "all spaces": _("all spaces"),
    "any number": _("any number"),
    "as the settings say": _("as the settings say"),
    "editor": _("editor"),
    "everybody's own choice": _("everybody's own choice"),
    "none": _("none"),
    "one space": _("one space"),
    "read": _("read"),
    "required": _("required"),
    "taken away": _("taken away"),
    "viewer": _("viewer"),
    "with a key": _("with a key"),
    "without a key": _("without a key"),
    "write": _("write"),
}
_SHAPES = (
    (
        re.compile(r"(?P<before>\w+) before, now (?P<after>\w+)"),
        _("%(before)s before, now %(after)s"),
    ),
    (re.compile(r"in place of (?P<old>.+)"), _("in place of %(old)s")),
    (re.compile(r"as (?P<role>\w+)"), _("as %(role)s")),
    (re.compile(r"was (?P<role>\w+)"), _("was %(role)s")),
    (re.compile(r"now (?P<value>.+)"), _("now %(value)s")),
    (re.compile(r"call (?P<id>[0-9a-f-]{36})"), _("call %(id)s")),
    (re.compile(r"(?P<count>[\d,]+) calls?"), _("calls: %(count)s")),
)
_POLICY_TRIGGER = re.compile(r"policy: (?P<switch>.+)")


def format_trigger(trigger: str) -> str:
    """What set an event off, in words."""
    if found := _POLICY_TRIGGER.fullmatch(trigger):
        return gettext("by the policy: %(switch)s") % found.groupdict()
    if trigger in _TRIGGERS:
        return gettext(_TRIGGERS[trigger])
    return str(_STEPS.get(trigger, trigger))


def format_audit_subject(about: str) -> str:
    """What an entry of the audit is about; a name as it is."""
    return gettext(_ABOUT[about]) if about in _ABOUT else _translate_shape(about) or about


def format_audit_detail(detail: str) -> str:
    """What is told with an entry, part by part; what a person or a model wrote as it is."""
    return join_phrases(map(_translate_parts, detail.split("; ")))


def _translate_parts(said: str) -> str:
    """Scopes, and what ends with a word of the program's, are lists."""
    *_, last = parts = said.split(", ")
    if last in _WORDS:
        return join_list(gettext(_WORDS[part]) if part in _WORDS else part for part in parts)
    return _translate_shape(said) or translate_reason(said)


def _translate_shape(said: str) -> str:
    for shape, words in _SHAPES:
        if found := shape.fullmatch(said):
            parts = {
                n: gettext(_WORDS[v]) if v in _WORDS else v for n, v in found.groupdict().items()
            }
            return gettext(words) % parts
    return ""
