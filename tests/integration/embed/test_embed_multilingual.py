"""A multilingual model as a backend: a folder of sentence-transformers' form, and a model of Ollama's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fakes_ollama
import numpy as np
import pytest
from fakes_embed import require_package
from service_house import ServiceHouse, door

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.model import Embedder

MEANINGS = [
    ("backup", "sicherung", "yedek", "백업"),
    ("night", "nacht", "gece", "밤"),
    ("invoice", "rechnung", "fatura", "청구서"),
    ("customer", "kunde", "müşteri", "고객"),
    ("port", "anschluss", "kapı", "포트"),
]
"""Words of four languages with one meaning, which is what a multilingual model has learned."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny model as sentence-transformers saves it: a vector for each word, one for all words of a
    meaning."""
    require_package("sentence_transformers")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = [word for meaning in MEANINGS for word in meaning]
    vocabulary = {"[UNK]": 0, **{word: place for place, word in enumerate(words, 1)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.full((len(vocabulary), len(MEANINGS) + 1), 0.01, np.float32)
    weights[0, -1] = 0.1
    for place in range(len(words)):
        weights[place + 1, place // len(MEANINGS[0])] = 1.0
    module = StaticEmbedding(tokenizer, embedding_weights=torch.from_numpy(weights))
    made = tmp_path_factory.mktemp("models") / "tiny-multilingual"
    SentenceTransformer(modules=[module], device="cpu").save(str(made))
    return str(made)


def of_folder(folder: str) -> Embedder:
    """Return the backend with the model of a folder."""
    settings = Settings(embedding_backend="sentence-transformers", embedding_model=folder)
    return registry.create(settings, "")


@pytest.fixture
def house(tmp_path: Path, folder: str) -> Iterator[ServiceHouse]:
    """The service with the model of the folder."""
    made = ServiceHouse(tmp_path, lambda: of_folder(folder))
    yield made
    made.close()


def test_a_model_comes_from_its_folder(folder: str) -> None:
    """Its name is that of the folder with a version, its dimension its own, and translations meet."""
    embedder = of_folder(folder)
    assert embedder.model.startswith("tiny-multilingual@")
    assert embedder.dim == len(MEANINGS) + 1
    for words in MEANINGS:
        vectors = embedder.embed_documents(words)
        assert (vectors @ vectors.T).min() > 0.99
        assert max(float(embedder.embed_query(words[0]) @ vector) for vector in vectors) > 0.99
    embedder.close()


def test_a_question_finds_its_answer_in_another_language(house: ServiceHouse) -> None:
    """No word is shared: meaning alone brings it, through the real stores."""
    house.remember("Sicherung jede Nacht")
    house.remember("Rechnung an jeden Kunde")
    for question, text in (("yedek gece", "Sicherung"), ("고객 청구서", "Rechnung")):
        answer = door(house.ctx, "recall", {"query": question, "global": True})
        assert answer["mode"] == "full"
        assert answer["hits"][0]["text"].startswith(text)


def test_a_change_to_it_embeds_everything_anew(tmp_path: Path, folder: str) -> None:
    """Memories that the default embedded are found by the new model's vectors."""
    before = ServiceHouse(tmp_path)
    before.remember("Sicherung jede Nacht")
    before.close()
    after = ServiceHouse(tmp_path, lambda: of_folder(folder))
    after.follow()
    assert door(after.ctx, "migrate", {})["model"].startswith("tiny-multilingual@")
    answer = door(after.ctx, "recall", {"query": "backup night", "global": True})
    assert answer["hits"][0]["breakdown"]["cosine"] > 0.9
    after.close()


def test_a_multilingual_model_of_ollama_answers_whole_recalls(tmp_path: Path) -> None:
    """Over its real protocol, on loopback: what is stored is embedded there, unprefixed, and found."""
    with fakes_ollama.running() as server:
        server.models["bge-m3:latest"] = "790764642607"
        settings = Settings(
            embedding_backend="ollama", embedding_model="bge-m3", ollama_host=server.address
        )
        made = ServiceHouse(tmp_path, lambda: registry.create(settings, ""))
        made.remember("Müşteri faturaları PDF olarak gönderilir")
        answer = door(made.ctx, "recall", {"query": "müşteri", "global": True})
        assert answer["mode"] == "full"
        assert answer["hits"][0]["breakdown"]["cosine"] > 0.1
        assert "Müşteri faturaları PDF olarak gönderilir" in server.inputs
        made.close()
