"""The OpenAPI document: `openapi.json`, which says what answers hold at least, and the table that routes."""

from __future__ import annotations

import json
import os
import re

from vector_memory.arguments import schema_of
from vector_memory.client.link import Json
from vector_memory.system.paths import PACKAGE_ROOT, version
from vector_memory.web.access import JSON_TYPE
from vector_memory.web.routes import GET, ROUTES, Route

LINES_TYPE = "application/jsonl"


def document(server: str) -> Json:
    """Return the document of the gateway at an address."""
    with open(os.path.join(PACKAGE_ROOT, "web", "openapi.json"), encoding="utf-8") as file:
        content: Json = json.load(file)
    content["info"]["version"] = version()
    content["servers"] = [{"url": server}]
    for route in ROUTES:
        for path in (route.path, *route.aliases):
            operation = _operation(route, path)
            operation["responses"] |= content["components"]["responses"]
            content["paths"].setdefault(path, {})[route.method.lower()] = operation
    return content


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
    if "once" in route.marks:
        key = {"type": "string", "maxLength": 200}
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": key})
    return parameters


def _responses(route: Route) -> Json:
    schema = {"$ref": f"#/components/schemas/{route.answer}"}
    answers = {JSON_TYPE: {"schema": schema}} if route.answer else {LINES_TYPE: {}}
    responses: Json = {"200": {"description": "Done.", "content": answers}}
    if route.method == GET and route.answer:
        responses["304"] = {"description": "It is as If-None-Match says."}
    return responses
