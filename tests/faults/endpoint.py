"""A model endpoint that is unwell, and in how many ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.support.openai_server import OpenAIRequest, WireAnswer
from tests.support.strong_model import StrongModel

_DIMENSION = 64
_ENORMOUS = 64 * 2**20
_LIMITED = '{"error": {"message": "slow down", "type": "rate_limit"}}'


@dataclass
class MoodyModel(StrongModel):
    """Answers by what it is asked and not by turns, so that who asks twice hears the same."""

    dimension: int = _DIMENSION
    mood: str = "well"

    @property
    def env(self) -> dict[str, str]:
        """Of a hub that reads with it, with a time-out that its moods run into."""
        return {
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "any",
            "MEMORYHUB_LLM_MODEL": "scripted",
            "MEMORYHUB_EMBEDDER": "openai",
            "MEMORYHUB_EMBEDDING_MODEL": "scripted",
            "MEMORYHUB_EMBEDDING_DIMENSION": str(_DIMENSION),
            "MEMORYHUB_MODEL_TIMEOUT_SECONDS": "3",
        }

    def answer_request(self, request: OpenAIRequest) -> WireAnswer:
        return spoil(super().answer_request(request), self.mood)


def spoil(answer: WireAnswer, mood: str) -> WireAnswer:
    spoilt: dict[str, dict[str, Any]] = {
        "slow": {"delay": 6.0},
        "dripping": {"drip": 0.5},
        "refusing": {"status": 0},
        "limited": {"status": 429, "text": _LIMITED, "headers": {"Retry-After": "2"}},
        "failing": {"status": 500, "text": "no"},
        "cutting": {"text": answer.text[: len(answer.text) // 2], "is_cut": True},
        "garbage": {"text": "<html>a page of somebody else's"},
        "enormous": {"text": '{"junk": "' + "x" * (_ENORMOUS if mood == "enormous" else 0)},
    }
    return replace(answer, **spoilt.get(mood, {}))
