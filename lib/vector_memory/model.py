"""The words that all other modules share: what a memory is, what a question may be limited to,
and the protocols between the parts. No I/O, no third-party import."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, IntFlag
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from vector_memory import standing
from vector_memory.standing import AUTHOR as AUTHOR
from vector_memory.standing import IS_FOREIGN as IS_FOREIGN
from vector_memory.standing import OF_TALK as OF_TALK
from vector_memory.standing import SUSPICION as SUSPICION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """(dim,) float32, L2-normalised."""
    Vectors = NDArray[np.float32]
    """(n, dim) float32, every row L2-normalised."""


class CleanText(str):
    """Text that went through `redact.clean`. Only that module makes one; the journal takes
    nothing else, so that unredacted text cannot be written by mistake."""

    __slots__ = ()


class Word(str, Enum):
    """A closed vocabulary whose members are plain strings in JSON and SQL."""

    def __str__(self) -> str:
        return str(self.value)


class Priority(Word):
    """How much a memory matters, whatever is asked."""

    CORE = "CORE"
    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


IMPORTANT = (Priority.CORE, Priority.HIGH)


class Origin(Word):
    """Whose words these are. Text of origin `tool` never becomes a rule by itself."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORT = "import"
    JOB = "job"


class Status(Word):
    """`active` memories are recalled; `superseded` ones give way to their successor;
    `forgotten` ones are tombstones without text."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


LIVING = (Status.ACTIVE, Status.SUPERSEDED)
"""What is there, whether it holds or gave way to what took its place."""


class Temporal(Word):
    """How a memory ages."""

    PERMANENT = "permanent"
    DECAYING = "decaying"
    DEADLINE = "deadline"
    PERIODIC = "periodic"


class Tier(Word):
    """How near at hand a memory is kept. `cold` ones have no place in the search index: they are found by
    their words alone, by who asks, and are warm again once they are."""

    HOT = "hot"
    WARM = "warm"
    LONG_TERM = "long-term"
    COLD = "cold"


class Sensitivity(Word):
    """Who may see a memory when stores are shared or exported."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    RESTRICTED = "restricted"


JURISDICTIONS = ("EU", "UK", "CH", "US", "CA", "JP", "AU", "BR")
"""Whose law a memory may be said to be kept under."""


def strictest(*levels: Sensitivity) -> Sensitivity:
    """Return the most sensitive of levels."""
    return max(levels, key=tuple(Sensitivity).index)


def levels_up_to(*ceilings: Sensitivity | str | None) -> tuple[str, ...]:
    """Return the levels below all of some ceilings, these included; () for all levels."""
    every = tuple(map(str, Sensitivity))
    lowest = min(
        (every.index(str(ceiling)) for ceiling in ceilings if ceiling), default=len(every) - 1
    )
    return every[: lowest + 1] if lowest + 1 < len(every) else ()


UNRESTRICTED = levels_up_to(Sensitivity.CONFIDENTIAL)
"""The levels of what agents may be given."""
IN_NOTES = levels_up_to(Sensitivity.INTERNAL)
"""The levels of what is written into the user's notes: other programs read these and carry them elsewhere."""


class Relation(Word):
    """What a link from one memory to another means."""

    SUPERSEDES = "supersedes"
    BUILDS_ON = "builds_on"
    CONTRADICTS = "contradicts"
    ANSWERS = "answers"
    CLARIFIES = "clarifies"
    RELATES_TO = "relates_to"


class Retention(Word):
    """What the upkeep jobs may do to a collection."""

    PERMANENT = "permanent"
    TTL = "ttl"
    PROTECTED = "protected"
    DECAY = "decay"
    CONSOLIDATE = "consolidate"
    SESSION = "session"


class CollectionRule(NamedTuple):
    """How a collection is kept. `ttl_s` is None where nothing expires by age."""

    retention: Retention
    ttl_s: int | None


DEFAULT_COLLECTION = "claude_memories"
COLLECTIONS: dict[str, CollectionRule] = {
    "claude_memories": CollectionRule(Retention.PERMANENT, None),
    "short_term_memory": CollectionRule(Retention.TTL, 7 * 86_400),
    "working_memory": CollectionRule(Retention.TTL, 60 * 60),
    "learnings": CollectionRule(Retention.PROTECTED, None),
    "procedures": CollectionRule(Retention.PROTECTED, None),
    "trajectories": CollectionRule(Retention.DECAY, None),
    "episodes": CollectionRule(Retention.CONSOLIDATE, None),
    "heuristics": CollectionRule(Retention.PERMANENT, None),
    "pheromone_trails": CollectionRule(Retention.DECAY, None),
    "causal_analysis": CollectionRule(Retention.PERMANENT, None),
    "constitutional_assessments": CollectionRule(Retention.SESSION, None),
    "world_model": CollectionRule(Retention.DECAY, None),
}

TRAILS, HEURISTICS, ASSESSMENTS, SCRATCH, WORLD = (
    "pheromone_trails", "heuristics", "constitutional_assessments", "working_memory", "world_model",
)  # fmt: skip
TRAJECTORIES, EPISODES = "trajectories", "episodes"
QUIET = frozenset({TRAILS, HEURISTICS, ASSESSMENTS, SCRATCH, WORLD})
"""Collections that a question finds only where it names them: what observers keep count of, and notes
for the moment. Each has a way of its own to come up."""

HEAVY_COLLECTIONS = ("procedures", HEURISTICS)
"""Collections of what is to be done; what is found to be so is in `learnings`, whoever found it."""

PASSAGE, NOTE = "exchange", "note"
"""The kinds of memories that are talk as it was, passages of a prompt and what came of it, and of what was remembered
without a kind."""
SUBAGENT_TAG = "subagent"
"""The tag of what was said and found in a subagent's talk."""
BY_MODEL = "model:"
"""How an idea that a language model found in a session is called by the program that stores it: by this and a digest."""
EDITED = "edited"
"""What a memory's `extra` says where the user wrote its text: no reading replaces that."""
DONE_HEAD = "Done: "
"""How a line of a passage begins that lists what was done between two things said."""
TOPIC = "topic"
"""The kind of memories that are a stretch of a session: its name and summary."""
SUMMARY = "summary"
"""The kind of memories that are what came of a whole session."""
DERIVED = (TOPIC, SUMMARY)
"""Kinds that repeat what other memories of a session say: no part of the talk itself."""
DECISION, CONCLUSION, QUESTION = "decision", "conclusion", "question"
PROBLEM, SOLUTION, TODO = "problem", "solution", "todo"
CONTEXT, PREFERENCE, PROCEDURE = "context", "preference", "procedure"
FACT, CAUSE = "fact", "cause"
INTENTS = (
    DECISION, CONCLUSION, QUESTION, PROBLEM, CAUSE, SOLUTION, TODO, FACT, CONTEXT, PREFERENCE, PROCEDURE,
)  # fmt: skip
"""The kinds of memories that are one idea: what a sentence is meant as."""
WAITING = (QUESTION, TODO)
"""Kinds of what somebody is to do or to say."""
OPEN_KINDS = (*WAITING, PROBLEM)
"""Kinds of what is open until something is said to it."""
STANDING = tuple(kind for kind in INTENTS if kind != QUESTION)
"""Kinds of what was decided, found, solved or left to do: it holds until something else is said, however long ago that
was. A question that nobody came back to does not."""
BINDING = (DECISION, PREFERENCE)
"""What may bind later sessions where the user says it."""
RULES = (
    PREFERENCE, PROCEDURE, "rule", "objective", "goal", "constraint", "policy", "instruction",
)  # fmt: skip
"""Kinds that say what to do from now on: what others wrote never has one by itself."""
KINDS = tuple(
    dict.fromkeys((*INTENTS, *RULES, NOTE, "fix", "learning", "episode", "trajectory", *OF_TALK))
)
"""The kinds that there are without anybody's own."""
PROPOSED = "proposed"
"""In `extra`: what an agent would have a memory count as, which waits for the user."""
REVIEWED = "reviewed"
"""In `extra`: `at` and `as` of the review in which the user settled it, and `beside`, the ids of memories that he
lets stand beside it."""
TRIGGERS = "triggers"
"""In `extra`: conditions under which it comes by itself, each as `file:`, `command:`, `error:` or `term:` and
what for."""
MOST_TRIGGERS = 16
GAVE_WAY = "gave_way"
"""In `extra`: why it was replaced, in a few words."""
LOOKUP = "lookup"
"""In `extra` of a passage: in its exchange this memory was asked, and nothing else was looked at or done."""
BRANCH, PULL = "branch", "pull"
"""In `extra` of an exchange's first passage: the branch of version control at its end, and the number of the
pull request that it names."""
WROTE, TOOK_AWAY = "wrote", "took_away"
"""In `extra` of an exchange's first passage: marks of the lines that its edits wrote, and of those that they took away
(`index/edited_lines.py`)."""
BOX = "box"
"""In `extra` of a todo that is a box of to-do lists: for each of these the box's mark and when it was last added or ticked,
as an ISO time."""
EXTRACTION_MARK = "<vector-memory-extraction"
"""A prompt that starts with this belongs to a session of our own; nothing of it is kept."""

GLOBAL_PROJECT = ""
"""The project id of memories that belong to the user rather than to a project."""


@dataclass(frozen=True)
class Source:
    """Where a memory was found. Lines count from 1 and include both ends; 0 means unknown.
    `turn` orders the memories of one session."""

    session: str = ""
    path: str = ""
    line_start: int = 0
    line_end: int = 0
    turn: int = 0
    speaker: str = ""


OF_ITS_STORE = (
    "seq", "stored_at", "updated_at", "uses", "last_used_at", "tier", "applied", "applied_at",
)  # fmt: skip
"""What of a memory its store alone says."""


@dataclass(frozen=True)
class Memory:
    """One stored memory. `seq` is the store's sequence number of its last change of content
    (0 before it is stored); `model` names the embedding model of its vector ("" without one).
    All times are aware UTC. `kind` is open: unknown kinds are kept as they are."""

    id: str
    text: CleanText
    created_at: datetime
    kind: str = NOTE
    title: str = ""
    collection: str = DEFAULT_COLLECTION
    project: str = GLOBAL_PROJECT
    priority: Priority = Priority.NORMAL
    confidence: float = 0.5
    origin: Origin = Origin.USER
    temporal: Temporal = Temporal.PERMANENT
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    jurisdiction: str = ""
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)
    external_id: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    status: Status = Status.ACTIVE
    superseded_by: str = ""
    model: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
    stored_at: datetime | None = None
    updated_at: datetime | None = None
    uses: int = 0
    last_used_at: datetime | None = None
    """When it was last given to a session or asked for; `uses` counts that."""
    tier: Tier = Tier.HOT
    applied: int = 0
    """In how many sessions it was of use: asked for, or followed by what it says. Being shown is no use."""
    applied_at: datetime | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether observers keep it for their own use: it comes only where its collection is asked for by name."""
        is_example = self.collection == TRAJECTORIES and self.origin is Origin.JOB
        return self.collection in QUIET or is_example

    @property
    def is_captured(self) -> bool:
        """Whether it was read out of a session's transcript: nobody stored it on purpose."""
        return bool(self.source.session and self.source.path)

    @property
    def is_aside(self) -> bool:
        """Whether it was made of a session's talk, such as an idea or a topic: it stands beside the
        talk, not between two passages of it."""
        return self.is_captured and self.kind != PASSAGE

    @property
    def is_by_model(self) -> bool:
        """Whether a language model found it in a session: its words are neither the user's nor the assistant's. What the
        user has reworded since is the user's."""
        is_found = self.is_captured and self.external_id.startswith(BY_MODEL)
        return is_found and not self.extra.get(EDITED)

    @property
    def entities(self) -> tuple[str, ...]:
        """What it is about by name, each as `kind:name`."""
        entities = self.extra.get("entities")
        return tuple(map(str, entities)) if isinstance(entities, list) else ()

    def holds_word(self, word: str) -> bool:
        """Whether its text holds a word, which is in lower case."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text.lower()) is not None

    @property
    def is_foreign(self) -> bool:
        """Whether somebody else wrote it and the user did not vouch for it: a tool's output, or an import
        that nobody asked for."""
        return standing.is_foreign(self.origin.value, self.extra)

    @property
    def author(self) -> dict[str, str]:
        """`key` and `name` of the member of a team who shared it; {} where it is this user's own."""
        return standing.author(self.extra)

    @property
    def state(self) -> str:
        """`done` of what is open no more, `rejected` or the like of a decision that is not in force, "" for
        anything else."""
        return standing.state_label(self.extra)

    @property
    def trust(self) -> int:
        """Whose word stands against whose: the user's above a session's and what was imported on
        purpose, these above what others wrote."""
        if self.is_foreign or self.is_suspicious:
            return 0
        return 2 if self.origin is Origin.USER else 1

    @property
    def weight(self) -> dict[str, str]:
        """What of its `kind`, `priority` and `collection` makes others go by it, {} for nothing."""
        weight = {}
        if self.kind.strip().casefold() in RULES:
            weight["kind"] = self.kind
        if self.priority in IMPORTANT:
            weight["priority"] = self.priority.value
        if self.collection in HEAVY_COLLECTIONS:
            weight["collection"] = self.collection
        return weight

    @property
    def proposed(self) -> dict[str, Any]:
        """What an agent would have it count as, with `held` where hooks hold it back until then; {} for
        nothing."""
        proposed = self.extra.get(PROPOSED)
        return proposed if isinstance(proposed, dict) else {}

    @property
    def suspicion(self) -> dict[str, Any]:
        """`score` and `reasons` of what looks like an instruction to the model in it, with `held` where
        hooks hold it back and `released` where the user let it go; {} for nothing."""
        suspicion = self.extra.get(SUSPICION)
        return suspicion if isinstance(suspicion, dict) else {}

    @property
    def is_suspicious(self) -> bool:
        """Whether it is shown with a warning."""
        return standing.is_suspicious(self.extra)

    @property
    def is_held(self) -> bool:
        """Whether no hook brings it, and no agent is given it: only the user who asks on purpose is."""
        if self.sensitivity is Sensitivity.RESTRICTED:
            return True
        return self.suspicion.get("held") is True or self.proposed.get("held") is True

    @property
    def gave_way(self) -> str:
        """Why it was replaced, in a few words; "" where it was not, or nobody knows."""
        return str(self.extra.get(GAVE_WAY) or "")

    def as_new(self, **changed: Any) -> Memory:
        """Return the memory, changed so, as one that no store has seen: neither used nor embedded."""
        defaults = {name: getattr(Memory, name) for name in OF_ITS_STORE}
        return replace(self, model="", **defaults, **changed)

    def revived(self) -> Memory:
        """Return the memory as one that holds again."""
        extra = {name: value for name, value in self.extra.items() if name != GAVE_WAY}
        return replace(self, status=Status.ACTIVE, superseded_by="", valid_until=None, extra=extra)

    @property
    def embedded(self) -> str:
        """What of it is embedded, and by whose hash its vector is known: a passage of a session
        together with its title, since it leans on what was asked; of others the text alone."""
        if self.kind == PASSAGE and self.title and not self.text.startswith(self.title):
            return f"{self.title}\n{self.text}"
        return self.text


@dataclass(frozen=True)
class Link:
    """A directed link between two memories of one store."""

    from_id: str
    to_id: str
    relation: Relation
    weight: float = 1.0
    created_at: datetime | None = None

    def end_beyond(self, id: str) -> str:
        """Return the id of the memory at the other end, seen from one of both."""
        return self.from_id if self.to_id == id else self.to_id


@dataclass(frozen=True)
class Project:
    """A project as this machine knows it. `root` is its folder's real path ("" when it was never
    seen here); `store` is the folder of its own store ("" while it lives in the global one)."""

    id: str
    name: str
    root: str = ""
    store: str = ""


@dataclass(frozen=True)
class Scope:
    """What a question is limited to: the one place where filters are expressed.

    `projects` None means every project; otherwise only these ids (GLOBAL_PROJECT among them
    if global memories are wanted). Empty tuples and None leave the rest unlimited. `tags`,
    `kinds`, `sessions`, `collections`, `entities` (`kind:name`), `tiers`, `priorities` and `origins` match any of
    the given words; `without` are collections that are left out. `levels` are those of sensitivity that may be
    given, `laws` the jurisdictions, `without_kinds` kinds that may not be. `words` are names in lower case of which a
    text holds one. `since` is inclusive, `until` exclusive, both on `created_at`. What has expired by `unexpired_at`
    is left out; with `trusted` so is what has no `trust`.
    """

    projects: tuple[str, ...] | None = None
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    entities: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    without_kinds: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unexpired_at: datetime | None = None
    trusted: bool = False

    def up_to(self, *ceilings: Sensitivity | str | None) -> Scope:
        """Return the scope below these ceilings as well as its own. Under any ceiling it leaves out what was made of,
        or learned from, whole sessions, which may hold words from above it."""
        levels = levels_up_to(*ceilings)
        if not levels:
            return self
        # Each is all levels up to one: the shorter is the stricter.
        levels = min(levels, self.levels or levels, key=len)
        without = {*self.without, TRAILS, HEURISTICS, WORLD, TRAJECTORIES}
        return replace(self, levels=levels, without=tuple(sorted(without)), without_kinds=DERIVED)

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is within these limits."""
        return (
            (self.projects is None or memory.project in self.projects)
            and (not self.kinds or memory.kind in self.kinds)
            and (not self.tags or not set(self.tags).isdisjoint(memory.tags))
            and (not self.sessions or memory.source.session in self.sessions)
            and (not self.collections or memory.collection in self.collections)
            and memory.collection not in self.without
            and memory.kind not in self.without_kinds
            and (not self.levels or memory.sensitivity in self.levels)
            and (not self.tiers or memory.tier in self.tiers)
            and (not self.priorities or memory.priority in self.priorities)
            and (not self.origins or memory.origin in self.origins)
            and (not self.laws or memory.jurisdiction in self.laws)
            and (not self.trusted or memory.trust > 0)
            and (not self.words or any(map(memory.holds_word, self.words)))
            and (not self.entities or not set(self.entities).isdisjoint(memory.entities))
            and (self.since is None or memory.created_at >= self.since)
            and (self.until is None or memory.created_at < self.until)
            and not (
                self.unexpired_at and memory.expires_at and memory.expires_at <= self.unexpired_at
            )
        )

    @property
    def without_records(self) -> Scope:
        """The scope without the records that observers keep, unless collections are named: lists, figures and exports
        are of memories."""
        without = tuple(sorted(QUIET.union(self.without)))
        return self if self.collections else replace(self, without=without)

    def listed_at(self, now: datetime) -> Scope:
        """Return the scope of lists and figures: what has expired is stored until the next sweep, but shown to
        nobody."""
        return replace(self.without_records, unexpired_at=now)

    @property
    def only_projects(self) -> bool:
        """Whether nothing but the project is limited: the hot path."""
        return not any(limit for name, limit in vars(self).items() if name != "projects")

    @property
    def is_by_state(self) -> bool:
        """Whether it is limited by what the index does not know of a memory, beside its sensitivity."""
        return bool(
            self.tiers
            or self.priorities
            or self.origins
            or self.laws
            or self.without_kinds
            or self.words
            or self.unexpired_at
        )


ALIKE_DIGITS = 6
"""To so many digits the cosines of equal texts with a question are equal, wherever their vectors stand."""


class Candidate(NamedTuple):
    """A memory that a retriever proposes: its sequence number, and a score of that retriever's
    own scale where higher is better."""

    seq: int
    score: float


class Around(NamedTuple):
    """What stands around memories: arrays of one length, by ascending sequence number. Codes are
    numbers for words, -1 for none; they mean something within one store only.

    seqs: (n,) int64 · before, before2, after: (n,) int64, the sequence numbers of the memories one
    and two before and one after in the same session, 0 for none · session, speaker, kind: (n,)
    int32 codes · days: (n,) float64, days since 1970 · size: (n,) uint8, distinct terms, at most
    255 · marks: (n,) uint8, bits of `Mark`
    """

    seqs: NDArray[np.int64]
    before: NDArray[np.int64]
    before2: NDArray[np.int64]
    after: NDArray[np.int64]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    kind: NDArray[np.int32]
    days: NDArray[np.float64]
    size: NDArray[np.uint8]
    marks: NDArray[np.uint8]


class Mark(IntFlag):
    """What a text is, besides what it says."""

    QUESTION = 1
    """It ends with a question."""
    TIME = 2
    """It says when something was or will be."""
    ASIDE = 4
    """It was made of a session's talk and is no part of it."""


class IndexRow(NamedTuple):
    """What the search index needs of an active memory. `vector` is None while there is none."""

    memory: Memory
    lexical: str
    vector: Vector | None


BegunVector = Callable[[], "Vector | None"]
"""Waits for a vector that is being made, and gives None where there is no model now, or it takes too long."""


class Embedder(Protocol):
    """Turns text into vectors. One instance is used by one thread at a time."""

    @property
    def model(self) -> str:
        """The model and its version, such as `all-MiniLM-L6-v2@53aa5117`. Vectors are compared
        only where this is equal."""

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) float32, L2-normalised, in the order of `texts`.

        Raises:
            EmbeddingError: the model cannot be used now.
        """

    def embed_query(self, text: str) -> Vector:
        """Return (dim,) float32, L2-normalised, for a question rather than a document."""

    def close(self) -> None:
        """Release what the model holds."""


@runtime_checkable
class Served(Protocol):
    """An embedder whose model can be replaced under its name while it is in use."""

    def confirm(self) -> None:
        """Ask whether what embeds now is still the model that `model` names.

        Raises:
            ModelChangedError: it is another one.
            EmbeddingError: nobody answers.
        """


@runtime_checkable
class Vocabulary(Protocol):
    """An embedder that tells the words of its language from names."""

    def has_word(self, word: str) -> bool:
        """Whether a word stands in the model's vocabulary as a whole: "cache", and not "memcached"."""


class Completion(str):
    """What a language model wrote. `tokens` is what the call took, prompt included, as the backend
    reports it; None where it does not."""

    tokens: int | None

    def __new__(cls, text: str, tokens: int | None = None) -> Completion:
        completion = super().__new__(cls, text)
        completion.tokens = tokens
        return completion


class Generator(Protocol):
    """A language model that writes text. It is an option everywhere: nothing depends on one."""

    name: str
    overhead_tokens: int
    """Tokens that a call takes besides its prompt and its answer, rather too many than too few."""

    def complete(
        self,
        prompt: str,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model writes after a prompt.

        Args:
            schema: a JSON schema that the answer should follow. Some backends see to that, others
                leave it to the prompt: whoever asks has to check.

        Raises:
            GenerationError: it cannot be used now.
        """

    def check(self, timeout_s: float) -> None:
        """See whether it could be used, without asking the model.

        Raises:
            GenerationError: it plainly cannot.
        """


class Progress(Protocol):
    """How long work reports: steps done, steps in all, and what is being done."""

    def __call__(self, done: int, total: int, doing: str) -> None: ...


def ignore_progress(done: int, total: int, doing: str) -> None:
    """A `Progress` for callers who do not watch."""


def is_hex(word: str, size: int) -> bool:
    """Whether a word is so many lower-case hexadecimal digits: 32 of an id, 64 of a hash."""
    return len(word) == size and _HEX_DIGITS.issuperset(word)


_HEX_DIGITS = frozenset("0123456789abcdef")


def digest_of(*words: str, size: int = 16) -> str:
    """Return what tells these words from others, the same at any time: so many bytes, in hexadecimal."""
    return hashlib.blake2b(
        "\0".join(words).encode("utf-8", "surrogatepass"), digest_size=size
    ).hexdigest()


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words without repetitions, in their order."""
    return tuple(dict.fromkeys(words))
