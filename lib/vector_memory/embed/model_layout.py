"""What a model's folder holds."""

from __future__ import annotations

from typing import NamedTuple

FOLDER = "all-MiniLM-L6-v2"


GRAPH_FILE = "minilm-1.onnx"
"""The number grows when `convert` makes another graph, so that an old file is not taken for it."""


TOKENIZER_FILE = "tokenizer.json"


WEIGHTS_FILE = "model.safetensors"


class ModelFile(NamedTuple):
    """A published file, by its path in the model's folder. Optional ones are left out when they
    are missing or differ."""

    path: str
    sha256: str
    required: bool = False


FILES = (
    ModelFile(
        WEIGHTS_FILE, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db", True
    ),
    ModelFile(
        TOKENIZER_FILE, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037", True
    ),
    ModelFile("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    ModelFile(
        "config_sentence_transformers.json",
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    ),
    ModelFile("modules.json", "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
    ModelFile(
        "sentence_bert_config.json",
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    ),
    ModelFile(
        "special_tokens_map.json",
        "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    ),
    ModelFile(
        "tokenizer_config.json", "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
    ),
    ModelFile("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    ModelFile(
        "1_Pooling/config.json", "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
    ),
)
