"""Installing a backend's packages into the runtime, on request.

torch is never locked: which build is right depends on the machine, and its default build for Linux
brings several gigabytes of CUDA. Here only a CPU build is taken.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping

from vector_memory.embed.registry import BACKENDS, OPTIONAL
from vector_memory.errors import BadInputError, SetupError
from vector_memory.model import Progress, ignore_progress
from vector_memory.system import pip_config

PACKAGE = "sentence-transformers>=5,<7"
LOCAL_TORCH = "torch==2.13.0+cpu"
"""The build that machines with pip's find-links keep there. `+cpu` is on no package index, so a
machine that lacks it cannot get another build by mistake."""
TIMEOUT_S = 1800.0


def install_backend(
    name: str, runtime_python: str, uv: str, progress: Progress = ignore_progress
) -> tuple[str, ...]:
    """Install what a backend needs into the runtime; packages that are there keep their version.

    Args:
        name: a backend of `registry.BACKENDS`. All but `sentence-transformers` need nothing.
        runtime_python: the runtime's interpreter.
        uv: the uv to install with.
        progress: told of each step.

    Returns:
        The packages that were added or changed, as `name==version`, sorted; none where nothing was needed.

    Raises:
        BadInputError: there is no such backend.
        SetupError: the packages cannot be installed, or a CUDA build came in.
    """
    if name not in BACKENDS:
        raise BadInputError(f"There is no backend {name!r}.", f"Backends: {', '.join(BACKENDS)}.")
    if name not in OPTIONAL:
        return ()
    progress(0, 2, "looking at what is there")
    packages_before = _freeze(uv, runtime_python)
    progress(1, 2, "installing torch for the CPU and sentence-transformers (about 1 GB)")
    _install(uv, runtime_python, packages_before)
    packages_after = _freeze(uv, runtime_python)
    # Whatever was asked for, a resolver may have taken it: several gigabytes that no CPU uses.
    unwanted = sorted(filter(_is_of_cuda, packages_after - packages_before))
    if unwanted:
        raise SetupError(
            f"A CUDA build was installed: {', '.join(unwanted)}.",
            "Delete the runtime's folder, run `./bootstrap.sh`, and report this.",
        )
    progress(2, 2, "installed")
    return tuple(sorted(packages_after - packages_before))


def _is_of_cuda(package: str) -> bool:
    is_build = package.startswith("torch==") and "+cu" in package
    return is_build or package.startswith(("nvidia-", "triton=="))


def _install(uv: str, python: str, present: frozenset[str]) -> None:
    """Try pip's find-links where there are any, then the CPU builds that torch publishes."""
    folders = dict.fromkeys(pip_config.read(os.environ).get("find-links", "").split())
    attempts = [([LOCAL_TORCH], {"UV_FIND_LINKS": ",".join(folders)})] if folders else []
    attempts.append((["torch", "--torch-backend=cpu"], {}))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        # The runtime must not change under the backend that is in use.
        constraints.write("\n".join(sorted(present)))
        constraints.flush()
        install = ["pip", "install", "--python", python, "--constraints", constraints.name, PACKAGE]
        reason = ""
        for arguments, environment in attempts:
            result = _run([uv, *install, *arguments], environment)
            if result.returncode == 0:
                return
            reason = result.stderr.strip()[-600:]
    raise SetupError(
        f"sentence-transformers could not be installed: {reason}",
        "Make sure that a package index and a CPU build of torch can be reached, then run "
        "`vector-memory backend install sentence-transformers` again.",
    )


def _freeze(uv: str, python: str) -> frozenset[str]:
    """Return the installed packages as `name==version`."""
    result = _run([uv, "pip", "freeze", "--python", python], {})
    if result.returncode != 0:
        raise SetupError(
            f"The runtime at {python} cannot be read: {result.stderr.strip()[-300:]}",
            "Run `./bootstrap.sh` first.",
        )
    lines = result.stdout.splitlines()
    return frozenset(line for line in lines if "==" in line and line.split() == [line])


def _run(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(
            f"{command[0]} does not run: {error}.", "Run `./bootstrap.sh` again."
        ) from error
