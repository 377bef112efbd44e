"""all-MiniLM-L6-v2 as an ONNX graph over its own `model.safetensors`, without torch.

The graph file holds no weights: it points at their places inside `model.safetensors`, so that the
model is on disk once and ONNX Runtime maps it. Needs the `onnx` package, which only the set-up has.

Source: J. Devlin et al., "BERT", 2019 (the encoder); N. Reimers and I. Gurevych, "Sentence-BERT",
2019 (the mean of the tokens as the sentence's vector); safetensors' published file format.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any, NamedTuple

from onnx import NodeProto, TensorProto, helper, save

LAYERS = 6
HEADS = 12
WIDTH = 384
LAYER_NORM_EPSILON = 1e-12
ONNX_OPSET = 20
ONNX_IR_VERSION = 9
FUSED = "com.microsoft"
"""ONNX Runtime's own operators; only its attention is used."""


class TensorPlace(NamedTuple):
    """Where a tensor lies in a file."""

    shape: tuple[int, ...]
    offset_bytes: int
    length_bytes: int


def read_places(path: str) -> dict[str, TensorPlace]:
    """Find every float32 tensor of a safetensors file.

    Returns:
        The tensors' names, each with its shape, and its offset and length in bytes of the file.

    Source: safetensors' published file format: the header's size, a header of JSON, the tensors.
    """
    with open(path, "rb") as file:
        (header_bytes,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_bytes))
    start = 8 + header_bytes
    return {
        name: TensorPlace(
            tuple(entry["shape"]),
            start + entry["data_offsets"][0],
            entry["data_offsets"][1] - entry["data_offsets"][0],
        )
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def convert(weights: str, graph: str) -> None:
    """Write the graph `ids (batch, tokens) int64 → vector (batch, 384) float32, length 1`.

    All texts of a batch have the same number of tokens, so there is neither padding nor a mask.

    Args:
        weights: `model.safetensors` of all-MiniLM-L6-v2, in the folder where the graph will be.
        graph: the file to write.
    """
    builder = _Builder(weights)
    # Flat, (batch × tokens, 384), but for attention: a Gemm takes two dimensions.
    hidden, shape = _embeddings(builder)
    for layer in range(LAYERS):
        hidden = _layer(builder, hidden, shape, f"encoder.layer.{layer}")
    mean = builder.add(
        "ReduceMean", builder.add("Reshape", hidden, shape), builder.numbers("axis", 1), keepdims=0
    )
    builder.add("LpNormalization", mean, output="vector", p=2, axis=-1)
    save(builder.model(), graph)


class _Builder:
    """A graph in the making. Values are known by name, as in ONNX."""

    def __init__(self, weights: str) -> None:
        self._places = read_places(weights)
        self._file = os.path.basename(weights)
        self._nodes: list[NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}

    def add(
        self, operator: str, *inputs: str, output: str = "", domain: str = "", **settings: Any
    ) -> str:
        """Add a node and return its output's name."""
        output = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(operator, inputs, [output], name=output, domain=domain, **settings)
        )
        return output

    def weight(self, name: str) -> str:
        """Return the name of a tensor that stays in the weights' file."""
        if name not in self._tensors:
            place = self._places[name]
            tensor = TensorProto(
                name=name,
                data_type=TensorProto.FLOAT,
                dims=place.shape,
                data_location=TensorProto.EXTERNAL,
            )
            values = {
                "location": self._file,
                "offset": place.offset_bytes,
                "length": place.length_bytes,
            }
            for key, value in values.items():
                tensor.external_data.add(key=key, value=str(value))
            self._tensors[name] = tensor
        return name

    def numbers(self, name: str, *values: int) -> str:
        """Return the name of a small constant list of integers."""
        self._tensors[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def model(self) -> Any:
        """Return the whole as a model with one input and one output."""
        graph = helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", WIDTH])],
            list(self._tensors.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", ONNX_OPSET), helper.make_opsetid(FUSED, 1)],
            ir_version=ONNX_IR_VERSION,
        )


def _embeddings(builder: _Builder) -> tuple[str, str]:
    """Return the embedded tokens, (batch × tokens, 384), and the shape (batch, tokens, 384)."""
    prefix = "embeddings"
    words = builder.add("Gather", builder.weight(f"{prefix}.word_embeddings.weight"), "ids")
    zero = builder.numbers("first", 0)
    positions = builder.add(
        "Slice",
        builder.weight(f"{prefix}.position_embeddings.weight"),
        zero,
        builder.add("Shape", "ids", start=1, end=2),
        zero,
    )
    # All tokens are of the first kind: there is one sentence, and no second one.
    kinds = builder.add("Gather", builder.weight(f"{prefix}.token_type_embeddings.weight"), zero)
    summed = builder.add("Add", words, builder.add("Add", positions, kinds))
    shape = builder.add("Shape", summed)
    flat = builder.add("Reshape", summed, builder.numbers("flat", -1, WIDTH))
    return _layer_norm(builder, flat, f"{prefix}.LayerNorm"), shape


def _layer(builder: _Builder, hidden: str, shape: str, prefix: str) -> str:
    """Return the hidden states after one layer of attention and feed-forward."""
    attention = f"{prefix}.attention"
    parts = [
        builder.add("Reshape", _linear(builder, hidden, f"{attention}.self.{part}"), shape)
        for part in ("query", "key", "value")
    ]
    heads = builder.add("MultiHeadAttention", *parts, domain=FUSED, num_heads=HEADS)
    attended = _linear(builder, builder.add("Reshape", heads, "flat"), f"{attention}.output.dense")
    hidden = _layer_norm(
        builder, builder.add("Add", attended, hidden), f"{attention}.output.LayerNorm"
    )
    wide = builder.add("Gelu", _linear(builder, hidden, f"{prefix}.intermediate.dense"))
    narrow = _linear(builder, wide, f"{prefix}.output.dense")
    return _layer_norm(builder, builder.add("Add", narrow, hidden), f"{prefix}.output.LayerNorm")


def _linear(builder: _Builder, value: str, prefix: str) -> str:
    """Multiply by a weight that stays as the file has it, (out, in): hence `transB`."""
    weight, bias = builder.weight(f"{prefix}.weight"), builder.weight(f"{prefix}.bias")
    return builder.add("Gemm", value, weight, bias, transB=1)


def _layer_norm(builder: _Builder, value: str, prefix: str) -> str:
    weight, bias = builder.weight(f"{prefix}.weight"), builder.weight(f"{prefix}.bias")
    return builder.add(
        "LayerNormalization", value, weight, bias, axis=-1, epsilon=LAYER_NORM_EPSILON
    )
