"""What the tests of whole sessions share. Installing and starting a daemon takes seconds, so that
tests of one file that only add memories share one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.harness import bundle
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client
from e2e.harness.install import Installation


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin as users get it."""
    return bundle.copy(tmp_path_factory.mktemp("plugin") / "vector memory")


@pytest.fixture(scope="session")
def api() -> Iterator[ScriptedApi]:
    """The scripted model."""
    with ScriptedApi() as server:
        yield server


@pytest.fixture
def installed(plugin: Path, tmp_path: Path) -> Iterator[Installation]:
    """An installed product that belongs to one test."""
    product = Installation(tmp_path / "product", plugin)
    yield product
    product.close()


@pytest.fixture
def client(api: ScriptedApi, installed: Installation, tmp_path: Path) -> Client:
    """The real client, with the product's data home, and without its MCP server."""
    return Client(api, tmp_path, installed.home, with_servers=False)


@pytest.fixture(scope="module")
def shared_product(
    plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """An installed product that the tests of one file share."""
    product = Installation(tmp_path_factory.mktemp("shared"), plugin)
    yield product
    product.close()


@pytest.fixture(scope="module")
def shared_client(api: ScriptedApi, shared_product: Installation) -> Client:
    """The real client with the shared product, without its MCP server."""
    return Client(api, shared_product.root, shared_product.home, with_servers=False)
