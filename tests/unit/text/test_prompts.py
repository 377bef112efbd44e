"""Which prompts need no memory, and which point back."""

from __future__ import annotations

import pytest

from vector_memory.text import prompts


@pytest.mark.parametrize(
    "prompt",
    ["yes", "Go on.", "thanks!", "ok do it", "/compact", "/remember x", "!ls", "", "  ", "👍",
     "looks good", "continue please", "no", "2", "commit and push it", "c", "A b", "hello Claude",
     "good morning everyone", "please commit all code with a good message and push it",
     "Commit the uncommitted files with a short, descriptive message and then push the branch to origin please",
     "create a new branch and a pr", "commit the new change and merge it", "push with a short commit message",
     "<ide_opened_file>The user opened notes.py</ide_opened_file> ok", "‹ide_selection›x = 3‹/ide_selection›",
     "passt so, danke dir", "très bien, merci beaucoup", "muy bien, gracias", "faz o commit por favor", "va bene, grazie mille",
     "отлично, спасибо", "tak, zrób to", "tamam", "好的，谢谢", "コミットしてください", "네, 좋아요",
     "nein, lass das", "não, deixa isso", "non merci, pas la peine", "no, mejor no", "no, lascia stare", "нет, не надо",
     "いや、それはやめてください", "아니, 그건 하지 마", "还是算了吧"],
)  # fmt: skip
def test_acknowledgements_and_commands_need_nothing(prompt: str) -> None:
    """Prompts that only steer get no memory."""
    assert prompts.Prompt(prompt).needs_nothing


@pytest.mark.parametrize(
    "prompt",
    ["fix the parser", "which port does postgres use?", "yes, but use the WAL mode", "why?",
     "no, the other database", "what did the last commit change?", "which branch is the pull request on",
     "write the commit message for this change", "commit and then change the message", "create the files and commit",
     "commit the parser", "push the fix of the ledger", "<ide_opened_file>a.py</ide_opened_file> why?",
     "ja, aber erst die Tests", "où ?", "continúa con la migración de usuarios", "да, но сначала исправь тест", "tak, ale bez schematu",
     "devam et, fatura modülünü taşı", "好的，但是先修测试", "請求書の移行を続けて",
     "nein, lass die Tests laufen", "não, deixa o cache em Redis", "не делай миграцию", "いや、パスワードは不要です",
     "これはなぜ？", "아니, 로그는 남기지 마", "안 되는 이유가 뭐야?", "不要缓存图片"],
)  # fmt: skip
def test_prompts_with_content_may_need_something(prompt: str) -> None:
    """A content word makes a prompt worth a search."""
    assert not prompts.Prompt(prompt).needs_nothing


@pytest.mark.parametrize(
    ("prompt", "back"),
    [
        ("why did that fail?", True),
        ("try it again", True),
        ("fix it", True),
        ("which port does the postgres instance of the staging ledger service use?", False),
    ],
)
def test_short_pointing_prompts_are_told_apart(prompt: str, back: bool) -> None:
    """Only prompts that lean on the last turn are searched together with it."""
    assert prompts.Prompt(prompt).points_back is back


@pytest.mark.parametrize(
    ("prompt", "before"),
    [("why did that fail?", True), ("why?", True), ("fix it", True), ("how do we back up postgres?", False),
     ("grafana 502 again", False), ("try it again", True), ("again", True), ("add klarna", False), ("threshold?", False)],
)  # fmt: skip
def test_a_short_prompt_of_its_own_subject_is_not_about_what_was_before(
    prompt: str, before: bool
) -> None:
    """What was said before would drown the word that it is about."""
    assert prompts.Prompt(prompt).is_about_before is before


@pytest.mark.parametrize(
    ("prompt", "on"),
    [("continue", True), ("Go on.", True), ("ok, go ahead", True), ("thanks", False), ("a", False), ("hi", False),
     ("commit and push", False), ("/resume", False), ("continue with the parser", False), ("continúa", True),
     ("continue là où on s'est arrêtés", True), ("là où on s'est arrêtés", True), ("là où tu t’es arrêté", True),
     ("продолжай", True), ("続けてください", True), ("계속해 주세요", True),
     ("vai avanti", True), ("gracias", False), ("sigue con el módulo de impresión", False)],
)  # fmt: skip
def test_going_on_is_told_from_agreeing(prompt: str, on: bool) -> None:
    """Who goes on wants to know with what; who thanks or chooses does not."""
    assert prompts.Prompt(prompt).goes_on is on


@pytest.mark.parametrize(
    ("prompt", "only", "needs"),
    [("fix it", True, True), ("please do the previous one", True, True), ("fix the parser", False, True),
     ("Make a file of the above report about costs", True, True),
     ("Fix the parser, it forgets the last line", False, False),
     ("The above:\n\nTraceback: the parser dies in ledger.py, KeyError cents", False, False)],
)  # fmt: skip
def test_what_has_no_subject_of_its_own(prompt: str, only: bool, needs: bool) -> None:
    """What cannot be searched for at all, and what is not understood alone."""
    assert prompts.Prompt(prompt).only_points_back is only
    assert prompts.Prompt(prompt).needs_what_was_before is needs


def test_a_prompt_of_few_terms_is_short() -> None:
    """However many words that say nothing it has."""
    assert prompts.Prompt("well, so could you please look at it and then do the button?").is_short
    assert not prompts.Prompt(" ".join(f"colour{n}" for n in range(12))).is_short


@pytest.mark.parametrize(
    ("prompt", "question"),
    [("/remember which port?", "which port?"), (" /vector-memory:remember\nwhich port? ", "which port?"),
     ("/remember", ""), ("/rememberwhich port?", ""), ("please /remember which port?", "")],
)  # fmt: skip
def test_what_is_asked_of_memory_itself(prompt: str, question: str) -> None:
    """Only the command's own form asks it."""
    assert prompts.Prompt(prompt).question == question


@pytest.mark.parametrize(
    ("prompt", "is_one"),
    [("terraform plan", True), ("npm run build", True), ("docker compose up -d", True), ("terraform", False),
     ("next step", False), ("make it work", False), ("terraform plan?", False), ("fix the tests", False)],
)  # fmt: skip
def test_a_command_line_is_told_from_a_sentence(prompt: str, is_one: bool) -> None:
    """It begins with a program's name, and has no word of a sentence, or a flag."""
    assert prompts.Prompt(prompt).is_command_line is is_one


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [("What is still open?", True), ("what's left to do?", True), ("what do we still have to do", True),
     ("remind me what is left", True), ("Any open questions?", True), ("welche Fristen haben wir?", True),
     ("is it still open?", False), ("what is left in the parser?", False), ("open the file", False),
     ("are you still there?", False), ("fix the open todos", False), ("what port is open", False),
     ("what is open this week?", True), ("do we have any open tasks?", True), ("open questions?", True),
     ("how do I open the project?", False), ("what does open do?", False), ("why is the task still pending?", False),
     ("how do I still do this?", False), ("can you open my project?", False), ("where do we open tasks?", False),
     ("who left our project?", False), ("how's the task still due?", False),
     ("Gibt es noch offene Punkte?", True), ("Was müssen wir noch tun?", True), ("Que reste-t-il à faire ?", True),
     ("¿Qué tareas tenemos pendientes?", True), ("O que a gente ainda tem para fazer?", True),
     ("Cosa manca ancora?", True), ("まだ残っている作業は何ですか？", True), ("やることリストを見せて", True),
     ("まだ終わっていないことはありますか", True), ("아직 안 끝난 일이 뭐야?", True), ("남은 작업 알려 줘", True),
     ("现在还有什么要做的", True), ("列出未完成的任务", True),
     ("Ist das noch offen?", False), ("Was fehlt im Dockerfile?", False), ("Que reste-t-il du cache ?", False),
     ("¿Falta el índice?", False), ("Faz as tarefas pendentes", False), ("Está aberto?", False),
     ("まだ残っている。", False), ("カレーの残りは何ですか", False), ("残りのテストを実行して", False),
     ("끝난 일이 뭐야?", False), ("남은 디스크 용량이 뭐야?", False), ("我现在还没做。", False), ("剩余内存是多少？", False),
     ("残" * 9_000 + "?", False)],
)  # fmt: skip
def test_who_asks_what_is_open_asks_of_nothing_else(prompt: str, asks: bool) -> None:
    """A question about one thing is searched for."""
    assert prompts.Prompt(prompt).asks_what_is_open is asks
