"""Power cuts and damaged files, a few of each; `benchmarks/faults.py` runs hundreds."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import fault_rigs as faults
import pytest
from fault_rigs import Cuts, Rig

from vector_memory.store.durable import WriteGuard


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A store of some memories, closed in good order."""
    folder = tmp_path_factory.mktemp("whole")
    rig = Rig(folder)
    rig.open_index()
    rig.store(80)
    rig.follow()
    assert rig.shelf.index is not None
    rig.shelf.index.purge(rig.shelf.journal.living_seqs())
    rig.close()
    return folder, rig.acknowledged


def copied(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to know what is synced")
def test_nothing_acknowledged_is_lost_to_a_power_cut(tmp_path: Path) -> None:
    """Whatever the disk holds of unsynced files: every memory is there and found."""
    rig = Rig(tmp_path / "store")
    cuts = Cuts(tmp_path / "store", tmp_path, random.Random(5), 0.06, 6, lambda: rig.acknowledged)
    with cuts.watching():
        rig.open_index()
        for round in range(4):
            rig.store(5)
            rig.follow()
            if round % 2:
                assert rig.shelf.index is not None
                rig.shelf.index.optimize()
    rig.close()
    assert len(cuts.states) > 2
    for state, acknowledged in cuts.states:
        assert faults.missing(state, acknowledged, other=True) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to know what is synced")
def test_a_batch_is_synced_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the mark of writing goes, every file of the index was synced as it is now, and so was every
    folder that lists one."""
    rig = Rig(tmp_path / "store")
    cuts = Cuts(tmp_path / "store", tmp_path, random.Random(5), 0.0, 0, list)
    unsynced: list[str] = []
    clear = WriteGuard._clear

    def watched(guard: WriteGuard) -> None:
        for folder, _, names in os.walk(guard.folder):
            for name in names:
                path = os.path.join(folder, name)
                if cuts._synced.get(path) != Path(path).read_bytes():
                    unsynced.append(path)
                if name not in cuts._listed.get(folder, set()):
                    unsynced.append(f"{path} in its folder")
        clear(guard)

    with cuts.watching():
        rig.open_index()
        monkeypatch.setattr(WriteGuard, "_clear", watched)
        rig.store(5)
        rig.follow()
        assert rig.shelf.index is not None
        rig.shelf.index.optimize()
    assert unsynced == []
    assert rig.shelf.index.reached() == 5
    rig.close()


@pytest.mark.parametrize("kind", list(faults.DAMAGES))
@pytest.mark.parametrize("part", list(faults.PARTS))
def test_damage_of_an_index_is_noticed_and_mended(
    whole: tuple[Path, list[str]], tmp_path: Path, part: str, kind: str
) -> None:
    """It is set aside, words go on, and the index is made anew; nothing is lost."""
    folder, acknowledged = copied(whole[0], tmp_path), whole[1]
    chance = random.Random(f"{part} {kind}")
    faults.DAMAGES[kind](chance.choice(sorted(faults.PARTS[part](folder))), chance)
    found = faults.outcome(folder, acknowledged)
    assert (found.wrong, found.lost) == ([], 0)
    assert found.noticed
    assert found.aside


@pytest.mark.parametrize("kind", list(faults.PAGE_DAMAGES))
def test_damage_of_a_journal_leaves_a_sound_one(
    whole: tuple[Path, list[str]], tmp_path: Path, kind: str
) -> None:
    """What was kept is right and found, what was lost is told."""
    folder, acknowledged = copied(whole[0], tmp_path), whole[1]
    faults.PAGE_DAMAGES[kind](folder / "journal.db", random.Random(kind))
    found = faults.outcome(folder, acknowledged)
    assert found.wrong == []
    assert found.told or not found.lost
