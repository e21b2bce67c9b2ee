"""An operator's own prompts: files `<purpose>.<name>.md` in one folder, beside the packaged ones.

The text of a file is read once in a process: calls and events name the file, so another text is
to be another file, as another packaged one is another version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import cache
from pathlib import Path

from memoryhub.engines.llm.packaged_prompts import PROMPT_VERSIONS, Purpose, read_template
from memoryhub.errors import EngineError

MAX_PROMPT_BYTES = 32 * 1024
# With a purpose before it, a name fits into the ledger's column. "v2" would pass for a version.
_PROMPT_NAME = re.compile(r"(?!v\d+$)[a-z0-9][a-z0-9_-]{0,23}")
# The fields of the reply, as prompts list them: "- `from`, `to`: ..." at the start of a line.
_LISTED_FIELDS = re.compile(r"^(?:- )?((?:`\w+`(?:, )?)+):", re.M)
# What repairs a reply belongs to the ladder, and is no purpose that anybody chooses for.
PURPOSES = tuple(purpose for purpose in PROMPT_VERSIONS if purpose != "repair")


@dataclass(frozen=True, slots=True)
class PromptSet:
    """By which instructions each purpose is asked: the packaged ones, but for those of `names`."""

    folder: Path | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def get_version(self, purpose: Purpose) -> str:
        """What calls and events carry: "judge.v1", or "judge.careful"."""
        return f"{purpose}.{self.names.get(purpose) or f'v{PROMPT_VERSIONS[purpose]}'}"

    def get_text(self, purpose: Purpose) -> str:
        """Raises a permanent EngineError that names the file, where there is none to be used."""
        name = self.names.get(purpose)
        return _load_own_prompt(self.folder, purpose, name) if name else read_template(purpose)


@cache  # of what was read: an error is not kept, so a file that is put back is found
def _load_own_prompt(folder: Path | None, purpose: Purpose, name: str) -> str:
    file = f"{purpose}.{name}.md"
    try:
        if folder is None:
            raise ValueError("no folder of prompts is set")
        return _read_prompt_file(folder / file)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"The prompt {file} can't be used: {_format_fault(error)}",
            permanent=True,
            code="prompt_unusable",
        ) from error


def list_own_prompts(folder: Path) -> dict[str, list[str]]:
    """The names there are for each purpose that has any; what can't be used is left out."""
    found: dict[str, list[str]] = {}
    for file in _list_prompt_files(folder):
        if not _find_fault(file):
            purpose, name, _ = file.name.split(".")
            found.setdefault(purpose, []).append(name)
    return found


def find_prompt_faults(folder: Path) -> dict[str, str]:
    """Why files of the folder can't be used, by file. A folder that is not there holds none."""
    said = {file.name: _find_fault(file) for file in _list_prompt_files(folder)}
    return {name: fault for name, fault in said.items() if fault}


def diff_prompt(folder: Path, purpose: Purpose, name: str) -> str:
    """From the packaged prompt to this one, as lines of a diff. Raises EngineError."""
    own = PromptSet(folder, {purpose: name})
    packaged = read_template(purpose).splitlines()
    lines = unified_diff(packaged, own.get_text(purpose).splitlines(), n=1, lineterm="")
    return "\n".join(list(lines)[2:])


def _list_prompt_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.md"))


def _find_fault(file: Path) -> str:
    """Why the file is no prompt; "" if it is one."""
    try:
        _read_prompt_file(file)
    except (OSError, ValueError) as error:
        return _format_fault(error)
    return ""


def _format_fault(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def _read_prompt_file(file: Path) -> str:
    """Raises OSError, or ValueError with what is wrong."""
    purpose, _, name = file.name.removesuffix(".md").partition(".")
    known_purpose = next((each for each in PURPOSES if each == purpose), None)
    if known_purpose is None:
        raise ValueError(f"there is no purpose {purpose!r}; there are: {', '.join(PURPOSES)}")
    if not _PROMPT_NAME.fullmatch(name):
        raise ValueError(
            "its name must be <purpose>.<name>.md, the name up to 24 of a-z, 0-9, - and _, "
            "and no version such as v2"
        )
    with file.open("rb") as opened:
        raw = opened.read(MAX_PROMPT_BYTES + 1)
    if len(raw) > MAX_PROMPT_BYTES:
        raise ValueError(f"it has more than {MAX_PROMPT_BYTES // 1024} KiB")
    text = raw.decode("utf-8")
    missing = [word for word in list_required_words(known_purpose) if not _has_word(text, word)]
    if missing:
        raise ValueError(f"it does not name what is read from the reply: {', '.join(missing)}")
    return text


@cache
def list_required_words(purpose: Purpose) -> tuple[str, ...]:
    """Words that a prompt of this purpose must hold: JSON, which endpoints insist on where they
    are asked for it, and the fields of the reply, which the packaged prompt lists."""
    listed = _LISTED_FIELDS.findall(read_template(purpose))
    names = [name for line in listed for name in re.findall(r"\w+", line)]
    return ("JSON", *dict.fromkeys(names))


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
