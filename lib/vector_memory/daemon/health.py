"""How a daemon is: what `daemon status` and `doctor` are told."""

from __future__ import annotations

from vector_memory.service.base.messages import Answer, spare
from vector_memory.service.base.timings import Slo


class DaemonStatus(Answer, kw_only=True):
    """What can be said without looking at any store.

    Attributes:
        state: the stage of its start, see `App.state`; `damaged` where no store can be opened since a file is, `shut`
            where none can for another reason, such as a full disk.
        error: why none can be opened, "" where one is.
        busy: whether background work is being done, see `App.busy`.
        stages_s: when each stage was reached, in seconds since the start.
        set_aside: how many events are that failed three times.
        variables: its environment's variables that are settings: it serves all sessions with them.
    """

    pid: int
    rss_mb: float
    state: str
    error: str
    busy: bool
    version: str
    uptime_s: float
    requests: int
    stages_s: dict[str, float]
    set_aside: int
    data_home: str
    variables: list[str]


class LoggedError(Answer):
    """An error of background work: the last time (Unix), where, what, and how often one after the other."""

    at: float
    where: str
    error: str
    times: int | None = spare()


class ModelHealth(Answer):
    """The embedding model: its state, its name, and why it is not up."""

    state: str
    model: str
    error: str


class Health(Answer):
    """The last errors, the counters, how long answers took, and how models and rules of privacy are."""

    errors: list[LoggedError]
    generation: dict[str, object]
    privacy: dict[str, object]
    counters: dict[str, int]
    slo: dict[str, Slo]
    embedding: ModelHealth


class RetryAnswer(Answer):
    """How many events were tried once more, and how many are set aside now."""

    retried: int
    set_aside: int
