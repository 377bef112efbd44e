"""The addresses of `/v1`: one table, by which calls are routed, checked and described (`openapi`)."""

from __future__ import annotations

from dataclasses import dataclass

from vector_memory.aging import Every
from vector_memory.model import Sensitivity, Temporal
from vector_memory.web import acts
from vector_memory.web.acts import Act
from vector_memory.web.shapes import NUMBER, SHARE, TEXT, YES, ShapeField, many, need

GET, POST = "GET", "POST"


@dataclass(frozen=True)
class Route:
    """One address.

    Attributes:
        right: what a token needs; `NOBODY` where none is asked for.
        fields: of the body, or of the query where it is a GET.
        answer: the name of the answer's shape.
        aliases: where else it is found.
        is_narrow: a token for one project can use it: nothing of others is told.
        is_once: `Idempotency-Key` is heeded.
        is_of_memories: what it tells is single memories, each with its level: a token with a ceiling can use it.
    """

    method: str
    path: str
    right: str
    act: Act
    doc: str
    fields: tuple[ShapeField, ...] = ()
    answer: str = "Any"
    aliases: tuple[str, ...] = ()
    is_narrow: bool = True
    is_once: bool = False
    is_of_memories: bool = False


QUERY = need(ShapeField("query", TEXT, "A question, or words.", high=8_000))
LIMIT = ShapeField("limit", NUMBER, "How many at most.", low=1, high=100)
PROJECT = ShapeField("project", TEXT, "A project's folder; all of them by default.", high=4_096)
INTO = ShapeField("project", TEXT, "A project's folder; the gateway's own by default.", high=4_096)
DATES = (
    ShapeField("since", TEXT, "Not before: an ISO date or time, yesterday, 3d.", high=40),
    ShapeField("until", TEXT, "Before: as `since`.", high=40),
)
AGEING = (
    ShapeField("temporal", TEXT, "How it ages.", choices=tuple(temporal.value for temporal in Temporal)),
    ShapeField("due", TEXT, "The day after which a deadline is over, or on which it comes first.", high=40),
    ShapeField("every", TEXT, "How often it comes back.", choices=tuple(every.value for every in Every)),
    ShapeField("half_life_days", NUMBER, "Days without use until half of its confidence is gone; 0 for never.", low=0, high=36_500),
    ShapeField("valid_from", TEXT, "Since when it holds.", high=40),
    ShapeField("valid_until", TEXT, "Until when.", high=40),
    ShapeField("expires", TEXT, "When it may be removed.", high=40),
    ShapeField("sensitivity", TEXT, "Who may see it where it is shared.", choices=tuple(sensitivity.value for sensitivity in Sensitivity)),
    ShapeField("jurisdiction", TEXT, "Whose law it is kept under.", high=40),
)  # fmt: skip
STATES = (
    many("tiers", "How near at hand it is kept: hot, warm, long-term, cold."),
    many("priorities", "Only what matters so much: CORE, HIGH, NORMAL, LOW."),
    many("origins", "Whose words: user, assistant, tool, import, job."),
)
SORT = ShapeField(
    "sort", TEXT, "The order; pages of another one than newest go by `offset`.", choices=("newest", "oldest", "priority", "uses"),
)  # fmt: skip
TAGS, COLLECTIONS = many("tags", "Tags."), many("collections", "Only these collections.")
SCOPE = (LIMIT, PROJECT, many("kinds", "Only these kinds."), TAGS, *DATES)
KIND = ShapeField("kind", TEXT, "decision, preference, note and so on.", high=60)
PRIORITY = ShapeField("priority", TEXT, choices=("CORE", "HIGH", "NORMAL", "LOW"))
WORDS = ShapeField("text", TEXT, "What is to be remembered.", high=20_000)
FORGOTTEN = ShapeField("query", TEXT, "The best answers to it.", high=8_000)
RELATIONS = ("supersedes", "builds_on", "contradicts", "answers", "clarifies", "relates_to")
SESSION = need(ShapeField("session", TEXT, "Your name of the session.", high=200))
CLIENT = ShapeField("client", TEXT, "Your program's name; the token's by default.", high=40)
SINGLE = ShapeField("id", TEXT, "A memory's id, or how it begins.", high=64)
MESSAGE = (
    need(ShapeField("id", doc="Its id at your side: each counts once.", high=200)),
    need(ShapeField("role", choices=("user", "assistant", "system", "tool"))),
    need(ShapeField("text")),
    ShapeField("at", doc="When it was said, in ISO form; now by default.", high=40),
)
TEXTS = many("messages", "In order.", MESSAGE)

IDS = many("ids", "Ids of memories.")
CONFIRM = ShapeField("confirm", TEXT, "The `confirm` of the answer that showed them.", high=64)
DRY_RUN = ShapeField("dry_run", YES, "Only show them (default true).")
BEFORE = ShapeField("date_before", TEXT, "What is older.", high=40)
STORED = (
    need(WORDS), KIND, ShapeField("type", TEXT, "The same as `kind`.", high=60), TAGS, PRIORITY, INTO, *AGEING,
    ShapeField("title", TEXT, high=300), many("files", "Files that it is about."),
    ShapeField("collection", TEXT, high=60),
    ShapeField("supersedes", TEXT, "The id of the memory that gives way to it.", high=64),
    ShapeField("global", YES, "It belongs to the user rather than to a project."),
)  # fmt: skip
PAGED = (
    *SCOPE, COLLECTIONS, *STATES, SORT, ShapeField("offset", NUMBER, "How many to leave out first.", low=0, high=1_000_000),
    ShapeField("cursor", TEXT, "`next` of the page before.", high=400),
)  # fmt: skip
LINKED = (
    need(ShapeField("from", TEXT, "A memory's id.", high=64)), need(ShapeField("to", TEXT, "Another one's.", high=64)),
    ShapeField("relation", TEXT, choices=RELATIONS), ShapeField("remove", YES),
)  # fmt: skip
TALKED = (SESSION, CLIENT, INTO, need(TEXTS))
FED = (
    *TALKED, ShapeField("cwd", TEXT, "The same as `project`.", high=4_096),
    ShapeField("final", YES, "The conversation is over."),
)  # fmt: skip

# A table is read by its lines.
# fmt: off
ROUTES: tuple[Route, ...] = (
    Route(POST, "/v1/memories", "write", acts.store, "Store a memory.",
          STORED, "Stored", ("/webhook/memory-store",), is_once=True, is_of_memories=True),
    Route(POST, "/v1/recall", "read", acts.recall, "Find memories by meaning and by words, best first.",
          (QUERY, *SCOPE, COLLECTIONS, ShapeField("threshold", SHARE, "The least relevance.", low=0, high=1)),
          "Recalled", ("/webhook/memory-recall",), is_of_memories=True),
    Route(POST, "/v1/rag", "read", acts.rag, "Search the user's vault of Markdown and all collections.",
          (QUERY, *SCOPE, COLLECTIONS), "Recalled", is_narrow=False),
    Route(GET, "/v1/memories", "read", acts.list_memories, "List memories, newest first.", PAGED, "Listed", is_of_memories=True),
    Route(GET, "/v1/memories/{id}", "read", acts.show, "Show a memory with its links and its history.",
          answer="Shown", is_of_memories=True),
    Route(POST, "/v1/memories/{id}/edit", "write", acts.edit,
          "Change a memory; with If-Match only if it is as it was read.",
          (WORDS, KIND, TAGS, PRIORITY, *AGEING), "Edited", is_once=True, is_of_memories=True),
    Route(POST, "/v1/forget", "delete", acts.forget,
          "Forget memories: shown first, and forgotten when that is confirmed. Ids go at once with "
          "`dry_run` false.",
          (SINGLE, IDS, TAGS, BEFORE, FORGOTTEN, PROJECT, DRY_RUN, CONFIRM), "Forgotten",
          ("/webhook/memory-forget",), is_once=True, is_of_memories=True),
    Route(POST, "/v1/links", "write", acts.link, "Link two memories, or remove their links.",
          LINKED, is_once=True, is_of_memories=True),
    Route(POST, "/v1/context", "read", acts.context,
          "What memory has to say to the last message, as a prompt would be given it; nothing twice in "
          "a session.",
          (*TALKED, ShapeField("tokens", NUMBER, "Tokens at most.", low=50, high=500)), "Context"),
    Route(POST, "/v1/feed", "feed", acts.feed,
          "Hand over messages of a conversation. What is acknowledged is on the disk.", FED, "Fed", is_of_memories=True),
    Route(POST, "/v1/organize", "write", acts.organize,
          "Find memories that say the same; with `dry_run` false merge them.",
          (PROJECT, DRY_RUN), is_narrow=False),
    Route(GET, "/v1/topics", "read", acts.plain("topics", "limit", "since", "until"),
          "Sessions with what was talked about.", (LIMIT, PROJECT, *DATES)),
    Route(GET, "/v1/entities", "read", acts.plain("entities", *acts.SCOPE),
          "What memories are about by name, the commonest first.", SCOPE),
    Route(GET, "/v1/flags", "read", acts.plain("flags", "limit", "since"),
          "What the observer flagged, newest first.", (LIMIT, PROJECT, DATES[0])),
    Route(GET, "/v1/lessons", "read", acts.plain("lessons"), "What tasks taught.", (INTO,),
          is_narrow=False),
    Route(GET, "/v1/stats", "read", acts.plain("stats"), "Counts.", (PROJECT,), is_narrow=False),
    Route(GET, "/v1/audit", "read", acts.plain("audit", "limit", "since", "action"),
          "What was done, by whom, newest first: ids and numbers, no words.",
          (LIMIT, DATES[0], ShapeField("action", TEXT, "Only this.", high=60)), is_narrow=False),
    Route(GET, "/v1/jobs", "read", acts.plain("jobs"), "The upkeep jobs.", is_narrow=False),
    Route(GET, "/v1/export", "read", acts.export,
          "All memories, a JSON object a line, as `vector-memory export` writes them.",
          (PROJECT,), answer="", is_of_memories=True),
)
# fmt: on
