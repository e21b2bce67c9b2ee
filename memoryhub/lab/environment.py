"""With what a run was made, as far as it decides the figures: no machine, no user, no path."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.conf import settings

from memoryhub.engines.llm.prompting import VERSIONS, template
from memoryhub.engines.types import Embedder, Engine
from memoryhub.lab.metrics import BUDGETS, CUTS


def hub_version() -> str:
    """Of the package, or of the project it runs from."""
    try:
        return version("memoryhub")
    except PackageNotFoundError:
        file = settings.BASE_DIR / "pyproject.toml"
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def environment(
    writer: Engine, engine: Engine, embedder: Embedder, judge: Engine | None
) -> dict[str, Any]:
    """`writer` derived the memories, `engine` read them and answered, `judge` graded."""
    return {
        "memoryhub": hub_version(),
        "engine": _engine(writer),
        "answers": _engine(engine),
        "embedder": {
            "name": embedder.name,
            "dimension": embedder.dimension,
            "max_tokens": embedder.max_tokens,
        },
        "prompts": {purpose: f"{purpose}.v{number}" for purpose, number in VERSIONS.items()},
        "judge": {**_engine(judge), "prompt": template("grade")} if judge else None,
        "measures": {"recall_at": list(CUTS), "recall_within_tokens": list(BUDGETS)},
        "prices": {
            model: {"prompt": float(price.prompt), "completion": float(price.completion)}
            for model, price in settings.MODEL_PRICES.items()
        },
    }


def _engine(engine: Engine) -> dict[str, Any]:
    model = settings.LLM_MODEL if engine.name == "llm" else ""
    return {"name": engine.name, "version": engine.version, "model": model}
