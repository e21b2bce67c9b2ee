"""What a run is to ask: its options, the questions that they choose, and what it is made with."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.engines.llm.packaged_prompts import PROMPT_VERSIONS, read_template
from memoryhub.engines.types import Engine
from memoryhub.errors import InvalidInput
from memoryhub.inference import selection
from memoryhub.inference.connections import find_hub_connection, load_prices
from memoryhub.lab.datasets.read import count_by_category
from memoryhub.lab.datasets.sample import sample_questions
from memoryhub.lab.datasets.types import Dataset, DatasetQuestion, Dialogue
from memoryhub.lab.metrics.rankings import RECALL_CUTS, TOKEN_BUDGETS
from memoryhub.lab.systems import System, get_systems
from memoryhub.lab.throwaway.replay import cut_dialogue


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is told. `questions` None: all; `categories` empty: all; `answers` empty: the
    engine that derives reads and answers too."""

    presets: tuple[str, ...]
    questions: int | None = None
    categories: tuple[int, ...] = ()
    seed: int = 0
    engine: str = "local"
    answers: str = ""
    judge: str = "off"
    budget_tokens: int = 2000
    limit_conversations: int | None = None
    turns: int | None = None

    @property
    def reader(self) -> str:
        """The engine that reads and answers."""
        return self.answers or self.engine

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> RunOptions:
        """As a run keeps them."""
        lists = {name: tuple(settings[name]) for name in ("presets", "categories")}
        return cls(**{**settings, **lists})


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that is decided before the first question."""

    options: RunOptions
    systems: Sequence[System]
    dialogues: Sequence[Dialogue]
    question_numbers: Mapping[str, Sequence[int]]  # by dialogue, numbers of questions
    writer: Engine
    engine: Engine  # reads and answers
    judge: Engine | None

    @property
    def total(self) -> int:
        return len(self.systems) * sum(map(len, self.question_numbers.values()))


def plan_run(options: RunOptions, dataset: Dataset) -> RunPlan:
    """Raises InvalidInput for unknown presets or no questions, EngineError without an endpoint."""
    systems = get_systems(options.presets)
    writer = selection.get_named_engine(options.engine)
    engine = selection.get_named_engine(options.reader)
    judge = selection.get_named_engine("llm") if options.judge == "llm" else None
    dialogues = [
        cut_dialogue(d, options.turns) for d in dataset.dialogues[: options.limit_conversations]
    ]
    if len({dialogue.name for dialogue in dialogues}) < len(dialogues):
        raise InvalidInput(_("two conversations have the same name"), field="data")
    pairs = sample_questions(
        dialogues, options.questions, categories=options.categories, seed=options.seed
    )
    if not pairs:
        raise InvalidInput(_("there are no questions to ask"), field="questions")
    asked: dict[str, list[int]] = {}
    for name, at in pairs:
        asked.setdefault(name, []).append(at)
    wanted = [dialogue for dialogue in dialogues if dialogue.name in asked]
    return RunPlan(options, systems, wanted, asked, writer, engine, judge)


def describe_dataset(dataset: Dataset, plan: RunPlan) -> dict[str, Any]:
    """The report's part about the data: what there is, and what of it is used."""
    asked = [d.questions[at] for d in plan.dialogues for at in plan.question_numbers[d.name]]
    return {
        "name": dataset.name,
        "format": dataset.form,
        "sha256": dataset.sha256,
        "categories": [asdict(category) for category in dataset.categories],
        "whole": {
            "conversations": len(dataset.dialogues),
            "turns": sum(d.turn_count for d in dataset.dialogues),
            "questions": _count_questions(q for d in dataset.dialogues for q in d.questions),
        },
        "used": {
            "conversations": [d.name for d in plan.dialogues],
            "turns": sum(d.turn_count for d in plan.dialogues),
            "questions": _count_questions(asked),
            "with_evidence": sum(bool(q.evidence) for q in asked),
            "with_answers": sum(bool(q.expected) for q in asked),
        },
    }


def _count_questions(questions: Iterable[DatasetQuestion]) -> dict[str, int]:
    return {str(number): count for number, count in count_by_category(questions).items()}


def describe_environment(plan: RunPlan) -> dict[str, Any]:
    """With what a run was made, as far as it decides the figures: no machine, no user, no path."""
    embedder, judge = selection.get_current_embedder(), plan.judge
    return {
        "memoryhub": _get_hub_version(),
        "engine": _describe_engine(plan.writer),
        "answers": _describe_engine(plan.engine),
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
            for model, price in load_prices().items()
        },
    }


def _get_hub_version() -> str:
    """Of the package, or of the project it runs from."""
    try:
        return version("memoryhub")
    except PackageNotFoundError:
        file = settings.BASE_DIR / "pyproject.toml"
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def _describe_engine(engine: Engine) -> dict[str, Any]:
    model = find_hub_connection().model if engine.name == "llm" else ""
    return {"name": engine.name, "version": engine.version, "model": model}
