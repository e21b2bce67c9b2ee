"""`manage.py lab …`: measuring the hub on public dialogue sets, in throw-away tenants."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError

from memoryhub.engines.local.chinese.judgements import JUDGEMENTS_FILE as CHINESE_JUDGEMENTS_FILE
from memoryhub.engines.local.claims.judgements import JUDGEMENTS_FILE
from memoryhub.engines.local.comparison.deciders import write_deciders
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.errors import MemoryHubError
from memoryhub.inference.selection import get_current_embedder
from memoryhub.lab.datasets.read import read_dataset, read_dataset_dialogues
from memoryhub.lab.measurements.derivation import measure_derivation
from memoryhub.lab.measurements.retrieval import measure_retrieval
from memoryhub.lab.models import LabRun
from memoryhub.lab.reports import tables
from memoryhub.lab.runs.execute import resume_run, start_run
from memoryhub.lab.runs.plan import RunOptions
from memoryhub.lab.systems import SYSTEMS
from memoryhub.lab.throwaway.tenants import delete_abandoned_tenants
from memoryhub.lab.truth.dialogues import HALVES, TruthDialogue, load_dialogues
from memoryhub.lab.truth.everyday import ask_dialogue
from memoryhub.lab.truth.junk import write_samples
from memoryhub.lab.truth.measure import measure_dialogue
from memoryhub.lab.truth.run import derive_samples, measure_dialogues, measure_readings
from memoryhub.policies.schema import RerankMode
from memoryhub.recall.ranking import weights
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import create_tenant, find_tenant

DATA_HELP = "a LoCoMo, LongMemEval or MemoryBank JSON file"
# Who owns runs of a hub without a demo.
OWNER, DEMO = "lab", "demo"


class Command(BaseCommand):
    help = "Measure the hub on LoCoMo, LongMemEval or MemoryBank data, in throw-away tenants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        recall = actions.add_parser("recall", help="evidence recall, nDCG, tokens and latency")
        recall.add_argument("path", type=Path, help=DATA_HELP)
        recall.add_argument(
            "--turns-only", action="store_true", help="index turns only, derive no facts: faster"
        )
        recall.add_argument(
            "--rerank", choices=get_args(RerankMode), help="measure once more with this reranker"
        )
        _add_common_arguments(recall)

        made = actions.add_parser("derive", help="what the write path makes of a dialogue")
        made.add_argument("path", type=Path, help=DATA_HELP)
        made.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)
        made.add_argument("--preset", default="balanced")
        made.add_argument("--turns", type=int, metavar="N", help="of each conversation, at most")
        _add_common_arguments(made)

        for name, told in (
            ("reading", "what the local engine reads of dialogues, before anything is decided"),
            ("truth", "what is held after dialogues in which what is true changes"),
            ("everyday", "questions as people type them, after such dialogues"),
        ):
            measured = actions.add_parser(name, help=told)
            _add_truth_arguments(measured, derives=name != "reading")
            measured.add_argument("--failures", action="store_true", help="print each in words")
            _add_json_argument(measured)

        junk = actions.add_parser("junk", help="a sample of what is derived, to be read by eye")
        _add_truth_arguments(junk, derives=True)
        junk.add_argument("--out", type=Path, required=True, metavar="FILE")

        judged = actions.add_parser(
            "train-reading", help="learn what is worth keeping of what people say, and what ended"
        )
        judged.add_argument("path", type=Path, help="a folder of dialogues with updates")
        judged.add_argument("--authors", type=_parse_names, default=(), metavar="A,B")
        _add_lessons_argument(judged)
        judged.add_argument("--language", choices=("en", "zh"), default="en")
        judged.add_argument("--out", type=Path, metavar="FILE", help="default: where it is read")
        judged.add_argument("--on", default="", metavar="DATE", help="written into the file")

        trained = actions.add_parser("train", help="learn what a search's signals are worth")
        trained.add_argument("--data", type=Path, required=True, help=DATA_HELP)
        trained.add_argument(
            "--conversations", type=_parse_names, required=True, metavar="A,B", help="to learn from"
        )
        trained.add_argument(
            "--everyday", type=Path, metavar="FOLDER", help="learn from everyday questions too"
        )
        trained.add_argument("--out", type=Path, required=True, metavar="FILE")
        trained.add_argument("--on", default="", metavar="DATE", help="written into the file")

        told = "learn from dialogues with readings what new claims do to those held"
        deciders = actions.add_parser("train-deciders", help=told)
        deciders.add_argument("path", type=Path, help="a folder of such dialogues")
        deciders.add_argument("--authors", type=_parse_names, default=(), metavar="A,B")
        _add_lessons_argument(deciders)
        deciders.add_argument(
            "--quiet",
            type=_parse_names,
            default=(),
            metavar="FILE,FILE",
            help=f"{DATA_HELP}: talk in which hardly anything is taken back",
        )
        deciders.add_argument(
            "--without",
            type=_parse_names,
            default=(),
            metavar="A,B",
            help="authors that what reads changes has learned from, such as en-l",
        )
        deciders.add_argument("--out", type=Path, required=True, metavar="FILE")

        decider = actions.add_parser("train-answers", help="learn which memory answers a question")
        decider.add_argument("path", type=Path, help="a folder of dialogues (benchmarks/truth)")
        _add_lessons_argument(decider)
        decider.add_argument(
            "--only",
            type=_parse_names,
            default=(),
            metavar="A,B",
            help="authors that what reads has not learned from, such as en-s",
        )
        decider.add_argument("--out", type=Path, required=True, metavar="FILE")
        decider.add_argument("--on", default="", metavar="DATE", help="written into the file")

        told = "learn vectors of Chinese words from questions and what answers them"
        spelt = actions.add_parser("train-words", help=told)
        spelt.add_argument("path", type=Path, help="a folder of such questions (benchmarks/asked)")
        spelt.add_argument(
            "--words", type=Path, required=True, metavar="FILE", help="words to know, one a line"
        )
        spelt.add_argument(
            "--without", type=_parse_names, default=(), metavar="A,B", help="authors to measure by"
        )
        spelt.add_argument("--out", type=Path, required=True, metavar="FILE")

        told = "learn how questions are read from questions and what answers them"
        read = actions.add_parser("train-questions", help=told)
        read.add_argument("path", type=Path, help="a folder of such questions (benchmarks/asked)")
        read.add_argument("--out", type=Path, required=True, metavar="FILE")

        told = "learn how sure it is that a text answers a question, from questions and dialogues"
        pairs = actions.add_parser("train-reader", help=told)
        pairs.add_argument(
            "path", type=Path, nargs="+", help="folders of dialogues (benchmarks/questions …)"
        )
        pairs.add_argument(
            "--asked",
            type=Path,
            required=True,
            metavar="FOLDER",
            help="questions asked of messages",
        )
        pairs.add_argument(
            "--without",
            type=_parse_names,
            default=(),
            metavar="A,B",
            help="authors to keep apart, such as en-s: what reads learns nothing of them",
        )
        pairs.add_argument(
            "--found",
            action="store_true",
            help="learn as well from what a search finds in dialogues of these folders",
        )
        pairs.add_argument(
            "--further",
            type=Path,
            nargs="+",
            default=(),
            metavar="FOLDER",
            help="go on with what the hub reads by: learn from these, all of them, and some of "
            "the rest",
        )
        pairs.add_argument("--out", type=Path, required=True, metavar="FILE")

        told = "learn how sure it is that what is told ends a claim held, from lives and dialogues"
        changes = actions.add_parser("train-changes", help=told)
        changes.add_argument("path", type=Path, help="a folder of lives (benchmarks/changes)")
        changes.add_argument(
            "--dialogues",
            type=Path,
            nargs="*",
            default=(),
            metavar="FOLDER",
            help="folders of dialogues with readings",
        )
        changes.add_argument(
            "--without", type=_parse_names, default=(), metavar="A,B", help="authors to keep apart"
        )
        changes.add_argument(
            "--further",
            type=_parse_names,
            default=(),
            metavar="A,B",
            help="go on with what the hub reads by, whose lives these authors' come to",
        )
        changes.add_argument("--out", type=Path, required=True, metavar="FILE")

        told = "learn which claim held a message in whole most likely ends, from lives"
        messages = actions.add_parser("train-messages", help=told)
        messages.add_argument("path", type=Path, help="a folder of lives (benchmarks/changes)")
        messages.add_argument(
            "--only",
            type=_parse_names,
            required=True,
            metavar="A,B",
            help="authors to learn from: those that what reads changes has not learned from",
        )
        messages.add_argument("--out", type=Path, metavar="FILE", help="default: where it is read")

        told = "learn how sure it is that a claim is what a wish to forget means"
        wish_reader = actions.add_parser("train-wish-reader", help=told)
        told = "learn what asks for something told to be forgotten, and which claims that means"
        wishes = actions.add_parser("train-wishes", help=told)
        for made in (wish_reader, wishes):
            made.add_argument("path", type=Path, help="a folder of scenes (benchmarks/wishes)")
            made.add_argument(
                "--without",
                type=_parse_names,
                default=(),
                metavar="A,B",
                help="authors to keep apart",
            )
        wish_reader.add_argument(
            "--further", action="store_true", help="go on with what wishes are read by"
        )
        wish_reader.add_argument("--out", type=Path, required=True, metavar="FILE")
        wishes.add_argument(
            "--asked",
            type=Path,
            required=True,
            metavar="FOLDER",
            help="messages that questions are asked of, and none of which is a wish",
        )
        wishes.add_argument(
            "--unread",
            type=_parse_names,
            required=True,
            metavar="A,B",
            help="authors whose scenes the reader of wishes has not learned from",
        )
        wishes.add_argument("--out", type=Path, metavar="FOLDER", help="default: where it is read")

        compared = actions.add_parser("run", help="presets side by side on the same questions")
        _add_run_arguments(compared)
        actions.add_parser("sweep", help="delete what measurements that were killed left behind")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = getattr(self, f"_{options['action'].replace('-', '_')}")(options)
        except MemoryHubError as error:
            raise CommandError(error.message) from error
        if report is not None and options.get("json"):
            text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
            options["json"].write_text(text, encoding="utf-8")

    def _recall(self, options: dict[str, Any]) -> dict[str, Any]:
        dialogues = read_dataset_dialogues(options["path"])[: options["limit_conversations"]]
        derives = not options["turns_only"]
        report = measure_retrieval(
            dialogues, derive=derives, progress=self.stderr.write, rerank=options["rerank"]
        ).to_dict()
        self._print_lines(tables.format_retrieval_report(report))
        return report

    def _derive(self, options: dict[str, Any]) -> dict[str, Any]:
        report = measure_derivation(
            read_dataset_dialogues(options["path"])[: options["limit_conversations"]],
            engine=options["engine"],
            preset=options["preset"],
            most_turns=options["turns"],
            progress=self.stderr.write,
        ).to_dict()
        self._print_lines(tables.format_derivation_report(report))
        return report

    def _reading(self, options: dict[str, Any]) -> dict[str, Any]:
        report = measure_readings(_load_chosen_dialogues(options), LocalEngine()).to_dict()
        self._print_lines(tables.format_truth_report(report, with_failures=options["failures"]))
        return report

    def _junk(self, options: dict[str, Any]) -> None:
        drawn = derive_samples(
            _load_chosen_dialogues(options),
            engine=options["engine"],
            preset=options["preset"],
            progress=self.stderr.write,
        )
        counted = write_samples(options["out"], drawn)
        self._print_lines(f"{what:20}{number:6}" for what, number in sorted(counted.items()))

    def _truth(self, options: dict[str, Any]) -> dict[str, Any]:
        measure = measure_dialogue if options["action"] == "truth" else ask_dialogue
        report = measure_dialogues(
            _load_chosen_dialogues(options),
            measure,
            engine=options["engine"],
            preset=options["preset"],
            progress=self.stderr.write,
        ).to_dict()
        self._print_lines(tables.format_truth_report(report, with_failures=options["failures"]))
        return report

    _everyday = _truth

    def _train_reading(self, options: dict[str, Any]) -> None:
        # Here and below: learning takes a second to import, which other commands need not wait.
        from memoryhub.lab.training.chinese.statements import train_chinese_judgements
        from memoryhub.lab.training.judgements import write_judgements
        from memoryhub.lab.training.statements import train_judgements

        language = options["language"]
        dialogues = [d for d in _load_learned_dialogues(options) if d.language == language]
        if language == "zh":
            train, shipped = train_chinese_judgements, CHINESE_JUDGEMENTS_FILE
        else:
            train, shipped = train_judgements, JUDGEMENTS_FILE
        made = train(dialogues, options["on"])
        write_judgements(made, options["out"] or shipped)
        self._print_lines(f"{name:8}{made[name]['scores']}" for name in ("worth", "ended"))

    def _train(self, options: dict[str, Any]) -> None:
        from memoryhub.lab.training.train import train_weights

        told = {"on": options["on"], "progress": self.stderr.write}
        if options["everyday"]:
            told["everyday"] = load_dialogues(options["everyday"], HALVES["development"])
        made = train_weights(read_dataset(options["data"]), options["conversations"], **told)
        weights.write_weights(options["out"], made)
        self._print_lines(f"{name:10}{value:8.3f}" for name, value in made.weights)
        self._print_lines(f"{name:14}{value:.3f}" for name, value in made.trained.recall.items())

    def _train_deciders(self, options: dict[str, Any]) -> None:
        from memoryhub.lab.training.deciders import train_pair_deciders

        dialogues = _load_learned_dialogues(options)
        quiet = [each for name in options["quiet"] for each in read_dataset_dialogues(Path(name))]
        embedder, told = get_current_embedder(), self.stderr.write
        made = train_pair_deciders(dialogues, LocalEngine(), embedder, quiet=quiet, progress=told)
        write_deciders(options["out"], made)
        for language, decider in made.deciders.items():
            self._print_lines([f"{language}: acts from {decider.act}, asks from {decider.ask}"])
            self._print_lines(f"  {name:26}{value:9.3f}" for name, value in decider.scores.items())

    def _train_answers(self, options: dict[str, Any]) -> None:
        from memoryhub.lab.training.answers import train_decider

        dialogues = _load_learned_dialogues(options)
        made = train_decider(dialogues, on=options["on"], progress=self.stderr.write)
        options["out"].write_text(made.model_dump_json() + "\n", encoding="utf-8")
        for language, measured in made.trained.left_out.items():
            self._print_lines(f"{language} {name:10}{v:8.3f}" for name, v in measured.items())

    def _train_words(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.embedding.chinese import write_words
        from memoryhub.lab.training.asked import load_asked
        from memoryhub.lab.training.chinese import words

        known = options["words"].read_text(encoding="utf-8").split()
        vectors = words.embed_words(known, get_current_embedder())
        left_out, told = options["without"], self.stderr.write
        made = words.train_words(load_asked(options["path"], "zh", left_out), known, vectors, told)
        write_words(options["out"], made)
        for author in left_out:
            own = load_asked(options["path"] / author, "zh")
            self._print_lines(
                f"{author:8}{k:10}{v:.3f}" for k, v in words.measure_words(made, own).items()
            )

    def _train_questions(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.embedding.minilm_graph import build_graph
        from memoryhub.lab.training.asked import load_asked
        from memoryhub.lab.training.questions import train_question_biases

        made = train_question_biases(load_asked(options["path"], "en"), self.stderr.write)
        options["out"].write_bytes(build_graph(made).SerializeToString(deterministic=True))

    def _train_reader(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.embedding.minilm_graph import build_pairs_graph, read_pairs_graph
        from memoryhub.engines.reranking.packaged import PAIRS_GRAPH_FILE
        from memoryhub.lab.training import reader
        from memoryhub.lab.training.asked import load_asked

        def read_folders(
            folders: Sequence[Path], *, found: bool, without: Sequence[str] = ()
        ) -> list[reader.ReadQuestion]:
            dialogues = [
                each
                for folder in folders
                for each in load_dialogues(folder)
                if each.author not in HALVES["test"]
                and f"{each.language}-{each.author}" not in without
            ]
            told = [q for each in dialogues for q in reader.read_dialogue_questions(each)]
            told += [q for each in dialogues for q in reader.read_successions(each)]
            if found:
                told += reader.find_dialogue_questions(dialogues, self.stderr.write)
            return told

        left_out, further = options["without"], options["further"]
        questions = [
            question
            for language in ("en", "zh")
            for question in reader.read_asked(load_asked(options["asked"], language, left_out))
        ]
        found = options["found"]
        questions += read_folders(options["path"], found=found and not further, without=left_out)
        start, rounds = None, None
        if further:
            new = read_folders(further, found=found)
            questions = reader.choose_further_questions(new, questions)
            start, rounds = read_pairs_graph(PAIRS_GRAPH_FILE), reader.FURTHER_ROUNDS
        made = reader.train_pair_reading(
            questions, get_current_embedder(), self.stderr.write, start, rounds=rounds
        )
        options["out"].write_bytes(build_pairs_graph(made).SerializeToString(deterministic=True))

    def _train_changes(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.embedding.minilm_graph import build_pairs_graph, read_pairs_graph
        from memoryhub.engines.local.comparison.reading import CHANGES_GRAPH_FILE
        from memoryhub.engines.reranking.packaged import PAIRS_GRAPH_FILE
        from memoryhub.lab.training import changes
        from memoryhub.lab.training.claim_pairs import build_pair_groups
        from memoryhub.lab.training.reader import train_pair_reading

        path, without, further = (options[name] for name in ("path", "without", "further"))
        embedder, told = get_current_embedder(), self.stderr.write
        if further:
            new = changes.load_lives(path, without, only=further)
            known = changes.load_lives(path, (*without, *further))
            questions = changes.choose_further_questions(new, known)
            start, pace = read_pairs_graph(CHANGES_GRAPH_FILE), changes.FURTHER_PACE
        else:
            dialogues = [
                each
                for folder in options["dialogues"]
                for each in load_dialogues(folder)
                if each.author not in HALVES["test"]
            ]
            groups = build_pair_groups(dialogues, LocalEngine())
            questions = changes.choose_questions(changes.load_lives(path, without), groups)
            # What reads questions and answers knows much of it already.
            start, pace = read_pairs_graph(PAIRS_GRAPH_FILE), changes.PACE
        made = train_pair_reading(
            questions, embedder, told, start, rounds=changes.ROUNDS, pace=pace
        )
        options["out"].write_bytes(build_pairs_graph(made).SerializeToString(deterministic=True))

    def _train_messages(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.local.comparison.messages import (
            DECIDERS_PATH,
            write_message_deciders,
        )
        from memoryhub.lab.training.changes import load_lives
        from memoryhub.lab.training.message_ends import train_message_decider

        lives = {author: load_lives(options["path"], only=[author]) for author in options["only"]}
        made = {}
        for language in ("en", "zh"):
            own = {a: told for a, told in lives.items() if told and told[0].language == language}
            if own:
                made[language] = train_message_decider(own, LocalEngine(), get_current_embedder())
                self.stdout.write(f"{language}: {dict(made[language].scores)}")
        write_message_deciders(options["out"] or DECIDERS_PATH, made)

    def _train_wish_reader(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.embedding.minilm_graph import build_pairs_graph, read_pairs_graph
        from memoryhub.engines.local.comparison.forget import WISHES_GRAPH_FILE
        from memoryhub.engines.reranking.packaged import PAIRS_GRAPH_FILE
        from memoryhub.lab.training import meant_claims, reader, wishes

        path, without = options["path"], options["without"]
        scenes = wishes.load_scenes(path, without)
        claims = meant_claims.read_claims(scenes, LocalEngine())
        questions = list(
            meant_claims.read_wishes(scenes, claims, wishes.load_messages(path, without))
        )
        self.stderr.write(f"{len(questions)} wishes and other messages")
        further = options["further"]
        known = WISHES_GRAPH_FILE if further else PAIRS_GRAPH_FILE
        made = reader.train_pair_reading(
            questions,
            get_current_embedder(),
            self.stderr.write,
            read_pairs_graph(known),
            rounds=meant_claims.FURTHER_ROUNDS if further else meant_claims.ROUNDS,
            pace=meant_claims.PACE,
            texts=meant_claims.TEXTS,
            frozen=meant_claims.FROZEN_LAYERS,
        )
        options["out"].write_bytes(build_pairs_graph(made).SerializeToString(deterministic=True))

    def _train_wishes(self, options: dict[str, Any]) -> None:
        from memoryhub.engines.local.comparison.forget import FORGET_DECIDER_FILE
        from memoryhub.engines.local.grammar.wish_decider import WISHES_FILE
        from memoryhub.lab.training.judgements import write_judgements
        from memoryhub.lab.training.meant_claims import read_claims, train_forget_decider
        from memoryhub.lab.training.wishes import load_said, load_scenes, train_wish_decider

        path, asked, without = (options[name] for name in ("path", "asked", "without"))
        known = {
            language: train_wish_decider(load_said(path, asked, language, without), language)
            for language in ("en", "zh")
        }
        unread = [each for each in load_scenes(path, without) if each.author in options["unread"]]
        claims = read_claims(unread, LocalEngine())
        meant = {}
        for language in known:
            own = [at for at, scene in enumerate(unread) if scene.language == language]
            meant[language] = train_forget_decider(
                [unread[at] for at in own], [claims[at] for at in own], get_current_embedder()
            )
        for made, file in ((known, WISHES_FILE), (meant, FORGET_DECIDER_FILE)):
            write_judgements(made, options["out"] / file.name if options["out"] else file)
        for language, told in known.items():
            self.stdout.write(
                f"{language}: {told['messages']} messages, AUC {told['auc']}, found"
                f" {told['found']}, wrong {told['wrong']}; {meant[language]['wishes']} wishes,"
                f" granted {meant[language]['granted']}, rightly {meant[language]['rightly']}"
            )

    def _run(self, options: dict[str, Any]) -> dict[str, Any] | None:
        owner = _get_owner(options["tenant"])
        dataset = read_dataset(options["data"])
        try:
            with _interrupt_on_sigterm():
                if options["resume"]:
                    run = resume_run(owner, options["resume"], dataset, self.stderr.write)
                else:
                    asked = {name: options[name] for name in RunOptions.__dataclass_fields__}
                    run = start_run(owner, RunOptions(**asked), dataset, self.stderr.write)
        except KeyboardInterrupt:
            raise CommandError(
                "Interrupted. What was answered is kept: go on with --resume and the run's id."
            ) from None
        if run.state != LabRun.State.DONE or run.report is None:
            raise CommandError(f"{run.error}: go on with --resume {run.id}")
        report: dict[str, Any] = run.report
        self._print_lines(tables.format_run_report(report))
        return report

    def _sweep(self, options: dict[str, Any]) -> None:
        self.stdout.write(f"{len(delete_abandoned_tenants())} swept away")

    def _print_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)


def _add_common_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit-conversations", type=_parse_positive_number, metavar="N")
    _add_json_argument(parser)


def _add_json_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")


def _add_lessons_argument(parser: ArgumentParser) -> None:
    learned = "more dialogues to learn from, whoever wrote them (benchmarks/lessons)"
    parser.add_argument("--lessons", type=Path, metavar="FOLDER", help=learned)


def _add_truth_arguments(parser: ArgumentParser, *, derives: bool) -> None:
    parser.add_argument("path", type=Path, help="a folder of such dialogues (benchmarks/truth)")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="development")
    parser.add_argument("--authors", type=_parse_names, default=(), metavar="A,B")
    parser.add_argument("--every", type=_parse_positive_number, default=1, metavar="N")
    if derives:
        parser.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)
        parser.add_argument("--preset", default="balanced")


def _load_chosen_dialogues(options: dict[str, Any]) -> list[TruthDialogue]:
    authors = options["authors"] or HALVES.get(options["half"], ())
    return load_dialogues(options["path"], authors)[:: options["every"]]


def _load_learned_dialogues(options: dict[str, Any]) -> list[TruthDialogue]:
    authors = options.get("authors") or HALVES["development"]
    lessons = load_dialogues(options["lessons"]) if options["lessons"] else []
    found = load_dialogues(options["path"], authors) + lessons
    apart, only = options.get("without", ()), options.get("only", ())
    named = [(each, f"{each.language}-{each.author}") for each in found]
    return [each for each, name in named if name not in apart and (not only or name in only)]


def _add_run_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help=DATA_HELP)
    parser.add_argument("--presets", type=_parse_names, default=tuple(SYSTEMS), metavar="A,B,C")
    parser.add_argument(
        "--questions", type=_parse_positive_number, metavar="N", help="in all; default: every one"
    )
    parser.add_argument("--categories", type=_parse_numbers, default=(), metavar="1,2")
    parser.add_argument("--seed", type=int, default=0, help="which questions are drawn")
    parser.add_argument("--engine", choices=Tenant.Engine.values, default=Tenant.Engine.LOCAL)
    answerer = "who reads and answers (default: the engine that derives)"
    parser.add_argument("--answers", choices=Tenant.Engine.values, default="", help=answerer)
    parser.add_argument("--judge", choices=("off", "llm"), default="off")
    parser.add_argument("--budget-tokens", type=_parse_positive_number, default=2000, metavar="N")
    parser.add_argument(
        "--turns", type=_parse_positive_number, metavar="N", help="of each conversation, at most"
    )
    parser.add_argument("--resume", default="", metavar="ID", help="go on with a run")
    parser.add_argument("--tenant", default="", help=f"who owns the run (default: {DEMO})")
    _add_common_arguments(parser)


def _parse_positive_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _parse_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _parse_names(text))


def _get_owner(slug: str) -> Tenant:
    """The tenant named; unless one is, the demo's or the lab's own."""
    if slug:
        if (tenant := find_tenant(slug)) is None:
            raise CommandError(f"There is no tenant {slug}.")
        return tenant
    return find_tenant(DEMO) or find_tenant(OWNER) or create_tenant("Lab", OWNER)


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    """A request to end is an interruption like Ctrl-C: what is done is kept, and said so."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
