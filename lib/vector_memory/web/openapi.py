"""The OpenAPI document, made of the table that routes."""

from __future__ import annotations

import re

from vector_memory.client.link import Json
from vector_memory.system.paths import version
from vector_memory.web.routes import GET, ROUTES, Route
from vector_memory.web.shapes import REQUESTED, SHAPES, schema_of

REFUSALS = {
    400: "It is not as it should be.",
    401: "There is no token, or it is none.",
    403: "The token has not this right, or is for another project.",
    404: "There is nothing of that name.",
    408: "The body came too slowly.",
    409: "It has changed since it was read, or is being done.",
    413: "It is too much.",
    415: "It is no JSON.",
    421: "The host is not this one.",
    422: "The text could not be cleaned, and was dropped.",
    429: "The token was used too often of late.",
    500: "Something went wrong that should not have.",
    503: "The memory cannot answer now.",
    507: "The disk is full.",
}
JSON_TYPE = "application/json"
LINES_TYPE = "application/jsonl"


def document(server: str) -> Json:
    """Return the document of the gateway at an address."""
    paths: dict[str, Json] = {}
    for route in ROUTES:
        for path in (route.path, *route.aliases):
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, path)
    paths["/healthz"] = {"get": _health()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Vector Memory", "version": version()},
        "servers": [{"url": server}],
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                name: schema_of(shape, is_open=name not in REQUESTED)
                for name, shape in SHAPES.items()
            },
        },
    }


def _operation(route: Route, path: str) -> Json:
    words = re.sub(r"[^a-z]+", "_", f"{route.method} {path}".lower()).strip("_")
    operation: Json = {
        "operationId": words,
        "summary": route.doc,
        "description": f"Needs the right `{route.right}`.",
        "parameters": _parameters(route),
        "responses": _responses(route),
    }
    if route.method != GET:
        schema = schema_of(route.fields)
        operation["requestBody"] = {"required": True, "content": {JSON_TYPE: {"schema": schema}}}
    return operation


def _parameters(route: Route) -> list[Json]:
    parameters: list[Json] = []
    if "{id}" in route.path:
        schema: Json = {"type": "string", "pattern": "^[0-9a-f]{4,64}$"}
        parameters.append({"name": "id", "in": "path", "required": True, "schema": schema})
    if route.method == GET:
        queried = [(field.name, field.schema()) for field in route.fields]
        parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in queried]
    if route.is_once:
        key = {"type": "string", "maxLength": 200}
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": key})
    return parameters


def _responses(route: Route) -> Json:
    answers = _content(route.answer) if route.answer else {LINES_TYPE: {}}
    done = {"200": {"description": "Done.", "content": answers}}
    if route.method == GET and route.answer:
        done["304"] = {"description": "It is as If-None-Match says."}
    return {**done, **{str(status): _refusal(doc) for status, doc in REFUSALS.items()}}


def _refusal(doc: str) -> Json:
    return {"description": doc, "content": _content("Error")}


def _content(shape: str) -> Json:
    return {JSON_TYPE: {"schema": {"$ref": f"#/components/schemas/{shape}"}}}


def _health() -> Json:
    return {
        "operationId": "health",
        "summary": "Whether the gateway answers.",
        "security": [],
        "responses": {"200": {"description": "It does.", "content": _content("Health")}},
    }
