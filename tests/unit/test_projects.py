"""Which project a folder belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vector_memory import projects


def repository(root: Path, remote: str = "") -> Path:
    """Make what a clone looks like on the disk."""
    git = root / ".git"
    git.mkdir(parents=True)
    section = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (git / "config").write_text(f"[core]\n\tbare = false\n{section}")
    return root


def test_subfolders_and_worktrees_are_one_project(tmp_path: Path) -> None:
    """A repository, a folder in it and a worktree elsewhere have one id."""
    root = repository(tmp_path / "ledger")
    (root / "src" / "deep").mkdir(parents=True)
    own = root / ".git" / "worktrees" / "fix"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    tree = tmp_path / "elsewhere"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    ids = {projects.locate(str(one)).id for one in (root, root / "src" / "deep", tree)}
    assert len(ids) == 1


@pytest.mark.parametrize(
    "remote",
    [
        "git@example.org:team/ledger.git",
        "https://example.org/team/ledger",
        "ssh://git@example.org/team/ledger.git",
        "https://user@EXAMPLE.org/team/ledger/",
    ],
)
def test_every_way_to_write_a_remote_is_one_project(tmp_path: Path, remote: str) -> None:
    """Two clones of one remote are one project, however its address is written."""
    here = projects.locate(str(repository(tmp_path / "a", "https://example.org/team/ledger.git")))
    there = projects.locate(str(repository(tmp_path / "b", remote)))
    assert here.id == there.id
    assert there.name == "ledger"


def test_same_names_are_different_projects(tmp_path: Path) -> None:
    """A base name says nothing: two folders of one name are two projects."""
    (tmp_path / "a" / "app").mkdir(parents=True)
    (tmp_path / "b" / "app").mkdir(parents=True)
    one, other = (projects.locate(str(tmp_path / side / "app")) for side in "ab")
    assert one.id != other.id
    assert one.name == other.name == "app"


def test_a_marker_makes_its_folder_the_project(tmp_path: Path) -> None:
    """A `.memory/` inside a repository is a project of its own, with the store that it names."""
    root = repository(tmp_path / "mono", "https://example.org/team/mono")
    (root / "service" / ".memory").mkdir(parents=True)
    whole, part = projects.locate(str(root)), projects.locate(str(root / "service"))
    assert whole.id != part.id
    assert part.store == str(root / "service" / ".memory" / "db")
    assert whole.store == ""


def test_dotfiles_in_the_home_do_not_swallow_projects(tmp_path: Path) -> None:
    """A repository right in the home folder is not the project of everything below it."""
    home = repository(tmp_path / "user")
    (home / "work" / "app").mkdir(parents=True)
    place = projects.locate(str(home / "work" / "app"), home=str(home))
    assert place.root == str(home / "work" / "app")


def test_a_folder_that_is_not_there_has_a_project(tmp_path: Path) -> None:
    """Old transcripts name folders that are gone or of another machine."""
    place = projects.locate(str(tmp_path / "gone" / "app"))
    assert place.name == "app"
    assert place.id == projects.locate(str(tmp_path / "gone" / "app")).id


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    """A submodule's git directory lies in its parent's; it is another project all the same."""
    root = repository(tmp_path / "outer")
    inner_git = root / ".git" / "modules" / "inner"
    inner_git.mkdir(parents=True)
    (inner_git / "config").write_text("")
    inner = root / "inner"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../.git/modules/inner\n")
    assert projects.locate(str(inner)).root == str(inner)
    assert projects.locate(str(inner)).id != projects.locate(str(root)).id


def test_broken_git_files_are_survived(tmp_path: Path) -> None:
    """A `.git` that says nothing, or binary nonsense, leaves the folder as the project."""
    for number, content in enumerate((b"", b"\x00\xff", b"gitdir: /nowhere")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / ".git").write_bytes(content)
        assert projects.locate(str(folder)).id


def given_to(another: bool, *paths: Path) -> None:
    """Give files to another user, or back to this one."""
    for path in paths:
        os.chown(path, 12_345 if another else os.geteuid(), -1, follow_symlinks=False)


def make_git(top: Path, kind: str) -> list[Path]:
    """Put a `.git`, or a marker, of a kind into a folder; return what of it counts."""
    remote = '[remote "origin"]\n\turl = https://example.org/team/famous.git\n'
    if kind == "marker":
        (top / ".memory" / "db").mkdir(parents=True)
        return [top / ".memory"]
    if kind == "folder":
        (top / ".git").mkdir()
        (top / ".git" / "config").write_text(remote)
        return [top / ".git"]
    elsewhere = top.parent / f"{top.name}-git"
    elsewhere.mkdir()
    (elsewhere / "config").write_text(remote)
    if kind == "link":
        os.symlink(elsewhere, top / ".git")
    elif kind == "file":
        (top / ".git").write_text(f"gitdir: {elsewhere}\n")
    else:
        own = elsewhere / "worktrees" / "w"
        own.mkdir(parents=True)
        (own / "commondir").write_text("../..\n")
        (top / ".git").write_text(f"gitdir: {own}\n")
        return [top / ".git", own, elsewhere]
    return [top / ".git", elsewhere]


@pytest.mark.parametrize("kind", ["folder", "link", "file", "worktree", "marker"])
def test_what_another_user_put_above_names_no_project(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared folder anybody can leave a repository or a marker: every part of it has to be this
    user's, however far above it lies."""
    for number, deep in enumerate(("", "a", "a/b", "a/b/c/d/e")):
        top = tmp_path.resolve() / f"{kind}{number}"
        below = top / deep
        below.mkdir(parents=True)
        parts = make_git(top, kind)
        own = projects.locate(str(below))
        assert own.root == str(top) if kind in ("folder", "marker") else own.name == "famous"
        for part in parts:
            if os.geteuid() == 0:
                given_to(True, part)
                place = projects.locate(str(below))
                given_to(False, part)
            else:
                true = os.lstat(part).st_ino
                place = _seen_as_foreign(str(below), true, monkeypatch)
            assert (place.name, place.store) != (own.name, own.store), (kind, part)
            assert place.name != "famous"
            is_the_name = part.parent == top or kind == "link"
            assert place.root == str(below if is_the_name else top), (kind, part)
        assert projects.locate(str(below)).id == own.id


def _seen_as_foreign(folder: str, inode: int, monkeypatch: pytest.MonkeyPatch) -> projects.Place:
    """Locate a folder while one file seems to be another user's."""

    def changed(true: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def stat(*args: Any, **more: Any) -> os.stat_result:
            about = true(*args, **more)
            if about.st_ino != inode:
                return about
            return os.stat_result((*about[:4], about.st_uid + 1, *about[5:]))

        return stat

    with monkeypatch.context() as patch:
        patch.setattr(projects.os, "stat", changed(os.stat))
        patch.setattr(projects.os, "lstat", changed(os.lstat))
        return projects.locate(folder)


def test_a_foreign_one_hides_no_own_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not count is passed over, as if it were not there; without users all counts."""
    root = repository(tmp_path.resolve() / "outer", "https://example.org/team/outer")
    inner = repository(root / "shared", "https://example.org/team/inner")
    assert projects.locate(str(inner)).name == "inner"
    place = _seen_as_foreign(str(inner), os.lstat(inner / ".git").st_ino, monkeypatch)
    assert (place.name, place.root) == ("outer", str(root))
    monkeypatch.setattr(projects.private, "user_id", lambda: -1)
    place = _seen_as_foreign(str(inner), os.lstat(inner / ".git").st_ino, monkeypatch)
    assert place.name == "inner"


def test_a_remote_that_is_a_folder_is_where_it_lies(tmp_path: Path) -> None:
    """The same words in two places are two remotes; every way to write one is the same."""
    relative, whole = set(), set()
    for side in "ab":
        near, *others = (
            projects.locate(str(repository(tmp_path / side / str(number), remote))).id
            for number, remote in enumerate(
                ("../my origin.git", f"file://{tmp_path}/{side}/my origin.git", f'"{tmp_path}/{side}/my origin"')
            )
        )  # fmt: skip
        assert len(set(others)) == 1
        relative.add(near)
        whole |= set(others)
    assert len(relative) == len(whole) == 2


def test_a_remote_names_no_neighbour_that_is_known_by_its_path(tmp_path: Path) -> None:
    """Whatever is unpacked beside a repository could write that into its settings."""
    ledger = projects.locate(str(repository(tmp_path / "ledger")))
    evil = projects.locate(str(repository(tmp_path / "evil", "../ledger")))
    assert evil.id != ledger.id


def test_a_forged_worktree_has_no_store_of_another(tmp_path: Path) -> None:
    """A folder that came from elsewhere can hold all that a worktree's own git folder holds."""
    bank = repository(tmp_path / "bank")
    (bank / ".memory").mkdir()
    evil = tmp_path / "evil"
    (evil / "g").mkdir(parents=True)
    (evil / ".git").write_text("gitdir: g\n")
    (evil / "g" / "commondir").write_text("../../bank/.git\n")
    (evil / "g" / "gitdir").write_text("../.git\n")
    assert projects.locate(str(evil)).store == ""
    assert projects.shared_folder(str(evil)) == str(evil)


def test_only_origin_says_what_a_repository_is(tmp_path: Path) -> None:
    """A template that several were made from is kept as a remote of another name."""
    made = []
    for name in ("shop", "crm"):
        root = repository(tmp_path / name)
        with (root / ".git" / "config").open("a") as config:
            config.write('[remote "template"]\n\turl = https://example.org/acme/starter.git\n')
        made.append(projects.locate(str(root)))
    assert [one.name for one in made] == ["shop", "crm"]


def worktree(tree: Path, common: Path, is_named: bool = True) -> Path:
    """Make what a worktree of a repository looks like on the disk."""
    own = common / "worktrees" / tree.name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {own}\n")
    if is_named:
        (own / "gitdir").write_text(f"{tree}/.git\n")
    return tree


@pytest.mark.parametrize("remote", ["", "https://example.org/team/mono"])
def test_a_worktree_is_where_its_main_checkout_is(tmp_path: Path, remote: str) -> None:
    """Markers there count for it, one in a folder of the checkout and one above it too; its own comes first."""
    root = repository(tmp_path / "here" / "mono", remote)
    tree = worktree(tmp_path / "there" / "tree", root / ".git")
    (tree / "service").mkdir()
    (tmp_path / "here" / ".memory").mkdir()
    assert projects.locate(str(tree)).root == str(tmp_path / "here")
    (root / ".memory").mkdir()
    (root / "service" / ".memory").mkdir(parents=True)
    for below in ("", "service"):
        here, there = projects.locate(str(root / below)), projects.locate(str(tree / below))
        assert (here.id, here.root, here.store) == (there.id, there.root, there.store)
        assert there.store == str(root / below / ".memory" / "db")
        assert (here.tree, there.tree) == (str(root), str(tree))
    assert projects.shared_folder(str(tree / "service")) == str(root / "service")
    (tree / ".memory").mkdir()
    assert projects.locate(str(tree)).root == str(tree)


def test_a_folder_that_only_says_it_is_a_worktree_gets_no_store(tmp_path: Path) -> None:
    """The repository has to know of it: whoever wrote the folder's `.git` may have written any name."""
    root = repository(tmp_path / "mono")
    (root / ".memory").mkdir()
    worktree(tmp_path / "true", root / ".git")
    false = tmp_path / "false"
    false.mkdir()
    for words in (root / ".git" / "worktrees" / "true", root / ".git"):
        (false / ".git").write_text(f"gitdir: {words}\n")
        assert projects.locate(str(false)).store == ""
        assert projects.shared_folder(str(false)) == str(false)


@pytest.mark.parametrize("remote", ["", "https://example.org/team/ledger"])
def test_a_hidden_repository_is_called_as_the_folder_around_it(tmp_path: Path, remote: str) -> None:
    """`.bare` among its worktrees: from there and from each of them it is one project."""
    made = repository(tmp_path / "made", remote)
    top = tmp_path / "ledger"
    top.mkdir()
    (made / ".git").rename(top / ".bare")
    (top / ".git").write_text("gitdir: ./.bare\n")
    tree = worktree(top / "main", top / ".bare")
    places = [projects.locate(str(one)) for one in (top, tree)]
    assert len({one.id for one in places}) == 1
    assert {one.name for one in places} == {"ledger"}
    assert projects.shared_folder(str(tree)) == str(top / ".bare")
    (top / ".bare" / ".memory").mkdir()
    stores = {projects.locate(str(one)).store for one in (top, tree)}
    assert stores == {str(top / ".bare" / ".memory" / "db")}
