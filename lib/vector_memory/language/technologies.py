"""Names of technologies, each with the other ways in which people write it."""

from __future__ import annotations

import re
from functools import cache

_ALIASES = """
postgresql: postgres, pgsql, psql
mysql: mariadb
sqlite: sqlite3
mongodb: mongo
redis: redis-cli
elasticsearch: opensearch
kubernetes: k8s, kubectl
docker: dockerfile, docker-compose, docker compose
podman:
terraform: tfvars
ansible:
nginx:
apache: httpd
aws: amazon web services
gcp: google cloud
azure:
cloudflare:
vercel:
netlify:
heroku:
fly.io: flyctl
github actions: gha, gh actions
gitlab ci: gitlab-ci
jenkins:
github: gh cli
gitlab:
git:
python: python3, cpython
javascript: js, ecmascript
typescript: ts, tsc
node.js: node, nodejs
deno:
bun:
rust: rustc, cargo
go: golang
java: jvm
kotlin:
swift:
ruby:
php:
elixir:
c++: cpp
c#: csharp, .net, dotnet
react: reactjs, react.js
next.js: nextjs
vue: vuejs, vue.js
svelte: sveltekit
angular:
remix:
astro:
tailwind: tailwindcss, tailwind css
vite:
webpack:
esbuild:
rollup:
babel:
eslint:
prettier:
biome:
express: expressjs
fastapi:
flask:
django:
rails: ruby on rails
spring: spring boot
laravel:
graphql:
grpc:
rest api: restful api
websocket: websockets
sse: server-sent events
kafka:
rabbitmq:
celery:
prisma:
sqlalchemy:
alembic:
typeorm:
drizzle:
pytest:
unittest:
jest:
vitest:
mocha:
playwright:
cypress:
selenium:
puppeteer:
ruff:
mypy:
pyright:
black:
flake8:
pylint:
poetry:
uv:
pip:
npm:
pnpm:
yarn:
pandas:
numpy:
pytorch: torch
tensorflow:
scikit-learn: sklearn
hugging face: huggingface, transformers.js
openai: gpt-4, gpt-5, chatgpt
anthropic: claude
langchain:
langgraph:
ollama:
lancedb:
jwt: json web token
oauth: oauth2
saml:
tls: ssl
s3: amazon s3
lambda: aws lambda
stripe:
sentry:
datadog:
prometheus:
grafana:
opentelemetry: otel
linux:
macos: mac os
windows:
bash:
zsh:
electron:
tauri:
react native:
flutter:
android:
ios:
markdown:
mdx:
json schema: jsonschema
openapi: swagger
protobuf: protocol buffers
"""
# Words that are mostly plain English count only where they are written as a name.
_ORDINARY = frozenset(
    [
        "go",
        "git",
        "rust",
        "swift",
        "ruby",
        "java",
        "react",
        "spring",
        "express",
        "flask",
        "remix",
        "black",
        "lambda",
        "angular",
        "express",
        "sentry",
        "windows",
        "node",
        "bash",
        "sse",
        "electron",
        "flutter",
        "mocha",
        "jest",
        "vue",
        "vite",
        "poetry",
        "uv",
        "rest",
        "ts",
        "js",
        "stripe",
        "azure",
    ]
)


def _table() -> dict[str, str]:
    known: dict[str, str] = {}
    for line in _ALIASES.strip().splitlines():
        name, _, others = line.partition(":")
        for alias in (name, *filter(None, (one.strip() for one in others.split(",")))):
            known[alias.lower()] = name
    return known


CANONICAL = _table()
"""Lower-case name or alias → the name it goes by."""


@cache
def _pattern() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(CANONICAL, key=len, reverse=True))
    return re.compile(rf"(?<![\w./@-])(?:{names})(?![\w/-]|\.\w)", re.IGNORECASE)


def technologies(text: str) -> tuple[str, ...]:
    """Return the technologies that a text names, by the names they go by, each once, in order."""
    found: dict[str, None] = {}
    for match in _pattern().finditer(text):
        word = match[0]
        if word.lower() in _ORDINARY and not _named(text, match):
            continue
        found.setdefault(CANONICAL[word.lower()])
    return tuple(found)


def canonical(name: str) -> str:
    """Return the name that a technology goes by, or the name as it is, in lower case."""
    return CANONICAL.get(name.lower(), name.lower())


def _named(text: str, match: re.Match[str]) -> bool:
    """Whether an ordinary word is written as a name: with a capital inside a sentence, or quoted."""
    start = match.start()
    if start and text[start - 1] == "`":
        return True
    begins = not text[:start].rstrip() or text[:start].rstrip()[-1:] in ".!?:"
    return match[0][0].isupper() and not begins
