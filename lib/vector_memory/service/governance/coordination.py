"""`parl_coordinator` and `bft_consensus`: sessions beside each other.

By leases sessions at work in one place keep out of each other's way. They are advice: nothing stops a session that does
not ask. Each lease has a higher number than all before it, so that a session with an old number is not taken for the
one that holds the lease now.

A vote of several reviewers is decided by more than two thirds of the weight. It is a record, not a protocol between
machines: whoever runs it counts. What is critical is never decided here, but comes back as a question to the user.

Source: the bound n >= 3f + 1 is from M. Pease, R. Shostak and L. Lamport, "Reaching Agreement in the Presence of
Faults", 1980.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.leases import SORT, Lease, current
from vector_memory.system.json_in import Record

# -- leases (`parl_coordinator`) --


NUMBERS = "lease_numbers"
TTL_S, LONGEST_S = 60, 3_600
MOST_LEASES = 500
_changing = threading.Lock()


class LeaseRequest(messages.Request):
    """`acquire` a lease on a name for a session, keep it by a `heartbeat`, `release` it, or `list` all.

    Attributes:
        name: what it is on: a path, a branch, a task.
        session: whose it is.
        number: the lease's number, for `heartbeat` and `release`.
        ttl_s: how long it holds without a heartbeat.
    """

    action: str = messages.one_of(("list", "acquire", "heartbeat", "release"), "list")
    name: str = messages.word()
    session: str = messages.word()
    number: int = messages.number(0, 0, 1 << 60)
    ttl_s: int = messages.number(TTL_S, 1, LONGEST_S)


class LeaseAnswer(messages.Answer):
    """The leases in question; `granted` whether the session has it, and why not; `released` whether it gave it back."""

    leases: list[Lease]
    granted: bool | None = messages.spare()
    released: bool | None = messages.spare()
    problem: str | None = messages.spare()


def lease(ctx: Context, request: LeaseRequest) -> LeaseAnswer:
    """Acquire, keep, release or list leases.

    Returns:
        For `acquire`, the lease that is there now, whoever's it is.

    Raises:
        BadInputError: a name or session is missing.
    """
    place = messages.place_of(ctx, request)
    project = place.id if place else ""
    with _changing:
        current_leases = current(ctx, project)
        if request.action == "list":
            return LeaseAnswer(current_leases)
        name = privacy.line(request.name, 200)
        for field, value in (("name", name), ("session", request.session)):
            if not value:
                raise BadInputError(
                    f"{field} is missing.", "Say what the lease is on, and whose it is."
                )
        existing = next((other for other in current_leases if other.name == name), None)
        if request.action == "acquire":
            return _acquire(ctx, request, name, project, existing)
        return _renew_or_release(ctx, request, existing)


def _acquire(
    ctx: Context, request: LeaseRequest, name: str, project: str, existing: Lease | None
) -> LeaseAnswer:
    if existing is not None and existing.session != request.session:
        problem = f"Session {existing.session[:8]} has it until {existing.until[11:19]} (UTC)."
        return LeaseAnswer([existing], False, problem=problem)
    if len(ctx.state.records(SORT)) >= MOST_LEASES:
        raise BadInputError(
            f"There are {MOST_LEASES} leases already.", "Release what is not needed."
        )
    number = existing.number if existing else _next_number(ctx)
    new_lease = Lease(name, request.session, number, project, _until(ctx.now(), request.ttl_s))
    ctx.state.put_record(SORT, f"{project} {name}", messages.to_json(new_lease))
    return LeaseAnswer([new_lease], True)


def _renew_or_release(ctx: Context, request: LeaseRequest, existing: Lease | None) -> LeaseAnswer:
    is_renewed = request.action == "heartbeat"
    if existing is None or existing.session != request.session or existing.number != request.number:
        problem = "The lease ended, or is another's by now: acquire it again."
        if existing and existing.session == request.session and not request.number:
            problem = f"The session has it: give its number, {existing.number}."
        outcome = {"granted": False} if is_renewed else {"released": False}
        return LeaseAnswer([existing] if existing else [], problem=problem, **outcome)
    renewed = replace(existing, until=_until(ctx.now(), request.ttl_s))
    body = messages.to_json(renewed) if is_renewed else None
    ctx.state.put_record(SORT, f"{existing.project} {existing.name}", body)
    return LeaseAnswer([renewed], granted=True) if is_renewed else LeaseAnswer([], released=True)


def _next_number(ctx: Context) -> int:
    # Stored on the disk, so that numbers go on rising after a restart.
    number = ctx.state.records(NUMBERS).get("last", Record()).number("number") + 1
    ctx.state.put_record(NUMBERS, "last", {"number": number})
    return number


def _until(now: datetime, ttl_s: int) -> str:
    return (now + timedelta(seconds=ttl_s)).isoformat(timespec="seconds")


# -- votes (`bft_consensus`) --


VOTE = "vote"
LEAST_VOTERS = 4
MOST_CHARS = 300
MOST_VOTERS, MOST_VOTES = 50, 500


class VoteRequest(messages.Request):
    """`propose` a question with its options and voters, `vote`, or ask for the `result`.

    Attributes:
        voters: names, each with its weight where that is not 1: `reviewer=2`.
        critical: whatever the vote says, the user decides.
        choice: one of the options; evidence: what it rests on, of which the digest is kept.
    """

    action: str = messages.one_of(("list", "propose", "vote", "result"), "list")
    id: str = messages.word()
    question: str = messages.word()
    options: tuple[str, ...] = messages.words()
    voters: tuple[str, ...] = messages.words()
    critical: bool = messages.flag()
    voter: str = messages.word()
    choice: str = messages.word()
    evidence: str = messages.maybe_text(1_000_000)


class VoteView(messages.Answer):
    """How a vote stands.

    Attributes:
        weights: of each option's votes; total: of all voters.
        void: voters who said two things, whose votes count for nothing.
        tolerated: how many faulty voters the number of voters bears.
        decided: the option that has more than two thirds of the weight, "" for none; for what is critical "".
        ask_user: the question that is left to the user, "" for none.
    """

    id: str
    question: str
    options: tuple[str, ...]
    weights: dict[str, int]
    total: int
    voted: int
    voters: int
    void: list[str]
    tolerated: int
    critical: bool
    decided: str
    ask_user: str


class VoteAnswer(messages.Answer):
    """The votes in question, the newest last."""

    votes: list[VoteView]


def vote(ctx: Context, request: VoteRequest) -> VoteAnswer:
    """Propose a question, vote on it, or count.

    Returns:
        How the votes in question stand.

    Raises:
        BadInputError: too few voters or options.
        NotFoundError: there is no such vote, voter or option.
    """
    with _changing:
        if request.action == "list":
            return VoteAnswer(
                [_view(vote_id, record) for vote_id, record in ctx.state.records(VOTE).items()]
            )
        if request.action == "propose":
            id, record = _propose(ctx, request)
        else:
            id, record = _find(ctx, request.id)
            if request.action == "vote":
                record = _cast(ctx, request, id, record)
    return VoteAnswer([_view(id, record)])


def _propose(ctx: Context, request: VoteRequest) -> tuple[str, Record]:
    question = privacy.line(request.question, MOST_CHARS)
    options = [privacy.line(option, MOST_CHARS) for option in request.options]
    weights = _weights(request.voters)
    if not question or len(set(options)) < 2:
        raise BadInputError("A vote needs a question and two options.", "options=[yes, no]")
    if not LEAST_VOTERS <= len(weights) <= MOST_VOTERS:
        raise BadInputError(
            f"{LEAST_VOTERS} to {MOST_VOTERS} voters are needed: with fewer one that errs decides.",
            "Name them in voters.",
        )
    if len(ctx.state.records(VOTE)) >= MOST_VOTES:
        raise BadInputError(f"{MOST_VOTES} votes are kept already.", "Count them first.")
    body: dict[str, object] = {
        "question": question, "options": options, "weights": weights,
        "critical": request.critical, "votes": [], "at": ctx.now().isoformat(timespec="seconds"),
    }  # fmt: skip
    id = new_id()[:12]
    ctx.state.put_record(VOTE, id, body)
    ctx.state.audit("vote", request.actor, [], {"vote": id, "action": "propose"})
    return id, Record(body)


def _weights(voters: Sequence[str]) -> dict[str, int]:
    weights: dict[str, int] = {}
    for voter in voters:
        name, _, weight = voter.partition("=")
        if not name.strip() or (weight and not weight.strip().isdigit()) or weight.strip() == "0":
            raise BadInputError(f"{voter[:40]!r} is no voter.", "Such as reviewer, or reviewer=2.")
        weights[privacy.line(name, MOST_CHARS)] = int(weight or 1)
    return weights


def _cast(ctx: Context, request: VoteRequest, id: str, record: Record) -> Record:
    voter, choice = (privacy.line(word, MOST_CHARS) for word in (request.voter, request.choice))
    voters, options = record.part("weights"), record.words("options")
    if voter not in voters:
        raise NotFoundError(f"{voter[:40]!r} has no vote.", f"Voters: {', '.join(voters)}.")
    if choice not in options:
        hint = f"Options: {', '.join(options)}."
        raise NotFoundError(f"There is no option {choice[:40]!r}.", hint)
    digest = hashlib.sha256(request.evidence.encode()).hexdigest() if request.evidence else ""
    ballot = {"voter": voter, "choice": choice, "evidence": digest}
    body = Record({**record, "votes": [*record.parts("votes"), ballot]})
    ctx.state.put_record(VOTE, id, body)
    ctx.state.audit("vote", request.actor, [], {"vote": id, "action": "vote", "evidence": digest})
    return body


def _find(ctx: Context, id: str) -> tuple[str, Record]:
    votes = ctx.state.records(VOTE).items()
    matches = [(name, record) for name, record in votes if id and name.startswith(id)]
    if len(matches) != 1:
        raise NotFoundError(f"There is no vote {id[:40]!r}.", "Action list names them.")
    return matches[0]


def _view(id: str, record: Record) -> VoteView:
    weights: Mapping[str, object] = record.part("weights")
    voter_weights = {name: weight for name, weight in weights.items() if isinstance(weight, int)}
    by_voter: dict[str, set[str]] = {}
    for ballot in record.parts("votes"):
        by_voter.setdefault(ballot.text("voter"), set()).add(ballot.text("choice"))
    void = sorted(name for name, choices in by_voter.items() if len(choices) > 1)
    option_weights: Counter[str] = Counter()
    for name, choices in by_voter.items():
        if name not in void:
            option_weights[next(iter(choices))] += voter_weights.get(name, 0)
    total = sum(voter_weights.values())
    best = next((option for option, weight in option_weights.items() if 3 * weight > 2 * total), "")
    critical, question = bool(record.get("critical")), record.text("question")
    return VoteView(
        id=id,
        question=question,
        options=tuple(record.words("options")),
        weights=dict(option_weights),
        total=total,
        voted=len(by_voter),
        voters=len(voter_weights),
        void=void,
        tolerated=(len(voter_weights) - 1) // 3,
        critical=critical,
        decided="" if critical else best,
        ask_user=f"{question} The vote is for: {best}. Do you agree?" if critical and best else "",
    )
