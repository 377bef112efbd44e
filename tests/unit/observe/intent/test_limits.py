"""Limits that a user sets in words, what breaks them and what lifts them."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.intent import broken_limits, changes, limits

ROOT = "/p"
THERE = {"/p/src/a.py", "/p/package.json"}
PLACE = CallSite(ROOT, ROOT, "/home/u", exists=THERE.__contains__)


def kinds(prompt: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the limits of a prompt: what is ruled out, or with `only` all but it."""
    return [
        (f"only {one.act}" if one.is_only else one.act, one.things) for one in limits.read(prompt)
    ]


def breaks(prompt: str, tool: str, **given: Any) -> list[str]:
    view = changes.of_call(tool, given, PLACE)
    return [how for _, how, _ in broken_limits.broken(limits.read(prompt), view, PLACE)]


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("Only touch src/parser.py and its tests.", [("only edit", ("src/parser.py", "tests"))]),
        ("Don't modify anything outside of src/api/.", [("only edit", ("src/api",))]),
        ("Keep changes to the `auth` module", [("only edit", ("auth",))]),
        ("Fix it, but don't change the public API.", [("api", ())]),
        ("No new dependencies please", [("install", ())]),
        ("Extend the request. Leave ReturnService alone, Honza has it apart.", [("edit", ("returnservice",))]),
        ("closing receipts, w/o touching internal/receipt pls", [("edit", ("internal/receipt",))]),
        ("third_party is out of scope, whatever the linter says", [("edit", ("third_party",))]),
        ("Build the job. I commit it myself after the review.", [("commit", ())]),
        ("don\u2019t install anything", [("install", ())]),
        ("Don't commit yet.", [("commit", ())]),
        ("Please don't push to main.", [("push", ("main",))]),
        ("I don't want you to touch db/schema.sql", [("edit", ("db/schema.sql",))]),
        ("Refactor it without touching the migrations or the tests.", [("edit", ("migrations", "tests"))]),
        ("You must not edit foo.py, bar/baz.py or qux.ts because they are generated",
         [("edit", ("foo.py", "bar/baz.py", "qux.ts"))]),
        ("Leave config/settings.py alone.", [("edit", ("config/settings.py",))]),
        ("Explain it, don't change any code.", [("edit", ("code",))]),
        ("Do not delete any of the fixtures", [("delete", ("fixtures",))]),
        ("never run `make deploy`", [("run", ("make deploy",))]),
        ("don't create any new files", [("create", ())]),
        ("don't open a PR", [("request", ())]),
        ("backend (api/) comes next sprint so dont touch it", [("edit", ("api",))]),
        ("fix it but nothing under vendor/ pls", [("edit", ("vendor",))]),
        ("hands off .github though", [("edit", (".github",))]),
        ("packages/types is frozen until 4.0 so no edits there", [("edit", ("packages/types",))]),
        ("stay out of lib/legacy/", [("edit", ("lib/legacy",))]),
        ("keep it small, no reformatting", [("run", ("format",))]),
        ("don't run the tests, they take an hour", [("run", ("tests",))]),
        ("don't deploy", [("run", ("deploy",))]),
        ("dont open anything in secrets/", [("read", ("secrets",))]),
        ("don't run anything against the database", [("database", ())]),
        ("don't delete any of the images even if they look unused", [("delete", ("images",))]),
        ("don't delete anything", [("delete", ("*",))]),
        ("stick to whats already in requirements.txt", [("install", ())]),
        ("do NOT change the public api of src/x.ts", [("api", ("src/x.ts",))]),
        ("don't commit until I say so", [("commit", ())]),
        ("fix src/pager.py and don't touch anything else", [("only edit", ("src/pager.py",))]),
        ("Update docs/api.md. Leave the rest alone.", [("only edit", ("docs/api.md",))]),
        ("do not touch the exports and do not commit", [("edit", ("exports",)), ("commit", ())]),
        ("std only please, no new crates", [("install", ())]),
        ("I'll review the diff and do the commit myself.", [("commit", ())]),
        ("nothing leaves this laptop until ive had a look", [("push", ()), ("request", ())]),
        ("just the tests, production code stays as it is",
         [("only edit", ("tests",)), ("edit", ("production code",))]),
        ("except for deploy.py, which I work on", [("edit", ("deploy.py",))]),
        ("Fix the importer, and make sure package.json doesn't change", [("edit", ("package.json",))]),
        ("Don't restart nginx", [("run", ("restart",))]),
        ("This PR is docs only.", [("only edit", ("docs",))]),
        ("write the migration but dont run it", [("run", ("migrations",))]),
        ("plan only, applying is done from the pipeline", [("run", ("deploy",))]),
        ("You can query it, but SELECT only.", [("database", ("write",))]),
        ("im in a train so no downloads", [("network", ())]),
        ("and please zero comments in the new code", [("comment", ())]),
        ("stay on this branch", [("branch", ())]),
        ("nothing gets deleted in this round", [("delete", ("*",))]),
        ("its signature has to stay what it is", [("api", ())]),
        ("Don't create any commits.", [("commit", ())]),
        ("The only file you should modify is src/a.py.", [("only edit", ("src/a.py",))]),
        ("Documentation changes only, please", [("only edit", ("docs",))]),
        ("src/a.py is not to be touched.", [("edit", ("src/a.py",))]),
        ("Wait for my OK before you push.", [("push", ())]),
        ("Please ask me before you install anything", [("install", ())]),
        ("Check with me before you push", [("push", ())]),
        ("Tell me what you'd change before you commit", [("commit", ())]),
        ("Stop before you push.", [("push", ())]),
        ("Hold off before pushing", [("push", ())]),
        ("Refactor the handlers, but .env stays untouched.", [("edit", (".env",))]),
        ("don't push this to the remote", [("push", ())]),
        ("never force push", [("push", ("--force",))]),
        ("I do not want anything pushed to origin tonight", [("push", ())]),
        ("Adding packages is not an option", [("install", ())]),
        ("Change nothing but the README.", [("only edit", ("readme",))]),
        ("Don't:\n- touch src/a.py\n- delete anything", [("edit", ("src/a.py",)), ("delete", ("*",))]),
        ("No edits should be made to src/a.py", [("edit", ("src/a.py",))]),
        ("Please keep src/a.py out of the diff", [("edit", ("src/a.py",))]),
        ("Work exclusively in src/api/", [("only edit", ("src/api",))]),
        ("src/api/ and docs/ are fair game, the rest is locked", [("only edit", ("src/api", "docs"))]),
        ("Commits are my job.", [("commit", ())]),
        ("main is off limits", [("push", ("main",))]),
        ("Nothing goes to main.", [("push", ("main",))]),
        ("New dependencies aren't welcome", [("install", ())]),
        ("why is the total wrong? don't fix it, just tell me", [("edit", ("*",))]),
        ("why is the total wrong, don't fix it, just tell me", [("edit", ("*",))]),
        ("Why does it drop rows? Don't change it yet.", [("edit", ("*",))]),
        ("The menu flickers. Don't touch it, only say what you would do", [("edit", ("*",))]),
        ("build the image, don't flash it yet", [("deed", ("flash",))]),
        ("don't archive the projects before I have seen the list", [("deed", ("archive",))]),
        ("I'd rather you didn't touch src/a.py", [("edit", ("src/a.py",))]),
        ("Anything I've committed in src/a.py must not be changed", [("edit", ("src/a.py",))]),
        ("src/a.py has been released and is frozen", [("edit", ("src/a.py",))]),
        ("Without touching src/a.py, the bug must be fixed", [("edit", ("src/a.py",))]),
        ("Without editing src/a.py, they have to pass", [("edit", ("src/a.py",))]),
        ("Without any changes to tests/, this has to be green", [("edit", ("tests",))]),
        ("Edit b.py, but src/a.py don't", [("edit", ("src/a.py",))]),
        ("b.py you may edit, src/a.py you mustn't", [("edit", ("src/a.py",))]),
        ("You can push, but deploy you shouldn't", [("run", ("deploy",))]),
        ("You had better not push", [("push", ())]),
        ("I had rather you left src/a.py alone", [("edit", ("src/a.py",))]),
        ("You've got to leave src/a.py untouched", [("edit", ("src/a.py",))]),
        ("You were supposed to leave src/a.py alone", [("edit", ("src/a.py",))]),
        ("src/a.py was signed off and has to stay untouched", [("edit", ("src/a.py",))]),
        ("src/a.py was signed off and is to remain unchanged", [("edit", ("src/a.py",))]),
        ("src/a.py was signed off and will not be changed", [("edit", ("src/a.py",))]),
        ("src/a.py has been frozen", [("edit", ("src/a.py",))]),
        ("Make sure nothing was pushed", [("push", ())]),
        ("Ensure nothing was changed in src/a.py", [("edit", ("src/a.py",))]),
        ("Only change the imports used in src/a.py", [("only edit", ("src/a.py",))]),
        ("Only change code that you added in src/a.py", [("only edit", ("src/a.py",))]),
        ("Delete only what was created in src/", [("only edit", ("src",))]),
        ("Nothing in migrations/ is changed", [("edit", ("migrations",))]),
        ("It is not possible to change src/a.py, so don't try", [("edit", ("src/a.py",))]),
        ("Please no changes: why is it slow?", [("edit", ("*",))]),
        ("Move everything except src/a.py to lib/", [("edit", ("src/a.py",))]),
        ("I've locked schema.sql, no edits", [("edit", ("schema.sql",)), ("edit", ("*",))]),
        ("I only want src/a.py changed", [("only edit", ("src/a.py",))]),
        ("Only src/a.py may be changed", [("only edit", ("src/a.py",))]),
        ("No code changes", [("edit", ("code",))]),
        ("Without touching src/a.py make it faster", [("edit", ("src/a.py",))]),
        ("It isn't allowed to change src/a.py", [("edit", ("src/a.py",))]),
        ("Installing anything isn't possible here", [("install", ())]),
        ("Read only please: how does the reset work?", [("edit", ("*",))]),
        ("Don't push: what would happen?", [("push", ())]),
        ("rename the helper everywhere except in the tests", [("edit", ("tests",))]),
        ("Open the PR, but merging it is up to ops.", [("merge", ())]),
        ("no git stuff, I do that", [("run", ("git",))]),
        ("no kubectl please", [("run", ("kubectl",))]),
        ("Leave terraform to me.", [("run", ("terraform",))]),
        ("leave the Kotlin alone", [("edit", ("kotlin",))]),
        ("the PHP part is off limits", [("edit", ("php",))]),
        ("clean up logs/ but keep logs/audit.log", [("delete", ("logs/audit.log",))]),
        ("Never force-push.", [("push", ("--force",))]),
        ("No git commits, please", [("run", ("git commit",))]),
        ("don't npm install", [("install", ())]),
        ("don't push to main directly", [("push", ("main",))]),
        ("Leave src/a.py to me.", [("edit", ("src/a.py",))]),
        ("never touch api/routes.py", [("edit", ("api/routes.py",))]),
        ("Add a retry. Commit nothing.", [("commit", ())]),
        ("don't reformat", [("run", ("format",))]),
        ("don't change the importer", [("edit", ("importer",))]),
        ("Stop committing after each step", [("commit", ())]),
        ("Under no circumstances should you edit .env.", [("edit", (".env",))]),
        ("Don't ever use rm -rf.", [("run", ("rm -rf",))]),
        ("Do not run npm install.", [("run", ("npm install",))]),
        ("Do everything except pushing.", [("push", ())]),
        ("src/a.py needs it. Apart from that file, everything stays the way it is.", [("only edit", ("src/a.py",))]),
        ("You don't have permission to edit src/a.py", [("edit", ("src/a.py",))]),
        ("Skip installing packages, please", [("install", ())]),
        ("Do whatever you like except in migrations/.", [("edit", ("migrations",))]),
        ("Pushing to main is forbidden.", [("push", ("main",))]),
        ("Add the feature on a branch and leave main alone.", [("push", ("main",))]),
        ("I don't want any new files for this.", [("create", ())]),
        ("Avoid changing go.mod.", [("edit", ("go.mod",))]),
        ("Bring the docs up to date. Source files are not part of this task.", [("edit", ("code",))]),
        ("package-lock.json must not change.", [("edit", ("package-lock.json",))]),
        ("Wait until I've approved before you start editing.", [("edit", ("*",))]),
        ("you may change b.py but not src/a.py; don't commit to main", [("edit", ("src/a.py",)), ("commit", ("main",))]),
    ],
)  # fmt: skip
def test_limits_are_read(prompt: str, read: list[tuple[str, tuple[str, ...]]]) -> None:
    """From turns of phrase that are sure to be one, with what a call can be held against."""
    assert kinds(prompt) == read


@pytest.mark.parametrize(
    "prompt",
    [
        "Why don't you change src/x.py?",
        "If you don't change the API it fails",
        "Add a read-only mode to the store",
        "Don't worry about changing the tests",
        "Make the button change color only on hover",
        "keep the tests green",
        "A 72x72 JPEG has 3 kB, that is nothing.",
        "72h is wrong, it says 24h w/o a signature",
        "I usually commit it and forget about it myself",
        "The docs say:\n> never edit src/a.py",
        "```\n# don't commit\n```",
        "We never commit on Fridays, funny",
        "No file is written when I run it.",
        "Nothing in src/ handles timeouts.",
        "The build runs without docker.",
        "You don't have to touch the tests, but you can.",
        "Don't just edit the tests, fix the code as well.",
        "It used to be forbidden to edit src/gen.py, now you can.",
        "User: never touch src/a.py",
        "Nobody reads src/a.py, remove it.",
        "Ensure nothing is written twice in src/a.py",
        "staff must not change anything there, read only for them",
        "don't commit before the tests are green",
        "the parser must not touch the network",
        "no formatting errors are left",
        "no new dependencies other than httpx",
        'CONTRIBUTING.md says "Never commit directly to main. Do not push." That is outdated.',
        "run only the tests",
        "| Field | Mode |\n| Metadata | Read-only |",
        "- Metadata: Read-only\n- Title: Editable\n\nMake the panel.",
        "Implement this plan:\n\n# Plan\n\n- Do not edit src/a.py in phase 1\n- no commits",
        "I was told: don't push to main. Push it.",
        "The docs tend to be out of date, rewrite them.",
        "There's only a README.md and a LICENSE, fill in the README.",
        "No tests provided, write some.",
        "src/a.py doesn't use the helper like b.py does",
        "The linter says: no changes in src/a.py without a header.",
        "fatal: could not read from remote repository.",
        "users must not be able to delete anything",
        'panel.display = "none"',
        "The API is read-only.",
        "Never use eval.",
        "Don't break the tests.",
        "The settings are read only for them",
        "I haven't committed anything yet, no commits so far",
        "You don't have to ask before you commit.",
        "And always run `make check` before you commit.",
        "Run make check before you commit",
        "Check that the tests pass before you push.",
        "Stop the server before you run the tests.",
        "Tell the changelog what changed before you merge.",
        "Confirm that the build is green before you push",
        "don't touch anything else",
        "I don't fix it because nobody pays me for src/a.py",
        "Can you rename the flag? Don't change it, just explain it in the README",
        "The parser is fine, don't change it, only look at the lexer and fix that.",
        "the nightly job doesn't send the mail any more",
        "don't forget to restart the server",
        "You did not update src/a.py last time. Please do it now.",
        "You didn't commit. Please do.",
        "Nothing was pushed. Push now.",
        "Nothing has been deleted yet, delete data/",
        "the only file I changed was src/a.py, and now the build is broken",
        "I only changed src/a.py to get rid of the warning",
        "I've only touched src/a.py since yesterday. What broke?",
        "You changed only src/a.py, now change the others as well",
        "Nothing but src/a.py changed since the last green build.",
        "All files except src/a.py were converted to tabs yesterday.",
        "Everything except src/a.py compiles. Fix it.",
        "Apart from src/a.py everything is done. Finish it and commit.",
        "Other than src/a.py nothing refers to port 80; change it there",
        "without the change in src/a.py nothing compiles - make it",
        "Without editing src/a.py, this won't work, so edit it",
        "It isn't enough to change src/a.py, the total comes from the api",
        "It's not possible to commit here, the hook fails. Fix the hook and commit.",
        "Everything compiles, just src/a.py doesn't. Make it build.",
        "Nobody changed src/a.py for two years. Modernise it.",
        "The only change I made was in src/a.py",
        "My only change was made in src/a.py",
        "I've been locked out of src/a.py, fix it",
        "Without editing src/a.py the tests can't pass",
        "The lock file makes sure that packages are not changed.",
        "Cannot install numpy: what is missing?",
        "No network: how do I install the packages?",
        "No tests: why is that?",
        "No changes: why is git status clean?",
        "Could not delete file: what does this mean?",
        "No deployment: what happened last night?",
        "Read only: is that the mode of the replica?",
        "frozen: is that a valid state in order.py?",
        "We can't delete logs: how do others do it?",
        "Make sure the deploy is up to standard",
        "The API is up to standard, now rename f.",
        "All files must be up to spec",
        "Deployments are up to speed",
        "The commit is up to review",
        "Question: should we not push?",
        "You don't push: why?",
        "The push is up to date.",
        "I have no git hooks here",
        "don't rewrite it in Rust",
        "the Python version is frozen at 3.9",
        "the JavaScript doesn't change when I edit it",
        "use CSS only, no JavaScript",
        "we keep logs/ for 30 days",
        "keep src/a.py in sync with src/b.py",
        "only the tests know about src/a.py, remove it",
        "plan only covers the first phase, add the second",
        "yes",
        "",
    ],
)
def test_others_are_none(prompt: str) -> None:
    """Questions, conditions, quotations, and limits that nothing can be held against."""
    assert kinds(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "tool", "given"),
    [
        ("Only touch src/.", "Write", {"file_path": "/p/lib/b.py", "content": "x"}),
        ("Only touch src/.", "Bash", {"command": "sed -i s/a/b/ lib/b.py"}),
        ("Never force push.", "Bash", {"command": "git push --force-with-lease origin x"}),
        ("Don't push to the remote.", "Bash", {"command": "git push"}),
        ("Don't commit to main.", "Bash", {"command": "git checkout main && git commit -am y"}),
        ("Don't use sudo.", "Bash", {"command": "sudo make install"}),
        ("Never write to /etc.", "Bash", {"command": "echo x | sudo tee /etc/a.conf"}),
        ("Only touch src/.", "Bash", {"command": "echo x > notes.txt"}),
        ("Don't touch src/a.py.", "Edit", {"file_path": "/p/src/a.py", "new_string": "x"}),
        ("Don't touch src/a.py.", "Bash", {"command": "git mv src/a.py src/b.py"}),
        ("Don't change the tests.", "Edit", {"file_path": "/p/web/cart.test.ts", "new_string": "x"}),
        ("Don't delete the fixtures.", "Bash", {"command": "rm tests/fixtures/a.json"}),
        ("No new dependencies.", "Bash", {"command": "cd web && npm install left-pad"}),
        ("No new dependencies.", "Bash", {"command": "python -m pip install rich"}),
        ("No new dependencies.", "Edit", {"file_path": "/p/package.json", "old_string": "{",
                                          "new_string": '{\n "left-pad": "^1.0.0"'}),
        ("Don't commit yet.", "Bash", {"command": "git add -A && git commit -m x"}),
        ("Don't push to main.", "Bash", {"command": "git push origin main"}),
        ("Don't push.", "Bash", {"command": "git push"}),
        ("Don't open a PR.", "Bash", {"command": "gh pr create --fill"}),
        ("Don't create new files.", "Write", {"file_path": "/p/src/b.py", "content": "x"}),
        ("Don't change any code.", "Edit", {"file_path": "/p/src/a.py", "new_string": "x"}),
        ("Don't change the API.", "Edit", {"file_path": "/p/src/a.py", "old_string": "def f(a): pass",
                                           "new_string": "def f(a, b): pass"}),
        ("Never run `make deploy`.", "Bash", {"command": "cd x && make deploy ENV=prod"}),
        ("No reformatting.", "Bash", {"command": "cd web && npx prettier --write src"}),
        ("Don't run the tests.", "Bash", {"command": "python -m pytest -q"}),
        ("Don't open anything in secrets/.", "Read", {"file_path": "/p/secrets/a"}),
        ("Don't open anything in secrets/.", "Bash", {"command": "head secrets/a"}),
        ("Don't touch the database.", "Bash", {"command": "psql shop -c 'select 1'"}),
        ("Don't delete anything.", "Bash", {"command": "rm src/a.py"}),
        ("SELECT only.", "Bash", {"command": "psql shop -c 'delete from a where id = 1'"}),
        ("No downloads.", "Bash", {"command": "curl -s https://x.example/a"}),
        ("Stay on this branch.", "Bash", {"command": "git switch main"}),
        ("Don't change the API.", "Edit", {"file_path": "/p/src/a.java", "old_string": "public int f(String a) {",
                                           "new_string": "public int f(String a, int b) {"}),
        ("Plan only.", "Bash", {"command": "terraform -chdir=infra apply plan"}),
        ("Don't delete anything.", "Bash", {"command": "python -m shop.sessions delete --older 60d"}),
        ("Don't delete anything.", "Bash", {"command": "curl -X DELETE http://x.example/a"}),
        ("Don't restart the broker.", "Bash", {"command": "scripts/restart-broker.sh"}),
        ("Don't upload it yet.", "Bash", {"command": "bash tools/upload.sh out.zip"}),
        ("Don't upload it yet.", "Bash", {"command": "npm run upload"}),
        ("No git stuff, I do that.", "Bash", {"command": "git add -A"}),
        ("No git stuff, I do that.", "Bash", {"command": "git checkout -b split"}),
        ("Leave the Kotlin alone.", "Edit", {"file_path": "/p/app/Main.kt", "new_string": "x"}),
        ("Don't touch the CSS.", "Bash", {"command": "sed -i s/a/b/ web/main.scss"}),
        ("Clean up out/ but keep out/2026-10.", "Bash", {"command": "rm -r out/2026-10"}),
        ("Clean up out/ but keep out/2026-10.", "Bash", {"command": "rm -r out"}),
        ("The packager is fine, hands off the packager, only the test", "Edit",
         {"file_path": "/p/packager/src/a.rs", "new_string": "x"}),
        ("No comments.", "Edit", {"file_path": "/p/src/a.py", "old_string": "x = 1", "new_string": "# one\nx = 1"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh box 'rm /opt/a.db-wal'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh root@box systemctl restart shop"}),
        ("Find out why, don't change anything.", "Bash", {"command": "psql shop -c 'create index on a(b)'"}),
        ("Don't write to cat.db.", "Bash", {"command": "sqlite3 dist/cat.db 'update a set b = 1'"}),
        ("Restart nothing.", "Bash", {"command": "kubectl -n shop delete pod api-1"}),
        ("SELECT only.", "Bash", {"command": "psql shop -c 'begin; update a set b = 1; commit'"}),
    ],
)  # fmt: skip
def test_calls_break_them(prompt: str, tool: str, given: dict[str, Any]) -> None:
    """By a tool or by a command."""
    assert len(breaks(prompt, tool, **given)) == 1


@pytest.mark.parametrize(
    ("prompt", "tool", "given"),
    [
        ("Only touch src/.", "Edit", {"file_path": "/p/src/a.py", "new_string": "x"}),
        ("Only touch src/.", "Read", {"file_path": "/p/lib/b.py"}),
        ("Refactor, but .env stays untouched.", "Edit", {"file_path": "/p/src/a.py", "new_string": "x"}),
        ("Never force push.", "Bash", {"command": "git push origin x"}),
        ("Don't commit to main.", "Bash", {"command": "git checkout -b x && git commit -am y"}),
        ("Don't open .env.", "Bash", {"command": "cat .env.example"}),
        ("Only touch src/.", "Write", {"file_path": "/tmp/b.py", "content": "x"}),
        ("Only touch src/.", "Bash", {"command": "grep -rn x lib 2>/dev/null"}),
        ("Don't delete the fixtures.", "Edit", {"file_path": "/p/tests/fixtures/a.json", "new_string": "x"}),
        ("No new dependencies.", "Bash", {"command": "npm install && pip install -r requirements.txt"}),
        ("Don't commit yet.", "Bash", {"command": "git log --grep commit"}),
        ("Don't push.", "Bash", {"command": "git push --dry-run"}),
        ("Don't deploy.", "Bash", {"command": "grep -rn deploy ."}),
        ("Don't run deploy.sh.", "Bash", {"command": "git add deploy.sh"}),
        ("Don't push to main.", "Bash", {"command": "git push origin feature"}),
        ("Don't create new files.", "Edit", {"file_path": "/p/src/a.py", "new_string": "x"}),
        ("Don't change the API.", "Edit", {"file_path": "/p/src/a.py", "old_string": "def f(a):\n  1",
                                           "new_string": "def f(a):\n  2\ndef g(): pass"}),
        ("Never run `make deploy`.", "Bash", {"command": "make deployment-docs"}),
        ("No reformatting.", "Bash", {"command": "npx prettier --check src"}),
        ("Don't run the tests.", "Bash", {"command": "cat tests/test_a.py"}),
        ("Don't open anything in secrets/.", "Bash", {"command": "ls src"}),
        ("Don't delete anything.", "Bash", {"command": "git mv src/a.py src/b.py"}),
        ("No new dependencies other than httpx.", "Bash", {"command": "uv add httpx"}),
        ("SELECT only.", "Bash", {"command": "psql shop -c 'select 1 from deleted'"}),
        ("No downloads.", "Bash", {"command": "curl -s http://localhost:3000"}),
        ("Stay on this branch.", "Bash", {"command": "git checkout -- src/a.py"}),
        ("Plan only.", "Bash", {"command": "terraform plan -out=apply.tfplan"}),
        ("No comments.", "Edit", {"file_path": "/p/src/a.py", "old_string": "# one\nx", "new_string": "# one\ny"}),
        ("Don't change the API of src/b.py.", "Edit", {"file_path": "/p/src/a.py", "old_string": "def f(a): pass",
                                                      "new_string": "def f(a, b): pass"}),
        ("src/a.py took me a month, leave that file be.", "Write", {"file_path": "/p/src/b.py", "content": "x"}),
        ("don't run the e2e suite", "Bash", {"command": "ls e2e"}),
        ("never run ops/reset.sh", "Bash", {"command": "cat ops/reset.sh"}),
        ("Don't delete anything.", "Bash", {"command": "python -m shop.sessions list"}),
        ("Don't delete anything.", "Bash", {"command": "git commit -m delete"}),
        ("Don't upload it yet.", "Bash", {"command": "pytest -k upload"}),
        ("Don't upload it yet.", "Bash", {"command": "npm run build"}),
        ("Don't log it.", "Bash", {"command": "git log -3"}),
        ("No git stuff, I do that.", "Bash", {"command": "git status --short"}),
        ("Leave git to me.", "Bash", {"command": "git diff"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh box 'systemctl status shop; rm /tmp/x'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh prod 'kubectl get deploy'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh prod 'journalctl -u restart'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh prod 'cp /var/log/app.log /tmp/'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "ssh prod 'php artisan migrate:status'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "mysql -e 'show create table orders'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "psql shop -c 'begin; update a set b = 1; rollback'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "psql shop -c \"select 1 where x like '%DELETE FROM%'\""}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "sqlite3 :memory: 'create table a(b)'"}),
        ("Why is the box slow? Look, don't touch.", "Bash", {"command": "duckdb -c 'create temp table a(b)'"}),
        ("Restart app on prod; do not change anything there.", "Bash", {"command": "ssh prod systemctl restart app"}),
        ("Update the price in the DB, don't edit any files.", "Bash", {"command": "psql shop -c 'update a set b = 1'"}),
        ("Deploy it to staging, but don't change anything in the code.", "Bash", {"command": "ssh stg 'make deploy'"}),
        ("Find out why, don't change anything.", "Bash", {"command": "psql shop -c 'select 1'"}),
        ("Don't write to cat.db.", "Bash", {"command": "sqlite3 dist/dog.db 'update a set b = 1'"}),
        ("Don't touch src/.", "Bash", {"command": "ssh box 'rm src/a.py'"}),
        ("Leave the Kotlin alone.", "Edit", {"file_path": "/p/core/a.rs", "new_string": "x"}),
        ("Clean up out/ but keep out/2026-10.", "Bash", {"command": "rm -r out/2026-11"}),
        ("Clean up out/ but keep out/2026-10.", "Bash", {"command": "sed -i s/a/b/ out/2026-10/a.txt"}),
        ("The packager is fine, hands off the packager package, only the test", "Write",
         {"file_path": "/p/packager/tests/split_test.rs", "content": "x"}),
    ],
)  # fmt: skip
def test_others_keep_them(prompt: str, tool: str, given: dict[str, Any]) -> None:
    """Reading, scratch files and what was allowed."""
    assert breaks(prompt, tool, **given) == []


OLD, NEW = "/p/db/migrations/1.sql", "/p/db/migrations/2.sql"


def reached(prompt: str, tool: str, *made: str, **given: Any) -> bool:
    """Whether a call breaks a limit where one migration is there and some were made in the session."""
    there = {"/p/db/migrations", OLD, *made}.__contains__
    place = CallSite(ROOT, ROOT, "/home/u", exists=there, made_paths=made)
    view = changes.of_call(tool, given, place)
    return bool(list(broken_limits.broken(limits.read(prompt), view, place)))


@pytest.mark.parametrize(
    "prompt",
    [
        "Never edit existing migrations; and don't create files in vendor/.",
        "The files under db/migrations are immutable once committed, never edit them.",
        "Migrations are append-only: never edit an old one.",
        "No edits to migrations that already ran.",
        "Migrations that have been applied must not be changed.",
        "Past migrations are frozen.",
        "Ask me before you edit committed migrations.",
    ],
)
def test_what_is_there_already_may_have_new_files_beside_it(prompt: str) -> None:
    """Nor is a file that the session made one that was there."""
    assert not reached(prompt, "Write", file_path=NEW, content="x")
    assert not reached(prompt, "Bash", command=f"cp /tmp/2.sql {NEW}")
    assert not reached(prompt, "Edit", NEW, file_path=NEW, old_string="a", new_string="b")
    assert reached(prompt, "Edit", NEW, file_path=OLD, old_string="a", new_string="b")
    assert reached(prompt, "Bash", command="rm db/migrations/1.sql")
    assert reached(prompt, "Bash", command="touch db/migrations/*.sql")


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("Never edit existing migrations; and don't create files in vendor/.", "/p/vendor/a.c"),
        ("Never edit existing migrations, and leave vendor/ alone.", "/p/vendor/a.c"),
        ("Keep the existing behaviour. Don't touch db/migrations.", NEW),
        ("Existing code is slow. Don't change anything.", NEW),
        ("Don't touch db/migrations for the current sprint.", NEW),
        ("Only edit existing files in src/.", NEW),
        ("db/migrations is already perfect, so leave it alone.", NEW),
    ],
)
def test_no_other_limit_spares_new_files(prompt: str, path: str) -> None:
    """What narrows one clause narrows no other, nor does it where it tells of no file."""
    assert reached(prompt, "Write", file_path=path, content="x")


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("Don't commit yet.", "Good, commit it.", []),
        ("Don't commit yet.", "Now fix the docs.", ["commit"]),
        (
            "Don't commit yet.",
            "Also, do not commit the lock file changes; don't commit.",
            ["commit"],
        ),
        ("Don't change any code.", "Go ahead.", []),
        ("Don't touch README.md.", "Could you shorten README.md?", []),
        ("Don't touch README.md.", "Kannst du README.md aktualisieren?", []),
        ("Don't change any code.", "What about the cache?", ["edit"]),
        ("Don't change the code.", "Now fix the code of the cache.", []),
        ("Explain it. Don't change anything.", "Thanks. Fix the rounding now.", []),
        ("Read only, no changes.", "OK, go ahead and change it.", []),
        ("Explain it. Don't change anything.", "Thanks, what else is there?", ["edit"]),
        ("Don't change anything for this review.", "Now fix the rounding.", []),
        ("Don't touch src/a.py.", "Now rename the flag in a.py too.", []),
        ("Only touch src/.", "Now update the docs.", []),
        ("Only touch src/.", "Fix src/ first.", ["edit"]),
        ("No new dependencies.", "You may install rich.", []),
        ("Don't commit. Only touch src/.", "Never mind what I said.", []),
        ("For this fix only touch src/.", "Different thing now: the docs need a page.", []),
        ("Don't run the tests.", "ok now run them", []),
        ("Don't touch the database.", "Query the database for it.", []),
        ("No reformatting.", "Go on.", ["run"]),
        ("Don't upload it yet.", "ok, now uploading it is fine", []),
        ("Don't upload it yet.", "Fix the menu, too.", ["deed"]),
        ("Wait for my OK before you push.", "ok, go ahead", []),
        ("Wait for my OK before you push.", "Yes, do it", []),
    ],
)
def test_later_prompts_lift_them(first: str, then: str, left: list[str]) -> None:
    """In doubt a limit is gone: what is flagged is certain."""
    assert [one.act for one in limits.after(limits.read(first), then)] == left


@pytest.mark.parametrize(
    "then",
    [
        "What would you change?", "How would you fix it?", "Which function would you add?", "Does the fix in 1.2 help?",
        "Is it possible to remove the lock?", "Write it down for me here in the chat.", "Make a table of the timings.",
        "Next: explain how the build works.", "ok", "Show me how to implement it", "Could you write a summary?",
        "Create a list of the slow functions for me.", "Add to your explanation how the cache works.", "Continue.",
        "List what one would have to rename.", "Let's move on to the parser: what is wrong with it?",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "first", ["Don't change anything.", "Don't change any code, just explain it."]
)
def test_who_asks_for_no_change_lifts_none(first: str, then: str) -> None:
    """A question, a text, an answer that was read: nothing is to be changed still."""
    assert limits.after(limits.read(first), then)


@pytest.mark.parametrize(
    "then",
    ["now do the same in src/b.py", "src/b.py has the same bug", "next: src/b.py", "and b.py as well", "can you do b.py too?"],
)  # fmt: skip
@pytest.mark.parametrize(
    "first", ["Only change src/a.py", "Change nothing but src/a.py", "src/a.py only please"]
)
def test_what_is_named_next_may_be_changed_too(first: str, then: str) -> None:
    """And nothing else; what is ruled out by its name is no such thing."""
    held = limits.after(limits.read(first), then)
    changed = {
        path: changes.of_call("Edit", {"file_path": f"/p/{path}", "new_string": "x"}, PLACE)
        for path in ("src/a.py", "src/b.py", "README.md")
    }
    refused = [
        path for path, view in changed.items() if list(broken_limits.broken(held, view, PLACE))
    ]
    assert refused == ["README.md"]
    held = limits.after(limits.read(first), "no, not src/b.py!")
    assert list(broken_limits.broken(held, changed["src/b.py"], PLACE))


@pytest.mark.parametrize(
    "then",
    ["Read src/ first.", "Is src/ affected?", "Tests in src/ should stay green.", "See https://example.com/src/b.py"],
)  # fmt: skip
def test_a_folder_that_is_looked_at_is_not_open_to_changes(then: str) -> None:
    held = limits.after(limits.read("Only change src/a.py"), then)
    assert [limit.things for limit in held] == [("src/a.py",)]
    (opened,) = limits.after(held, "now do the same in src/ and run the tests")
    assert "src" in opened.things


def test_what_was_named_in_hundreds_of_prompts_does_not_grow_without_end() -> None:
    """The thing that was set and what was named last are there still."""
    held = limits.read("Only change src/a.py")
    for number in range(200):
        held = limits.after(held, f"Why do src/x{number}.py and src/y{number}.py fail?")
    assert len(held[0].things) <= 48
    assert {"src/a.py", "src/x199.py", "src/y199.py"} <= set(held[0].things)


@pytest.mark.parametrize(
    "then",
    [
        "Fix it.", "Great, implement that.", "OK, go ahead and change it.", "Yes.", "yes please", "Go ahead", "do it",
        "Good idea - apply it.", "I want you to fix the rounding.", "Could you fix it?", "Please write the tests.",
        "Now add a cache.", "Make it faster.", "Thanks. Can you rename it?", "Alright, let's build it", "You can fix it now.",
        "Looks right. Go ahead.", "Add a summary to docs/x.md.", "Create a table for users.", "So turn on the cache.",
        "- fix the rounding\n- add a test", "Then replace the loop by a map.",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "first", ["Don't change anything.", "Don't change any code, just explain it."]
)
def test_who_asks_for_a_change_lifts_it(first: str, then: str) -> None:
    assert not limits.after(limits.read(first), then)


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get deploy web -o yaml", "pytest -k deploy", "cargo test deploy", "find deploy -name x", "cd deploy && ls",
        "yamllint deploy", "docker logs deploy", "mkdir -p deploy", "helm lint deploy", "docker compose logs deploy",
        "gh run list --workflow deploy", "terraform validate deploy", "npm run lint deploy", "make -n deploy",
        "git checkout -b deploy", "git log --oneline -- deploy",
    ],
)  # fmt: skip
def test_a_word_at_another_place_is_no_deployment(command: str) -> None:
    """It is a file, a name, or what another verb is done to."""
    assert not breaks("Don't deploy.", "Bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "./deploy.sh", "bash scripts/deploy.sh prod", "make build deploy", "npm run deploy:prod", "docker stack deploy -c c.yml web",
        "gcloud run deploy web --image x", "cap production deploy", "gh workflow run deploy", "kamal deploy",
        "kubectl rollout restart deploy/web", "kubectl set image deploy/web web=web:4", "kubectl replace -f x.yaml",
        "ansible-playbook site.yml", "argocd app sync web", "az webapp up -n web", "pulumi up --yes", "helmfile apply",
        "nomad job run web.nomad",
    ],
)  # fmt: skip
def test_a_verb_at_its_place_is_one(command: str) -> None:
    """Of the program, a script or a target."""
    assert breaks("Don't deploy.", "Bash", command=command)


@pytest.mark.parametrize(
    ("prompt", "broken", "kept"),
    [
        ("Don't commit.", "git cherry-pick 4f2a91c", "git cherry-pick -n 4f2a91c"),
        ("Don't commit.", "git revert --no-edit HEAD", "git revert --no-commit HEAD"),
        ("Don't commit.", "git am < /tmp/x.patch", "git apply /tmp/x.patch"),
        ("Don't commit.", "git commit -n -m x", "git add -A"),
        ("Don't commit.", "jj commit -m x", "jj log"),
        ("Don't merge it.", "glab mr merge 12 --yes", "glab mr create --fill"),
        (
            "Don't upload it to TestFlight yet.",
            "fastlane pilot upload --ipa a.ipa",
            "fastlane build",
        ),
    ],
)
def test_deeds_are_known_by_their_programs(prompt: str, broken: str, kept: str) -> None:
    """Whatever makes a commit makes one."""
    assert breaks(prompt, "Bash", command=broken)
    assert not breaks(prompt, "Bash", command=kept)


CONFIG = {
    "/p/mix.lock",
    "/p/package.json",
    "/p/config/prod.exs",
    "/p/config/dev.exs",
    "/p/config/.",
    "/p/composer.lock",
    "/p/go.mod",
}


def reaches(prompt: str, command: str) -> bool:
    """Whether a command breaks a limit where a folder of settings and lock files are."""
    place = CallSite(ROOT, ROOT, "/home/u", exists=CONFIG.__contains__)
    view = changes.of_call("Bash", {"command": command}, place)
    return bool(list(broken_limits.broken(limits.read(prompt), view, place)))


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/1/2/' config/*.exs", "for f in config/*.exs; do sed -i 's/1/2/' $f; done", "perl -pi -e 's/1/2/' config/*",
        "git ls-files config | xargs sed -i 's/1/2/'", "find config -name '*.exs' -exec sed -i 's/1/2/' {} +",
        "find . -name '*.exs' -delete", "cp -r /tmp/new/. config/", "rsync -a /tmp/new/ config/", "git checkout HEAD~1 -- config",
        "cp /tmp/prod.exs config", "yq -i '.a=1' config/prod.exs", "awk -i inplace '{print}' config/prod.exs",
        "patch config/prod.exs < /tmp/x.diff", "mytool --in-place config/prod.exs", "mv config /tmp/x", "rm -rf config",
    ],
)  # fmt: skip
def test_a_file_is_reached_by_patterns_and_folders(command: str) -> None:
    """Whatever changes it, in whichever words it is named."""
    assert reaches("Don't touch config/prod.exs.", command)


@pytest.mark.parametrize(
    "command",
    [
        "cat config/*.exs | sed 's/1/2/'", "cp config/prod.exs /tmp/", "sed -i 's/1/2/' config/dev*.exs", "rm -f logs/*.log",
        "find config -name '*.exs' ! -name prod.exs -delete", "git ls-files config | grep -v prod | xargs sed -i 's/1/2/'",
        "find config -name '*.exs'", "cp /tmp/dev.exs config/", "mv /tmp/dev.exs config", "rsync -a config/ u@h:/srv",
        "awk -vlimit=3 '{print}' config/prod.exs", "mytool --in-place config/dev.exs", "git ls-files config | xargs wc -l",
    ],
)  # fmt: skip
def test_its_neighbours_are_not_it(command: str) -> None:
    assert not reaches("Don't touch config/prod.exs.", command)


@pytest.mark.parametrize(
    ("prompt", "broken", "kept"),
    [
        ("composer.lock must stay as it is.", "composer update", "composer install"),
        ("composer.lock must stay as it is.", "composer require acme/mail", "composer validate"),
        ("Keep go.mod untouched.", "go mod tidy", "go mod download"),
        ("Don't change go.mod.", "go get github.com/x/y", "go test ./..."),
        ("Don't change mix.lock.", "mix deps.update --all", "mix deps.get"),
        (
            "Don't change package.json.",
            "npm install lodash",
            "npm config get registry && npm install",
        ),
        ("Clean up logs/ but keep logs/audit.log.", "rm -f logs/*.log", "rm -f logs/app*.log"),
    ],
)
def test_what_a_program_keeps_is_changed_by_it(prompt: str, broken: str, kept: str) -> None:
    """A package manager writes its lock file without naming it."""
    assert reaches(prompt, broken)
    assert not reaches(prompt, kept)


@pytest.mark.parametrize(
    "prompt",
    ["Fix it, but don't change any .sql file.", "Don't edit .sql files.", "No .sql changes.", "Leave the .sql file alone."],
)  # fmt: skip
def test_an_ending_is_that_of_files(prompt: str) -> None:
    assert breaks(prompt, "Edit", file_path="/p/db/1.sql")
    assert not breaks(prompt, "Edit", file_path="/p/src/a.py")


def test_a_hidden_file_is_no_ending() -> None:
    place = CallSite(ROOT, ROOT, "/home/u", exists={"/p/.env"}.__contains__)
    for path, is_broken in (("/p/.env", True), ("/p/prod.env", False)):
        view = changes.of_call("Edit", {"file_path": path}, place)
        held = limits.read("Leave .env alone.")
        assert bool(list(broken_limits.broken(held, view, place))) == is_broken


def keeps(prompt: str, command: str) -> bool:
    """Whether a command breaks no limit in a project that has every manifest and lock file."""
    place = CallSite(ROOT, ROOT, "/home/u", exists=lambda path: "." in path[-12:])
    view = changes.of_call("Bash", {"command": command}, place)
    return not list(broken_limits.broken(limits.read(prompt), view, place))


@pytest.mark.parametrize(
    ("prompt", "commands"),
    [
        ("Leave package.json alone.", "npm install -g x; npm install --no-save x; npm install --prefix /tmp/x y"),
        ("Leave package.json alone.", "npm install --omit dev; npm install --workspace web; npm install -w web"),
        ("Leave package.json alone.", "yarn install --network-timeout 100000; npm cache add x; npm owner add me"),
        ("Leave package.json alone.", "npm dist-tag add x@1 beta; npm run lock; pnpm install --filter web; npm ci"),
        ("composer.lock stays as it is.", "composer global require x/y; composer install --working-dir sub"),
        ("Don't touch Gemfile.", "bundle update; bundle config add x; bundle install --jobs 4"),
        ("Don't touch pyproject.toml.", "uv lock; poetry lock; uv tool install ruff; uv self update; uv pip install x"),
        ("Don't touch pyproject.toml.", "poetry self update; poetry install --only main; poetry config add"),
        ("Leave poetry.lock alone.", "poetry install --with dev; poetry install --extras x"),
        ("Don't touch Cargo.toml.", "cargo install ripgrep; cargo install --path .; cargo update"),
        ("Leave go.mod alone.", "go mod tidy -diff; go install ./cmd/x; go install x.org/y@latest; go tool get"),
        ("Only touch src/.", "cargo install ripgrep; uv pip install x; poetry install --only main"),
        ("Don't change any code.", "go install ./cmd/x; npm update; uv pip install x"),
        ("Read only please. Don't change anything.", "go install ./...; npm install -g x"),
        ("Don't commit yet.", "git revert --abort; git revert --quit; git cherry-pick --abort; git cherry-pick --skip"),
        ("Don't commit yet.", "git am --abort; git am --show-current-patch; git log --no-ff; git merge --abort"),
        ("Don't deploy.", "ansible-playbook --syntax-check x.yml; ansible-playbook --list-tasks x.yml"),
        ("Don't deploy.", "pulumi up --preview-only"),
        ("Don't touch config/prod.exs.", "find . -maxdepth 1 -name '*.exs' -delete; find . -type d -empty -delete"),
        ("Don't touch config/prod.exs.", "find . -type d | xargs touch; awk '{print \"inplace\"}' config/prod.exs"),
        ("Don't change any code.", "find . -name '*.pyc' -delete; find . -name '*.log' | xargs rm"),
        ("Only touch src/.", "find src -name '*.py' -exec sed -i s/a/b/ {} +; find . -name '*.py' -exec sed -i s/a/b/ {} +"),
        ("Only touch src/.", "find src/x -name '*.py' -delete; find . -name '*.pyc' -delete; find src | xargs sed -i s/a/b/"),
        ("Only touch src/a.py.", "find . -name a.py -exec sed -i s/a/b/ {} +; find . -name '*.pyc' -delete"),
        ("Don't edit any file.", "find . -name .DS_Store -delete; find . -name '*.pyc' -exec rm {} +"),
    ],
)  # fmt: skip
def test_obedient_calls_are_no_breach(prompt: str, commands: str) -> None:
    """What only looks like it: another place, an operand of an option, a trial, what is made again."""
    assert [command for command in commands.split("; ") if not keeps(prompt, command)] == []


@pytest.mark.parametrize(
    ("prompt", "commands"),
    [
        ("Leave package.json alone.", "npm install x; npm i x; yarn add x; npm install --omit dev x"),
        ("Don't touch Gemfile.lock.", "bundle update; bundle lock --add-platform x; bundle add x"),
        ("Don't touch pyproject.toml.", "uv add x; poetry add x; poetry remove x"),
        ("Leave go.mod alone.", "go mod tidy; go get x.org/y; go mod edit -require x"),
        ("The lock file must not change.", "npm update; yarn upgrade; poetry lock"),
        ("Don't commit yet.", "git revert HEAD; git cherry-pick abc; git merge --no-ff x; git pull --no-ff; git am x"),
        ("Don't deploy.", "ansible-playbook x.yml; pulumi up"),
        ("Don't touch config/prod.exs.", "awk -i inplace '{print}' config/prod.exs; find . -type f -delete"),
        ("Don't change any code.", "find . -name '*.py' -delete; find . -name '*.go' | xargs sed -i s/a/b/"),
        ("Don't delete anything.", "find . -name '*.pyc' -delete"),
        ("Only touch src/.", "find lib -name '*.py' -exec sed -i s/a/b/ {} +; find lib -name '*.py' -exec rm {} \\;"),
        ("Only touch src/.", "find lib -name '*.py' | xargs rm; find lib -name '*.py' -delete; find srcs -delete"),
        ("Only touch src/a.py.", "find . -name '*.py' -exec sed -i s/a/b/ {} +; find src -type f -delete"),
    ],
)  # fmt: skip
def test_their_neighbours_are(prompt: str, commands: str) -> None:
    assert [command for command in commands.split("; ") if keeps(prompt, command)] == []


def test_a_sweep_through_tests_changes_no_code() -> None:
    assert keeps("Don't change any production code.", "sed -i s/a/b/ tests/*.py")


def test_migrations_are_run_by_their_verb() -> None:
    limit = "Don't run the migrations."
    assert not breaks(limit, "Bash", command="pytest -k migrate")
    assert breaks(limit, "Bash", command="python manage.py migrate")
    assert breaks(limit, "Bash", command="bundle exec rails db:migrate")


def test_a_branch_that_nothing_is_merged_into_may_be_merged_from() -> None:
    """A pull request goes into it, and so does a merge behind a checkout of it."""
    limit = "Never merge into main on your own."
    assert not breaks(limit, "Bash", command="git merge main")
    assert breaks(limit, "Bash", command="git checkout main && git merge topic")
    assert breaks(limit, "Bash", command="gh pr merge 12")
