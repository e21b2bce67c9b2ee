"""JSON files item by item."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memoryhub.errors import InvalidInput
from memoryhub.importers import json_stream
from memoryhub.importers.json_stream import stream_items
from tests.importers.file_contents import make_open_file


def read_items(content: object, *sections: str) -> list[tuple[str, str, Any]]:
    return [(i.where, i.section, i.value) for i in stream_items(make_open_file(content), sections)]


def test_an_array_an_object_and_lines_are_read() -> None:
    assert read_items([1, "two", {}]) == [("[0]", "", 1), ("[1]", "", "two"), ("[2]", "", {})]
    assert read_items({"n": 3, "results": [{"a": 1}, 2], "e": []}, "results") == [
        ("n", "n", 3),
        ("results[0]", "results", {"a": 1}),
        ("results[1]", "results", 2),
    ]
    assert read_items('{"a": 1}\n\n  {"a": 2}') == [
        ("line 1", "", {"a": 1}),
        ("line 3", "", {"a": 2}),
    ]


@pytest.mark.parametrize(
    "content", ['{"results": [1, 2]}', "[1, 2]", '{"a": "ação 漢字"}\n{"a": 2}']
)
def test_a_file_that_was_encoded_twice_is_read_as_what_it_says(content: str) -> None:
    assert read_items(json.dumps(content), "results") == read_items(content, "results")
    assert read_items("\ufeff " + json.dumps(content) + "\n", "results")


@pytest.mark.parametrize("content", ['"a"', '"[1"', '"[1]" 2', '"\\ud83d"'])
def test_a_text_that_holds_no_json_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_items(content)
    assert refused.value.field == "file"


@pytest.mark.parametrize("content", ["[]", "{}", " \n[ ]\n", "\ufeff[]"])
def test_what_is_empty_has_no_items(content: str) -> None:
    assert [item for item in read_items(content) if item[2]] == []


def test_a_lone_object_is_a_line_unless_it_has_a_section() -> None:
    assert read_items('{"tags": [1]}') == [("line 1", "", {"tags": [1]})]
    assert read_items('{"tags": [1]}', "tags") == [("tags[0]", "tags", 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_values_go_on_over_the_ends_of_what_is_read_at_once(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", size)
    value: dict[str, list[Any]] = {
        "números": [12345, -1.5e3, 'ação \\ "q" 漢字', None, True],
        "b": [[1, [2]], {}],
    }
    text = json.dumps(value, ensure_ascii=False, indent=1)
    found = read_items(text, "b")
    assert [each[2] for each in found] == [*value["números"], *value["b"]]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", "the file is empty"),
        (" \n ", "the file is empty"),
        ("[", "the file breaks off where it has just begun"),
        ('{"results"', "the file breaks off at results"),
        ("nonsense", "neither"),
        ('[{"a": 1}, {"a": ', "[1]"),
        ('[{"a": 1} {"a": 2}]', "[0]"),
        ('{"results": [1, 2', "results[1]"),
        ('{"results": [1]} x', "behind the end"),
        ('{"a": 1}\n{"a": \n', "line 2 is no JSON: Expecting value at character 6"),
        ("{bad", "a member of the file is no JSON: Expecting value"),
        ('{"a": 1}\n{"a": NaN}\n', "line 2"),
        ("[NaN]", "[0]"),
        (b'["\xff\xfe"]', "no UTF-8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(content: Any, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_items(content, "results")
    assert place in refused.value.message
    assert refused.value.field == "file"


def test_a_large_file_is_never_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is never far ahead of what was taken."""
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(json_stream, "_PROBE_BYTES", 4096)
    content = json.dumps([{"text": "x" * 1000}] * 3000)
    ahead = [item.at - 1013 * at for at, item in enumerate(stream_items(make_open_file(content)))]
    assert len(ahead) == 3000
    assert max(ahead) < 16_384


def test_an_item_may_be_as_long_as_it_likes_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 64)
    monkeypatch.setattr(json_stream, "LONGEST_ITEM", 4096)
    assert read_items(["x" * 2000])[0][2] == "x" * 2000
    with pytest.raises(InvalidInput, match="longer than"):
        read_items(["x" * 20_000])
