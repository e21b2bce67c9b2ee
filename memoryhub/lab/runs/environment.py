"""With what a run was made, as far as it decides the figures: no machine, no user, no path."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.conf import settings

from memoryhub.engines.llm.packaged_prompts import PROMPT_VERSIONS, read_template
from memoryhub.engines.types import Embedder, Engine
from memoryhub.lab.metrics.rankings import RECALL_CUTS, TOKEN_BUDGETS


def get_hub_version() -> str:
    """Of the package, or of the project it runs from."""
    try:
        return version("memoryhub")
    except PackageNotFoundError:
        file = settings.BASE_DIR / "pyproject.toml"
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def describe_environment(
    writer: Engine, engine: Engine, embedder: Embedder, judge: Engine | None
) -> dict[str, Any]:
    """`writer` derived the memories, `engine` read them and answered, `judge` graded."""
    return {
        "memoryhub": get_hub_version(),
        "engine": _describe_engine(writer),
        "answers": _describe_engine(engine),
        "embedder": {
            "name": embedder.name,
            "dimension": embedder.dimension,
            "max_tokens": embedder.max_tokens,
        },
        "prompts": {purpose: f"{purpose}.v{number}" for purpose, number in PROMPT_VERSIONS.items()},
        "judge": {**_describe_engine(judge), "prompt": read_template("grade")} if judge else None,
        "measures": {"recall_at": list(RECALL_CUTS), "recall_within_tokens": list(TOKEN_BUDGETS)},
        "prices": {
            model: {"prompt": float(price.prompt), "completion": float(price.completion)}
            for model, price in settings.MODEL_PRICES.items()
        },
    }


def _describe_engine(engine: Engine) -> dict[str, Any]:
    model = settings.LLM_MODEL if engine.name == "llm" else ""
    return {"name": engine.name, "version": engine.version, "model": model}
