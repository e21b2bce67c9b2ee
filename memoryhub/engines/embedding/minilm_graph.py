"""Draws `minilm.onnx`: how MiniLM is computed, without its weights, which stay in their package.

`python -m memoryhub.engines.embedding.minilm_graph` writes it anew, with `byte_sums.onnx`; needs
the package onnx, which the hub itself does not. The packaged file widens its weights to float32
when it is loaded, 86 MB that every text has to go through again. Here they stay int8, and so is
what they are multiplied by, with a scale for each token; attention, norms and biases are one
operator each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from memoryhub.engines.embedding.model_files import MINILM_MODEL
from memoryhub.engines.embedding.onnx import (
    BYTE_SUMS_FILE,
    BYTE_SUMS_SIZE,
    GRAPH_FILE,
    SCORES,
)

LAYERS, HEADS, WIDTH = 6, 12, 384
# A few values of each token are several times as large as any other, and the steps of its bytes
# would be theirs: they are multiplied in equal parts (Zhao et al. 2019, outlier channel splitting).
LARGE_VALUES = dict.fromkeys((127, 303, 319, 338, 347, 359, 363, 383), 2)
LARGE_VALUES |= dict.fromkeys((63, 99, 157, 267), 3) | {223: 5}
# By which a token's numbers become bytes: those of either sign around 128, and those behind a GELU,
# none of which is under -0.17, around 16.
_MIDDLE, _GELU_ZERO, _MOST = 128, 16, 255
BYTE_CONSTANTS: dict[str, np.generic] = {
    "middle": np.uint8(_MIDDLE),
    "step": np.float32(1 / (_MIDDLE - 1)),
    "gelu_zero": np.uint8(_GELU_ZERO),
    "gelu_step": np.float32(1 / (_MOST - _GELU_ZERO)),
    "gelu_least": np.float32(0.17 / _GELU_ZERO),
}
_EPSILON = 1e-12  # of all norms, as the model was trained
_RUNTIME_DOMAIN = "com.microsoft"
_PACKAGED_PREFIX = "inner."  # of all names in the packaged file
# By layer, the packaged file's products in its own order.
PRODUCT_NAMES = ("query", "key", "value", "attention.output", "intermediate", "output")


class Correction(NamedTuple):
    """What is added to a packaged matrix (K, N): `down` (K, rank) times `up` (rank, N)."""

    down: NDArray[np.float16]
    up: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class PairReading:
    """What makes of MiniLM a reader of two texts one behind the other, as learned by `lab
    train-reader`: `given`, biases and norms by packaged name; `corrections` by (layer, product);
    `head` (WIDTH,) and `bias` from the mean of what is read to how sure it is that the second
    answers the first."""

    given: Mapping[str, NDArray[np.float32]]
    corrections: Mapping[tuple[int, str], Correction]
    head: NDArray[np.float32]
    bias: float


class Rows(NamedTuple):
    """What matrices are multiplied by, by name: bytes, the scale of each of their rows, the byte
    that stands for zero, and which values stand there again behind all others ("": none)."""

    bytes: str
    scales: str
    zero: str
    again: str


class GraphBuilder:
    """Nodes and weights of a graph to be; a weight is a place in the packaged file, or one of those
    `given` in its stead."""

    def __init__(
        self,
        packaged: Path,
        given: Mapping[str, NDArray[np.float32]],
        corrections: Mapping[tuple[int, str], Correction],
    ) -> None:
        self._given = given
        self._corrections = corrections
        self._bytes = packaged.read_bytes()
        graph = onnx.load_from_string(self._bytes).graph
        self._file = packaged.name
        self._packaged = {each.name: each for each in graph.initializer}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}
        products = [node.input[1] for node in graph.node if node.op_type == "MatMul"]
        self.products = [name for name in products if f"{name}_q" in self._packaged]

    def add_node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """`kind` is of ONNX itself unless it begins with a dot: of ONNX Runtime's own."""
        domain = _RUNTIME_DOMAIN if kind.startswith(".") else ""
        name = kind.removeprefix(".")
        made = helper.make_node(name, list(inputs), [output], domain=domain, **attributes)
        self._nodes.append(made)
        return output

    def add_weight(self, name: str, kind: int | None = None) -> str:
        """The packaged tensor of this name, by its place in the file; its bytes as `kind`."""
        if name in self._given:
            return self.add_constant(name, self._given[name])
        held = self._packaged[name]
        place = self._bytes.index(held.raw_data)
        tensor = onnx.TensorProto(name=name, data_type=kind or held.data_type, dims=held.dims)
        tensor.data_location = TensorProto.EXTERNAL
        where = {"location": self._file, "offset": place, "length": len(held.raw_data)}
        for key, value in where.items():
            tensor.external_data.add(key=key, value=str(value))
        self._weights[name] = tensor
        return name

    def add_constant(self, name: str, value: NDArray[np.generic]) -> str:
        self._weights[name] = numpy_helper.from_array(value, name)
        return name

    def add_rows(self, x: str, parts: Mapping[int, int] = MappingProxyType({})) -> Rows:
        """`x` in bytes around the middle one, with a scale a token. `parts`: the values of a token
        that are taken in several equal parts, the others of which come behind all values."""
        again = [at for at, count in parts.items() for _ in range(count - 1)]
        values, rest = x, ""
        if again:
            shares = np.ones(WIDTH, np.float32)
            shares[list(parts)] = [1 / count for count in parts.values()]
            first = self.add_node("Mul", [x, self.add_constant("shares", shares)], f"{x}_first")
            rest = self.add_constant("again", np.array(again))
            behind = self.add_node("Gather", [first, rest], f"{x}_behind", axis=-1)
            values = self.add_node("Concat", [first, behind], f"{x}_parts", axis=-1)
        sizes = self.add_node("Abs", [values], f"{x}_sizes")
        largest = self.add_node("ReduceMax", [sizes, "last"], f"{x}_largest")
        scales = self.add_node("Mul", [largest, "step"], f"{x}_scales")
        return self._add_bytes(x, values, scales, "middle", rest)

    def add_rows_of_gelu(self, x: str) -> Rows:
        """`x`, none of whose values is under -0.17, in bytes with a scale a token."""
        largest = self.add_node("ReduceMax", [x, "last"], f"{x}_largest")
        scales = self.add_node("Mul", [largest, "gelu_step"], f"{x}_scaled")
        scales = self.add_node("Max", [scales, "gelu_least"], f"{x}_scales")
        return self._add_bytes(x, x, scales, "gelu_zero", "")

    def _add_bytes(self, x: str, values: str, scales: str, zero: str, again: str) -> Rows:
        steps = self.add_node("Div", [values, scales], f"{x}_steps")
        held = self.add_node("QuantizeLinear", [steps, "unit", zero], f"{x}_bytes")
        return Rows(held, scales, zero, again)

    def add_product(self, rows: Rows, name: str, output: str) -> str:
        """`rows` times the packaged int8 matrix `name`, (K, N), whose scales are by column."""
        matrix = self.add_weight(f"{name}_q")
        if rows.again:  # worked out once, when the graph is loaded
            behind = self.add_node("Gather", [matrix, rows.again], f"{output}_behind", axis=0)
            matrix = self.add_node("Concat", [matrix, behind], f"{output}_matrix", axis=0)
        scale = self.add_node("Squeeze", [self.add_weight(f"{name}_scale")], f"{output}_by_column")
        inputs = [rows.bytes, matrix, "unit", scale, rows.zero]
        made = self.add_node(".MatMulIntegerToFloat", inputs, f"{output}_by_row")
        return self.add_node("Mul", [made, rows.scales], output)

    def add_correction(self, x: str, product: str, place: tuple[int, str]) -> str:
        """`product` with what is added to its matrix for this place, if anything is."""
        if place not in self._corrections:
            return product
        made = x
        for part, values in self._corrections[place]._asdict().items():
            held = self.add_constant(f"{product}.{part}_held", values)
            wide = self.add_node("Cast", [held], f"{product}.{part}", to=TensorProto.FLOAT)
            made = self.add_node("MatMul", [made, wide], f"{product}.{part}_made")
        return self.add_node("Add", [product, made], f"{product}.corrected")

    def build_model(self, *, scores: bool = False) -> onnx.ModelProto:
        """One row a token comes out, or one score a text."""
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask")
        ]
        hidden = helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", WIDTH]
        )
        score = helper.make_tensor_value_info(SCORES, TensorProto.FLOAT, ["batch"])
        weights = list(self._weights.values())
        made = [score if scores else hidden]
        graph = helper.make_graph(self._nodes, "minilm", ids, made, weights)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_RUNTIME_DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def build_graph(given: Mapping[str, NDArray[np.float32]] | None = None) -> onnx.ModelProto:
    """MiniLM-L6: `input_ids` and `attention_mask` in, `last_hidden_state` out. `given`: biases and
    norms to be used for the packaged ones of their names. Raises EngineError where the weights'
    package is missing or altered."""
    drawing = GraphBuilder(MINILM_MODEL.locate(), given or {}, {})
    _add_layers(drawing)
    return drawing.build_model()


def build_pairs_graph(reading: PairReading) -> onnx.ModelProto:
    """`input_ids` and `attention_mask` of pairs in, `scores` out. Raises as `build_graph`."""
    drawing = GraphBuilder(MINILM_MODEL.locate(), reading.given, reading.corrections)
    _add_layers(drawing)
    _add_score(drawing, reading)
    return drawing.build_model(scores=True)


def build_byte_sums_graph() -> onnx.ModelProto:
    """`bytes` in, `sums` of their products with the largest bytes that have a sign out."""
    shape = [BYTE_SUMS_SIZE, BYTE_SUMS_SIZE]
    given = helper.make_tensor_value_info("bytes", TensorProto.UINT8, shape)
    made = helper.make_tensor_value_info("sums", TensorProto.INT32, shape)
    largest = numpy_helper.from_array(np.full(shape, 127, np.int8), "largest")
    node = helper.make_node("MatMulInteger", ["bytes", "largest"], ["sums"])
    graph = helper.make_graph([node], "byte_sums", [given], [made], [largest])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def read_pairs_graph(path: Path) -> PairReading:
    """What a graph that `build_pairs_graph` drew was drawn from."""
    graph = onnx.load_from_string(path.read_bytes()).graph
    held = {
        each.name: numpy_helper.to_array(each)
        for each in graph.initializer
        if not each.external_data
    }
    corrections = {
        (layer, name): Correction(*(held[f"layer{layer}.{name}.{part}_held"] for part in parts))
        for parts in [Correction._fields]
        for layer in range(LAYERS)
        for name in PRODUCT_NAMES
    }
    given = {name: values for name, values in held.items() if name.startswith(_PACKAGED_PREFIX)}
    return PairReading(given, corrections, held["head"][:, 0], float(held["head_bias"]))


def _add_layers(drawing: GraphBuilder) -> None:
    for name, value in BYTE_CONSTANTS.items():
        drawing.add_constant(name, np.array(value))
    drawing.add_constant("unit", np.array(1, np.float32))
    drawing.add_constant("last", np.array([-1]))
    drawing.add_node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    x = _add_embeddings(drawing)
    for layer in range(LAYERS):
        x = _add_layer(drawing, layer, x)


def _add_score(drawing: GraphBuilder, reading: PairReading) -> None:
    """From the mean of all tokens but those that fill up."""
    drawing.add_node("Cast", ["attention_mask"], "counted", to=TensorProto.FLOAT)
    drawing.add_node("Unsqueeze", ["counted", "last"], "counted_rows")
    places = drawing.add_constant("second", np.array([1]))
    drawing.add_node("Mul", ["last_hidden_state", "counted_rows"], "read")
    drawing.add_node("ReduceSum", ["read", places], "read_sum", keepdims=0)
    drawing.add_node("ReduceSum", ["counted_rows", places], "count_sum", keepdims=0)
    drawing.add_node("Div", ["read_sum", "count_sum"], "read_mean")
    head = drawing.add_constant("head", reading.head.astype(np.float32)[:, None])
    drawing.add_node("MatMul", ["read_mean", head], "weighed")
    bias = drawing.add_constant("head_bias", np.array(reading.bias, np.float32))
    drawing.add_node("Add", ["weighed", bias], "score_rows")
    drawing.add_node("Squeeze", ["score_rows", "last"], SCORES)


def _add_embeddings(drawing: GraphBuilder) -> str:
    """(batch, sequence, WIDTH): rows of words and of places, widened once they are looked up."""
    own = "inner.embeddings"
    words = _add_row_lookup(drawing, f"{own}.word_embeddings.weight", "input_ids", "words")
    drawing.add_node("Shape", ["input_ids"], "length", start=1, end=2)
    drawing.add_node("Squeeze", ["length"], "count")
    zero = drawing.add_constant("zero", np.array(0))
    drawing.add_node("Range", [zero, "count", drawing.add_constant("one", np.array(1))], "places")
    places = _add_row_lookup(drawing, f"{own}.position_embeddings.weight", "places", "placed")
    # There is only one kind of token: the first.
    kinds = drawing.add_weight(f"{own}.token_type_embeddings.weight")
    kind = drawing.add_node("Gather", [kinds, zero], "kind")
    where = drawing.add_node("Add", [places, kind], "where")
    said = drawing.add_node("Add", [words, where], "said")
    norm = [drawing.add_weight(f"{own}.LayerNorm.{part}") for part in ("weight", "bias")]
    return drawing.add_node("LayerNormalization", [said, *norm], "embedded", epsilon=_EPSILON)


def _add_row_lookup(drawing: GraphBuilder, table: str, at: str, output: str) -> str:
    """Rows of an int8 table times their scales."""
    raw = drawing.add_node("Gather", [drawing.add_weight(f"{table}_q"), at], f"{output}_raw")
    wide = drawing.add_node("Cast", [raw], f"{output}_wide", to=TensorProto.FLOAT)
    scales = drawing.add_weight(f"{table}_scale")
    scale = drawing.add_node("Gather", [scales, at], f"{output}_scale")
    return drawing.add_node("Mul", [wide, scale], output)


def _add_layer(drawing: GraphBuilder, layer: int, x: str) -> str:
    """Attention and a wide layer, each added to what came in."""
    own, output = f"inner.encoder.layer.{layer}", f"layer{layer}"
    count = len(PRODUCT_NAMES)
    products = drawing.products[layer * count : (layer + 1) * count]
    names = dict(zip(PRODUCT_NAMES, products, strict=True))

    def product(of: str, rows: Rows, name: str) -> str:
        made = drawing.add_product(rows, names[name], f"{output}.{name}")
        return drawing.add_correction(of, made, (layer, name))

    rows = drawing.add_rows(x, LARGE_VALUES)
    parts = ("query", "key", "value")
    asked = [product(x, rows, name) for name in parts]
    biases = [drawing.add_weight(f"{own}.attention.self.{name}.bias") for name in parts]
    bias = drawing.add_node("Concat", biases, f"{output}.bias", axis=0)
    seen = drawing.add_node(
        ".MultiHeadAttention", [*asked, bias, "mask"], f"{output}.seen", num_heads=HEADS
    )
    told = product(seen, drawing.add_rows(seen), "attention.output")
    x = _add_residual(drawing, told, x, f"{own}.attention.output", f"{output}.attended")
    bias = drawing.add_weight(f"{own}.intermediate.dense.bias")
    wide = product(x, drawing.add_rows(x, LARGE_VALUES), "intermediate")
    wide = drawing.add_node(".BiasGelu", [wide, bias], f"{output}.wide")
    done = "last_hidden_state" if layer == LAYERS - 1 else f"{output}.done"
    told = product(wide, drawing.add_rows_of_gelu(wide), "output")
    return _add_residual(drawing, told, x, f"{own}.output", done)


def _add_residual(drawing: GraphBuilder, made: str, x: str, own: str, output: str) -> str:
    """What was made on top of what came in, its bias with it, normed."""
    parts = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
    inputs = [made, x, *(drawing.add_weight(f"{own}.{part}") for part in parts)]
    return drawing.add_node(".SkipLayerNormalization", inputs, output, epsilon=_EPSILON)


if __name__ == "__main__":
    for file, model in ((GRAPH_FILE, build_graph()), (BYTE_SUMS_FILE, build_byte_sums_graph())):
        file.write_bytes(model.SerializeToString(deterministic=True))
