"""Prompts that come before their hook: `hooks/run` gives one to the daemon while the hook's interpreter still starts,
so that most of the answer is there when the hook asks for it."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable

from vector_memory import wire
from vector_memory.daemon import hook_message
from vector_memory.daemon.hook_message import HookMessage
from vector_memory.service.base import delivery
from vector_memory.service.base.delivery import Delivery
from vector_memory.system.files import delete_file

log = logging.getLogger(__name__)

TOOLS = ("/usr/bin/timeout", "/bin/dd")
"""What `hooks/run` reads a prompt with. Where one is not there, no prompt comes early."""
ASKED_WITHIN_S = 1.0
"""How long an answer waits for its hook: longer than any hook lives."""
MOST = 16
"""Answers that are begun at once; more hooks than that ask in the usual way."""
READ_BYTES = 65_536

Answer = Callable[[bytes, HookMessage], bytes]


class BegunAnswer:
    """An answer that is being made to what was said."""

    def __init__(self, message: HookMessage) -> None:
        self.message = message
        self.printed = b""
        self.delivery = Delivery()
        self.made = threading.Event()
        self.taken = threading.Event()


class EarlyPrompts:
    """The pipe in the present folder that prompts come through, and the answers begun for them.

    Args:
        answer: makes the answer for a hook's body, and what is said in it, as for a hook that asks.
        give_up: is told of a body whose hook never asked: it is as if it had not come.
    """

    def __init__(self, answer: Answer, give_up: Callable[[bytes], object]) -> None:
        self.fd = -1
        self._answer, self._give_up = answer, give_up
        self._begun: dict[bytes, BegunAnswer] = {}
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Make the pipe, for this user alone, where it is missing or somebody else's; nothing happens where the
        system has no such pipes. `fd` stays the same number."""
        if self._is_own() or not all(os.access(tool, os.X_OK) for tool in TOOLS):
            return
        try:
            delete_file(wire.PROMPTS)
            os.mkfifo(wire.PROMPTS, 0o600)
            # Opened for writing as well, it never reads as ended while no hook has it open.
            fd = os.open(wire.PROMPTS, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except (AttributeError, OSError) as error:
            log.info("prompts do not come early: %s", error)
            return
        if self.fd < 0:
            self.fd = fd
        else:
            os.dup2(fd, self.fd, inheritable=False)
            os.close(fd)

    def close(self) -> None:
        """Let no more prompts come. The pipe of a daemon that follows stays."""
        if self._is_own():
            delete_file(wire.PROMPTS, OSError)

    def hear(self) -> None:
        """Read what has come through the pipe, and begin to answer it in threads of their own."""
        with contextlib.suppress(BlockingIOError):
            for body in os.read(self.fd, READ_BYTES).split(b"\n"):
                self._begin_answer(body)

    def take(self, body: bytes) -> BegunAnswer | None:
        """Return the answer that was begun for a hook's body, once; None where there is none."""
        with self._lock:
            begun = self._begun.pop(body, None)
        if begun is not None:
            begun.taken.set()
        return begun

    def _begin_answer(self, body: bytes) -> None:
        try:
            message = hook_message.read(body)
        except ValueError:
            # A longer one was cut.
            message = None
        if message is None:
            return
        begun = BegunAnswer(message)
        with self._lock:
            if len(self._begun) >= MOST or self._begun.setdefault(body, begun) is not begun:
                return
        try:
            threading.Thread(target=self._make_answer, args=(body, begun), daemon=True).start()
        except RuntimeError as error:
            log.error("no thread for a prompt that came early: %s", error)
            self.take(body)
            begun.made.set()

    def _make_answer(self, body: bytes, begun: BegunAnswer) -> None:
        try:
            with delivery.deliverable() as begun.delivery:
                begun.printed = self._answer(body, begun.message)
        finally:
            begun.made.set()
        if not begun.taken.wait(ASKED_WITHIN_S) and self.take(body) is begun:
            begun.delivery.take_back()
            self._give_up(body)

    def _is_own(self) -> bool:
        if self.fd < 0:
            return False
        try:
            return os.path.samestat(os.stat(wire.PROMPTS), os.fstat(self.fd))
        except OSError:
            return False
