"""Merkle trees: known roots, and proofs of every entry and every earlier tree of up to 20 entries."""

from __future__ import annotations

import pytest

from vector_memory.trust import merkle

ENTRIES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def leaves(count: int) -> list[bytes]:
    return [merkle.leaf(b"%d" % number) for number in range(count)]


def test_roots_that_other_programs_have() -> None:
    known = [merkle.leaf(bytes.fromhex(entry)) for entry in ENTRIES]
    assert [merkle.root(known[: at + 1]).hex() for at in range(len(known))] == ROOTS
    assert merkle.root([]).hex().startswith("e3b0c44298fc1c14")


@pytest.mark.parametrize("size", range(1, 21))
def test_every_entry_is_shown_to_be_in_and_no_other(size: int) -> None:
    entries = leaves(size)
    top = merkle.root(entries)
    for index in range(size):
        path = merkle.inclusion(entries, index)
        assert merkle.is_included(entries[index], index, size, path, top)
        assert not merkle.is_included(merkle.leaf(b"other"), index, size, path, top)
        assert not merkle.is_included(entries[index], index + 1, size, path, top)
        assert not merkle.is_included(entries[index], index, size, [*path, top], top)
        assert not path or not merkle.is_included(entries[index], index, size, path[:-1], top)


@pytest.mark.parametrize("size", range(1, 21))
def test_every_earlier_tree_is_shown_to_go_on_in_this_one(size: int) -> None:
    entries = leaves(size)
    top = merkle.root(entries)
    for earlier in range(1, size + 1):
        before, proof = merkle.root(entries[:earlier]), merkle.consistency(entries, earlier)
        assert merkle.is_consistent(earlier, size, before, top, proof)
        assert not merkle.is_consistent(earlier, size, merkle.leaf(b"other"), top, proof)
        assert not merkle.is_consistent(earlier, size, before, merkle.leaf(b"other"), proof)
        for at in range(len(proof)):
            changed = [*proof[:at], merkle.leaf(b"other"), *proof[at + 1 :]]
            assert not merkle.is_consistent(earlier, size, before, top, changed)


def test_what_is_not_there_has_no_proof() -> None:
    with pytest.raises(ValueError):
        merkle.inclusion(leaves(3), 3)
    with pytest.raises(ValueError):
        merkle.consistency(leaves(3), 4)
