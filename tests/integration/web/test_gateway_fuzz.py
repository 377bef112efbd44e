"""Whatever the document allows is answered, and whatever it does not allow is refused, in the form that it
says; nothing breaks the gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import jsonschema
import pytest
from gateway_rig import Answer, Gateway, gateway
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vector_memory.web.openapi import document

DOCUMENT = document("http://127.0.0.1:1")
OPERATIONS = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if path != "/healthz"
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
RULES = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("fuzz")) as made:
        yield made


@pytest.fixture
def admin(served: Gateway) -> Iterator[str]:
    """One for each test: it may be used only so often."""
    name = "fuzz"
    yield served.token("admin", name=name)
    served.rig.daemon.ask("token", {"action": "revoke", "id": name})


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["schemas"][name] if name else schema  # type: ignore[no-any-return]


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a schema of the document allows."""
    schema = resolved(schema)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        needed = set(schema.get("required", ()))
        parts = {name: fitting(one) for name, one in schema["properties"].items()}
        return st.fixed_dictionaries(
            {name: one for name, one in parts.items() if name in needed},
            optional={name: one for name, one in parts.items() if name not in needed},
        )
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    if kind == "string":
        return st.text(
            min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 40), 40)
        )
    if kind == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    return st.booleans() if kind == "boolean" else st.floats(schema["minimum"], schema["maximum"])


def check(method: str, path: str, back: Answer) -> None:
    """An answer is as the document says."""
    operation = DOCUMENT["paths"][path][method.lower()]
    assert str(back.status) in operation["responses"], back.raw
    assert back.status not in (500, 503, 507), back.raw
    content = operation["responses"][str(back.status)].get("content", {})
    kind = back.headers.get("content-type", "").partition(";")[0]
    assert kind in content
    if kind == "application/json":
        schema = {**content[kind]["schema"], "components": DOCUMENT["components"]}
        jsonschema.validate(json.loads(back.raw), schema)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_what_the_document_allows_is_answered_as_it_says(
    served: Gateway, admin: str, method: str, path: str
) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]
    at = path.replace("{id}", "abcd1234")

    def ask(given_fields: dict[str, Any]) -> Answer:
        if method == "POST":
            return served.post(at, admin, given_fields)
        written = {
            name: json.dumps(value) if isinstance(value, bool) else value
            for name, value in given_fields.items()
        }
        query = urlencode(written, doseq=True, errors="replace")
        return served.get(f"{at}?{query}", admin)

    if method == "POST":
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
    else:
        named = {
            one["name"]: one["schema"] for one in operation["parameters"] if one["in"] == "query"
        }
        schema = {"type": "object", "properties": named}

    @RULES
    @given(fitting(schema))
    def fits(given_fields: dict[str, Any]) -> None:
        check(method, path, ask(given_fields))

    @RULES
    @given(JUNK)
    def junk(value: Any) -> None:
        body = json.dumps(value).encode()
        back = served.post(at, admin, body)
        check(method, path, back) if method == "POST" else None
        if method == "POST" and not isinstance(value, dict):
            assert back.status == 400

    @RULES
    @given(fitting(schema), st.text(min_size=1, max_size=8), JUNK)
    def unknown(given_fields: dict[str, Any], name: str, value: Any) -> None:
        if name in schema["properties"] or method == "GET":
            return
        back = served.post(at, admin, {**given_fields, name: value})
        assert back.status == 400, back.raw

    fits()
    junk()
    unknown()


@RULES
@given(st.binary(max_size=300))
def test_whatever_bytes_come_it_lives(served: Gateway, data: bytes) -> None:
    with served.raw(data + b"\r\n\r\n") as connection:
        connection.shutdown(1)
        connection.settimeout(30)
        while connection.recv(4_096):
            pass
    assert served.get("/healthz", "").status == 200
