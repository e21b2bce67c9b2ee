"""The README.md of the Python client by example: each framework as released, with a model that
knows only what it is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memoryhub_client import MemoryHub
from tests.clients.conftest import ClientRunner
from tests.docs.pages import ROOT, list_marked_blocks

PAGE = ROOT / "clients/python/README.md"
TOLD = """
def answer(prompt):
    return "You are a baker." if "baker" in str(prompt) else "I do not know."
"""
# What `my_app` has, by what the example takes from it.
MODELS = {
    "chat_model": TOLD
    + """
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
chat_model = RunnableLambda(lambda prompt: AIMessage(answer(prompt)))
""",
    "llm": TOLD
    + """
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
class TestModel(CustomLLM):
    @property
    def metadata(self):
        return LLMMetadata()
    def complete(self, prompt, formatted=False, **more):
        return CompletionResponse(text=answer(prompt))
    def stream_complete(self, prompt, formatted=False, **more):
        raise NotImplementedError
llm = TestModel()
""",
    "config": TOLD
    + """
from ag2.config import LLMClient
from ag2.events import ModelMessage, ModelResponse, ToolCallEvent, ToolCallsEvent
class TestClient(LLMClient):
    async def __call__(self, messages, context, **more):
        if len(messages) == 1:
            asked = '{"question": "What do I do for a living?"}'
            call = ToolCallEvent(name="recall", arguments=asked)
            return ModelResponse(tool_calls=ToolCallsEvent([call]))
        (told,) = messages[-1].results[0].result.parts
        message = ModelMessage(answer(told.content))
        await context.send(message)
        return ModelResponse(message)
class TestConfig:
    def copy(self, **more):
        return self
    def create(self):
        return TestClient()
config = TestConfig()
""",
}
EXAMPLES = [block.text for block in list_marked_blocks(PAGE) if "frameworks" in block.runner]


def find_framework(example: str) -> str:
    """The first package that it imports."""
    return str(re.findall(r"^from (\w+)", example, re.M)[0])


@pytest.mark.parametrize("example", EXAMPLES, ids=find_framework)
def test_an_example_answers_from_what_is_remembered(
    example: str, talker: ClientRunner, tmp_path: Path
) -> None:
    with MemoryHub(talker.host, talker.key) as hub:
        hub.add("tomas", "I started as a baker in Ghent last Monday.", wait=True)
    (model,) = (text for name, text in MODELS.items() if f"import {name}" in example)
    (tmp_path / "my_app.py").write_text(model, encoding="utf-8")
    script = tmp_path / "example.py"
    script.write_text(example, encoding="utf-8")
    said = talker.run_python("frameworks", script, paths=[ROOT / "clients/python/src"])
    assert said.splitlines() == re.findall(r"print\(.*\)  # (.*)$", example, re.M)
