"""What somebody asks in a prompt not to remember is not stored, in no form; what names a thing that is not to be stored
is about the work, and stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.service.capture import read_session
from vector_memory.text.unstored import INSTEAD, without_unstored

ASKED = """
Unter uns, das muss nirgends auftauchen: Jürgen hat Thomas.
Esto no lo guardes en ningún sitio: la editora Thomas
Ceci est confidentiel, ne le retiens pas : l'amphore Thomas.
Pls not save this: patient Thomas
Between us, this must not show up anywhere: Thomas has leaves.
Bu aramızda kalsın: İbrahim'in Thomas.
ここだけの話ですが、田中さんは来月Thomas。記録しないでください。
Thomas has leaves. Don't save this.
Off the record: Thomas leaves
Keep this out of memory: Thomas leaves
Please don't remember this, Thomas leaves
This is off the record: Thomas
Don't store this in your memory: Thomas
Don't store this anywhere please. Thomas leaves
Das bleibt unter uns: Thomas
Merk dir das bitte nicht: Thomas
Bitte nicht merken: Thomas
Isso fica entre nós: Thomas
Não salve isso: Thomas
Non memorizzare questo: Thomas
Detto tra noi, Thomas
Bewaar dit niet: Thomas
Между нами: Thomas
Не запоминай это: Thomas
Bunu kaydetme: Thomas
Nie zapisuj tego: Thomas
不要记住这个：Thomas
这件事别记录，Thomas
이건 저장하지 마세요: Thomas
우리끼리 얘기인데, Thomas
Entre nous, Thomas
Que esto quede entre nosotros: Thomas
"""
ABOUT_THE_WORK = """
don't save the file before the tests pass
we must not store passwords in plain text
the token must not show up in the logs
Don't save this until the tests pass
don't store this in localStorage
I don't remember this
We don't store that
The session id is in the header, it must not be stored.
Keep large buffers out of memory.
Keep the cache out of memory: it is too large.
The contract between us and the vendor ends in May.
Entre nous et le fournisseur il y a une API.
Zwischen uns und dem Server liegt ein Proxy.
no guardes el archivo antes de los tests
Speichere die Datei nicht vor den Tests.
N'enregistre pas le fichier avant les tests.
パスワードを平文で保存しないでください。
ファイルを保存しないでください
不要保存文件
파일을 저장하지 마세요
Add a tooltip "Off the record: chat" to the button.
bunu production'a kaydetme
Не сохраняй файл до тестов
Do not record this video in 4K.
Unter uns läuft der Server im Keller.
non salvare il file prima dei test
don't store that field in the session
Remember this: never push on Fridays.
"""


@pytest.mark.parametrize("prompt", ASKED.strip().splitlines())
def test_what_is_asked_for_goes(prompt: str) -> None:
    """With what follows it in its paragraph, or comes before."""
    assert "Thomas" in prompt
    assert without_unstored(prompt) == INSTEAD


@pytest.mark.parametrize("prompt", ABOUT_THE_WORK.strip().splitlines())
def test_rules_about_the_work_stay(prompt: str) -> None:
    """Files, passwords and fields that are not to be stored; what one does not remember; a contract between us."""
    assert without_unstored(prompt) == prompt


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("Add a sensor. Off the record: Thomas leaves.\nSoon.\n\nThen test.", "Add a sensor.\n\n{}\n\nThen test."),
        ("Fix it.\n\nThomas leaves. Please don't save this.\n\nThen push.", "Fix it.\n\n{}\n\nThen push."),
        ("Thomas leaves.\n\nDon't save this.\n\nThen push.", "{}\n\n{}\n\nThen push."),
        ("Off the record:\n\n- Thomas leaves\n- soon\n\nThen push.", "{}\n\n{}\n\nThen push."),
        ("Off the record.\n\nThomas leaves.", "{}\n\n{}"),
        ("Fix it:\n```\n# off the record: a name\n```", "Fix it:\n```\n# off the record: a name\n```"),
    ],
)  # fmt: skip
def test_how_much_goes(prompt: str, left: str) -> None:
    """The paragraph from the sentence on; all of it where nothing follows; another where the sentence stands alone."""
    assert without_unstored(prompt) == left.replace("{}", INSTEAD)


def _read(path: Path, turns: list[tuple[str, str]]) -> str:
    lines = []
    for number, (prompt, answer) in enumerate(turns):
        for type_, content in (("user", prompt), ("assistant", [{"type": "text", "text": answer}])):
            at = f"2026-11-20T10:0{number}:0{type_ == 'assistant':d}.000Z"
            message = {"role": type_, "content": content}
            named = {"uuid": f"{type_}{number}", "sessionId": "s", "timestamp": at}
            lines.append(json.dumps({"type": type_, "message": message, **named}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return repr(read_session.read(read_session.ReadRequest(str(path), final=True)).drafts)


def test_a_transcripts_drafts(tmp_path: Path) -> None:
    """Neither passages nor titles hold it; of an exchange in which nothing else was said nothing is kept. What others
    wrote, a program or the assistant, is no wish of the user's."""
    drafts = _read(
        tmp_path / "s.jsonl",
        [
            ("Between us: Thomas leaves in May.", "Understood, Thomas leaves and I keep it to myself."),
            ("Never write to /raw. Off the record: Thomas leaves.", "Understood, /raw stays as it is."),
            ("What does the manual say?", "Off the record: the manual says that Anna signs."),
        ],
    )  # fmt: skip
    assert "Thomas" not in drafts
    assert "Never write to /raw.\\n" + INSTEAD in drafts
    assert "Anna signs" in drafts
