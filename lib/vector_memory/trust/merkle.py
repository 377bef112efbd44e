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
    split = _split(len(leaves))
    if index < split:
        return [*inclusion(leaves[:split], index), root(leaves[split:])]
    return [*inclusion(leaves[split:], index - split), root(leaves[:split])]


def is_included(entry: bytes, index: int, size: int, path: Sequence[bytes], top: bytes) -> bool:
    """Whether a path shows that an entry is number `index` of the `size` entries below a root.

    Args:
        entry: its leaf hash.
    """
    return 0 <= index < size and _climb(index, size - 1, entry, path)[1:] == (top, 0)


def _climb(
    index: int, last_index: int, start: bytes, path: Sequence[bytes]
) -> tuple[bytes, bytes, int]:
    """Return the roots to which a path leads from node `index` of the nodes up to `last_index` of one level: of the tree that ends
    with that node, and of the whole; and where it ends: 0 at the top, -1 beyond it."""
    earlier_root = later_root = start
    for step in path:
        if last_index <= 0:
            return earlier_root, later_root, -1
        if index & 1 or index == last_index:
            earlier_root, later_root = _node(step, earlier_root), _node(step, later_root)
            while not index & 1 and index:
                index, last_index = index >> 1, last_index >> 1
        else:
            later_root = _node(later_root, step)
        index, last_index = index >> 1, last_index >> 1
    return earlier_root, later_root, last_index


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
    split = _split(len(leaves))
    if earlier <= split:
        return [*_subproof(leaves[:split], earlier, is_whole), root(leaves[split:])]
    return [*_subproof(leaves[split:], earlier - split, False), root(leaves[:split])]


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
    index, last_index = earlier - 1, size - 1
    while index & 1:
        index, last_index = index >> 1, last_index >> 1
    return _climb(index, last_index, steps[0], steps[1:]) == (earlier_top, top, 0)
