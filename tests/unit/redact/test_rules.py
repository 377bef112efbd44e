"""Rules that users write in their CLAUDE.md: what is a rule, what it finds, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vector_memory.redact import clean, for_project, policy
from vector_memory.redact.automaton import without_lookaround
from vector_memory.redact.policy import Policy
from vector_memory.redact.reading_rules import parse
from vector_memory.redact.rules import MOST_RULES


def rules(*items: str, heading: str = "## Privacy") -> Policy:
    """A policy of these list items."""
    found = parse("\n".join([heading, *(f"- {one}" for one in items)]), "CLAUDE.md")
    assert found.problems == ()
    return Policy(rules=(found,))


@pytest.mark.parametrize(
    ("item", "raw", "left"),
    [
        ("Project Nightjar", "on project  nightjar now", "on [redacted:rule] now"),
        ('never say "Acme" or "Initech"', "ACME, Initech, Acmes", "[redacted:rule], [redacted:rule], Acmes"),
        ("`JIRA-\\d+`", "see JIRA-12 and jira-12", "see [redacted:rule] and jira-12"),
        ("/cust-[a-z]+/i for customers", "CUST-abc", "[redacted:rule]"),
        ("/a\\/b/", "x a/b y", "x [redacted:rule] y"),
        ("employer: Globex", "at globex we", "at [redacted:employer] we"),
        ("**Employer:** Globex", "at globex we", "at [redacted:employer] we"),
        ("Acme, Initech; and Globex", "acme, Globex", "[redacted:rule], [redacted:rule]"),
        ("customers: Anna Muster, Karl May", "Karl May and anna muster", "[redacted:rule] and [redacted:rule]"),
        ("Müßiggang AG", "MÜSSIGGANG AG, müßiggang ag", "[redacted:rule], [redacted:rule]"),
        ("Hassmann", "Haßmann", "[redacted:rule]"),
        ("Ärzte ohne Grenzen", "die Ärzte ohne Grenzen", "die [redacted:rule]"),
        ("No Name GmbH", "at No Name GmbH", "at [redacted:rule]"),
        ("Nie Weiping", "with Nie Weiping", "with [redacted:rule]"),
        ("Nunca Más", "at nunca más now", "at [redacted:rule] now"),
        ("Jamais Vu GmbH", "Jamais Vu GmbH", "[redacted:rule]"),
        ("Projekt Nie", "im Projekt Nie", "im [redacted:rule]"),
        ("Keine Namen von Kunden: Acme, Initech", "Acme, initech", "[redacted:rule], [redacted:rule]"),
        ('Speichere niemals etwas zu Firma "Globex"', "at Globex", "at [redacted:rule]"),
        ("Off the record: Osprey", "on osprey now", "on [redacted:rule] now"),
        ("Acme, Inc.", "at Acme, Inc. we say Inc", "at [redacted:rule]. we say Inc"),
        ("Forget whatever I say about Tanager", "We sell Tanager. Next", "[redacted:rule]. Next"),
        ("my employer", "I work at Globex Corp on it", "I [redacted:employer] on it"),
        ("Health information", "He was diagnosed with flu. Then", "He was [redacted:health]. Then"),
        ("financial data", "my salary is 90,000. Then", "my [redacted:financial]. Then"),
        ("personal", "mail a@b.example.org", "mail [redacted:email]"),
        ("credentials", "the pin is 4711", "the [redacted:credentials]"),
    ],
)  # fmt: skip
def test_items(item: str, raw: str, left: str) -> None:
    """Patterns, terms and categories are followed."""
    assert clean(raw, rules(item)).text == left


@pytest.mark.parametrize(
    "heading",
    [
        "# Privacy",
        "### Redaction rules",
        "## Never remember",
        "## Don't store this",
        "## 🔒 Privacy",
        "## Datenschutz",
        "## Vie privée",
        "## プライバシー",
        "## 🔒 DATENSCHUTZ:",
        "## Confidentialité",
    ],
)
def test_headings(heading: str) -> None:
    """A section about privacy may be called so in several ways."""
    assert clean("a nightjar", rules("nightjar", heading=heading)).text == "a [redacted:rule]"


@pytest.mark.parametrize(
    "heading",
    [
        "## 秘密鍵の扱い",
        "## プライバシーポリシー画面",
        "## Datenschutzerklärung-Seite",
        "## Datenschutz-Banner (Cookie Consent)",
        "## 개인정보 처리방침 페이지",
        "## Privacidad: página",
    ],
)
def test_headings_of_other_languages_that_say_more(heading: str) -> None:
    """What is built under them is no rule of privacy."""
    for item in ("`openssl genrsa`", "KeyStore", "`src/pages/Legal.tsx`", "React Router"):
        assert clean(item, rules(item, heading=heading)).redactions == 0


@pytest.mark.parametrize(
    "name",
    ["Nie Wieder e.V.", "Project Nunca Más Phase Two", "Speichere niemals etwas zu Firma Globex"],
)
def test_a_name_in_what_may_be_a_sentence_is_a_term(name: str) -> None:
    """Words of another language that say no stand in names, too: what was a term is one."""
    found = parse(f"# Privacy\n- {name}\n", "CLAUDE.md")
    assert (
        clean(f"at {name.rstrip('.')} now", Policy(rules=(found,))).text == "at [redacted:rule] now"
    )


def test_only_the_section_counts() -> None:
    """Lists elsewhere, code and the text around are no rules; sections below the heading are."""
    found = parse(
        "- before\n# Privacy\nSome words.\n- one\n```\n- code\n```\n## Names\n* two\n# Style\n- after\n",
        "CLAUDE.md",
    )
    words = "before one code two after"
    assert clean(words, Policy(rules=(found,))).text == (
        "before [redacted:rule] code [redacted:rule] after"
    )


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("`(unclosed`", "missing"),
        ("`a*`", "empty text"),
        ("`(?=x)`", "invalid perl operator"),
        ("/x/q", "unknown flags"),
        ("`" + "(x{900}){1000}" + "`", "("),
        ("`" + "x" * 900 + "`", "at most"),
        ("y" * 300, "characters"),
        ("I'd rather you didn't keep anything on Siskin", "not understood"),
        ("Please be careful with what Anna tells", "not understood"),
        ("Speichere niemals etwas zu Firma Globex.", "not understood"),
        ("Nunca guardes Globex", "not understood"),
        ("N'enregistre jamais rien sur Globex SA.", "not understood"),
        ("Globexについて記録しないでください", "not understood"),
    ],
)
def test_bad_rules(item: str, words: str) -> None:
    """A rule that cannot be used is told with its place, and the others are followed."""
    found = parse(f"# Privacy\n- {item}\n- nightjar\n", "CLAUDE.md")
    assert len(found.problems) == 1
    assert found.problems[0].startswith("CLAUDE.md:2: ") and words in found.problems[0]
    assert clean("nightjar", Policy(rules=(found,))).text == "[redacted:rule]"


def test_hostile_pattern_ends() -> None:
    """A pattern that would take others an eternity takes no time."""
    clean("a" * 5_000 + "!", rules("`(a+)+$`"))


def test_too_many_rules() -> None:
    """Rules beyond the limit are told, and do not count."""
    found = parse("# Privacy\n" + "\n".join(f"- term{n}" for n in range(MOST_RULES + 5)), "x")
    assert sum(not one.over for one in found.rules) == MOST_RULES
    assert f"only {MOST_RULES} rules" in found.problems[0]


def test_files(scratch_home: Path, tmp_path: Path) -> None:
    """The user's rules hold everywhere; a project's add to them there alone, and a changed file counts."""
    user = scratch_home / ".claude" / "CLAUDE.md"
    user.parent.mkdir()
    user.write_text("# Privacy\n- nightjar\n")
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("# Never remember\n- heron\n")
    (project / ".claude" / "CLAUDE.md").write_text("# Never remember\n- curlew\n")
    policy.forget_files()
    words = "nightjar heron curlew"
    assert clean(words).text == "[redacted:rule] heron curlew"
    with for_project((str(project),)):
        assert clean(words).text == "[redacted:rule] [redacted:rule] [redacted:rule]"
    assert clean(words).text == "[redacted:rule] heron curlew"
    user.write_text("# Privacy\n- heron and all that of them\n- heron\n")
    policy.forget_files()
    assert clean(words).text == "nightjar [redacted:rule] curlew"


def test_a_file_that_cannot_be_read(scratch_home: Path) -> None:
    """What stands in the place of the file and is none is told, and costs nothing."""
    (scratch_home / ".claude" / "CLAUDE.md").mkdir(parents=True)
    policy.forget_files()
    found = policy.rules_of(*policy.files()[0])
    assert "cannot be read" in found.problems[0]
    assert clean("nightjar").text == "nightjar"


def test_unknown_kinds_are_refused() -> None:
    """Only kinds of personal data that there are can be asked for."""
    with pytest.raises(ValueError, match="shoe"):
        policy.configure(("shoe",))


@pytest.mark.parametrize(
    ("pattern", "loose"),
    [
        (r"a(?!b)c", "ac"),
        (r"a(?=(?:x|[)(]|\)))b", "ab"),
        (r"(?<=a)(?<!b)c", "c"),
        (r"\(?!x", r"\(?!x"),
        (r"(?:a|b)", r"(?:a|b)"),
    ],
)
def test_a_pattern_without_its_lookarounds(pattern: str, loose: str) -> None:
    assert without_lookaround(pattern) == loose
