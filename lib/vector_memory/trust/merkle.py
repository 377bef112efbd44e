"""Merkle trees over entries of a log, with proofs that an entry is in one and that one continues another
(RFC 6962, section 2.1). Hashes are SHA-256, 32 bytes each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def leaf(entry: bytes) -> bytes:
    """Return the hash of an entry."""
    return hashlib.sha256(b"\0" + entry).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def _split(count: int) -> int:
    """Return the largest power of two below a number of leaves, which is 2 or more."""
    return 1 << ((count - 1).bit_length() - 1)


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root of the tree over hashes of entries, in their order."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    level = list(leaves)
    # A node without a neighbour rises as it is: that is the RFC's left-filled tree, level by level.
    while len(level) > 1:
        pairs = [_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the path from an entry up to the root, nearest first.

    Raises:
        ValueError: there is no entry of that number, counted from 0.
    """
    if not 0 <= index < len(leaves):
        raise ValueError("there is no such entry")
    if len(leaves) == 1:
        return []
    half = _split(len(leaves))
    if index < half:
        return [*inclusion(leaves[:half], index), root(leaves[half:])]
    return [*inclusion(leaves[half:], index - half), root(leaves[:half])]


def is_included(entry: bytes, index: int, size: int, path: Sequence[bytes], top: bytes) -> bool:
    """Whether a path shows that an entry is number `index` of the `size` entries below a root.

    Args:
        entry: its leaf hash.
    """
    return 0 <= index < size and _climbed(index, size - 1, entry, path)[1:] == (top, 0)


def _climbed(at: int, last: int, start: bytes, path: Sequence[bytes]) -> tuple[bytes, bytes, int]:
    """Return the roots to which a path leads from node `at` of the nodes up to `last` of one level: of the tree that ends
    with that node, and of the whole; and where it ends: 0 at the top, -1 beyond it."""
    old = new = start
    for step in path:
        if last <= 0:
            return old, new, -1
        if at & 1 or at == last:
            old, new = _node(step, old), _node(step, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = _node(new, step)
        at, last = at >> 1, last >> 1
    return old, new, last


def consistency(leaves: Sequence[bytes], earlier: int) -> list[bytes]:
    """Return the proof that the tree of the first `earlier` entries became the tree of all.

    Raises:
        ValueError: there were not so many, or none.
    """
    if not 0 < earlier <= len(leaves):
        raise ValueError("there was no such tree")
    return _subproof(leaves, earlier, True)


def _subproof(leaves: Sequence[bytes], earlier: int, is_whole: bool) -> list[bytes]:
    if earlier == len(leaves):
        return [] if is_whole else [root(leaves)]
    half = _split(len(leaves))
    if earlier <= half:
        return [*_subproof(leaves[:half], earlier, is_whole), root(leaves[half:])]
    return [*_subproof(leaves[half:], earlier - half, False), root(leaves[:half])]


def is_consistent(
    earlier: int, size: int, earlier_top: bytes, top: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether a proof shows that the tree of `size` entries continues the one of its first `earlier` ones."""
    if not 0 < earlier <= size:
        return False
    if earlier == size:
        return not proof and earlier_top == top
    steps = list(proof)
    if not earlier & (earlier - 1):
        # The earlier tree is complete: its root is a node of the later one and is not sent.
        steps.insert(0, earlier_top)
    if not steps:
        return False
    at, last = earlier - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    return _climbed(at, last, steps[0], steps[1:]) == (earlier_top, top, 0)
