"""A day to come by which something is to be done is found, and no other day."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.text.deadlines import deadline, has_deadline, last_day

TUESDAY = datetime(2026, 11, 24, 16, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("the bakery's audit is on december 9, all recipes have to be in by then", "2026-12-09"),
        ("the oven has to be booked by friday", "2026-11-27"),
        ("it must be ready by next friday", "2026-11-27"),
        ("we must have left the old till before 15 December", "2026-12-14"),
        ("Bis Freitag muss die Waage angeschlossen sein.", "2026-11-27"),
        ("Am 9. Dezember ist die Abnahme.", "2026-12-09"),
        ("le contrat se termine le 15 décembre", "2026-12-15"),
        ("the shop opens on january 4", "2027-01-04"),
        ("the report is due by the end of december", "2026-12-31"),
        ("rehearsal of the fair on december 7", "2026-12-07"),
        ("9 december freeze", "2026-12-09"),
        ("audit: december 14, 10:00", "2026-12-14"),
        ("Umbau der Backstube am 12. Dezember ab 6 Uhr", "2026-12-12"),
        ("The accountant needs the file by December 10", "2026-12-10"),
        ("tasting 4 dec needs the new oven at the shop by 1 dec.", "2026-12-01"),
        ("the fair is december 12, the tasting december 5.", "2026-12-05"),
        (
            "Die Filiale öffnet am 1. Dezember, und der Pachtvertrag endet am 15. Dezember.",
            "2026-12-01",
        ),
        ("renew the licence of the till before december 9", "2026-12-08"),
        ("Frist: 5.12.2026", "2026-12-05"),
        ("Die Inventur muss bis zum 05.12. fertig sein.", "2026-12-05"),
        ("Tenemos que enviar la lista antes del 5 de diciembre.", "2026-12-04"),
        ("La liste est à rendre pour le 5 déc.", "2026-12-05"),
        ("On doit livrer d'ici vendredi prochain.", "2026-11-27"),
    ],
)
def test_a_day_to_come_ends_with_its_night(said: str, day: str) -> None:
    """Without its year it is the next one."""
    found = deadline(said, TUESDAY)
    assert found is not None
    assert (found - timedelta(hours=1)).date().isoformat() == day


@pytest.mark.parametrize(
    "said",
    [
        "on december 9 the oven was cold for an hour",
        "since march 3 the till has to be restarted",
        "the release of december 9 has to be rolled back",
        "it had to be done by november 20",
        "must it be done by friday?",
        "2026-12-09 08:12:13 ERROR till: must retry before 2026-12-10",
        "the shop stays as it is until the end of december",
        "guests must not be able to order before december 9",
        "the audit is on november 2",
        "last friday is when it has to have happened",
        "we baked the last of it on december 3",
        "rename the december 9 column to date",
        "orders on december 2 are missing",
        "take the numbers between december 1 and december 8",
        "no deliveries from tomorrow till dec 2, black friday",
        "we had it before december 9, not since december 1",
        "orders of december 2, and those of december 4, are missing",
        "Die Kasse muss auf 5.12. laufen.",
        "Das muss mit Postgres ab 12.4. gehen",
        "Die Kasse muss man mit Node ab 18.1. laufen lassen.",
        "La caja tiene que quedarse en la versión 5.12.",
        "Bis 5.12. hatten wir die alte Kasse.",
        "Nächsten Freitag hatte sie nicht gemeint.",
        "marleen cant on the 5th, she comes 12 dec",
        "the baker cant on december 5",
        "the oven wont be here on december 5",
        "the baker cannot come before december 9",
        "she cant on the 5th, not on 12 dec, or could she on the 14th?",
        "the till didnt print on december 5, it printed on december 12",
    ],
)
def test_other_days_are_no_deadlines(said: str) -> None:
    """Those that were, of a log, of a release, of what a program can do, and asked ones."""
    assert deadline(said, TUESDAY) is None


@pytest.mark.parametrize(
    "said",
    [
        "The release can't be later than 5 Dec.",
        "The release can't be later than December 5, must ship.",
        "It cannot be due later than December 5.",
        "We can't ship after December 5; the deadline is December 5.",
        "You can't miss the deadline: December 5.",
        "Don't forget: the audit is on December 5.",
        "Don't forget that the report is due December 5.",
        "Dont forget the report is due on December 5.",
        "don't forget, invoices due by December 5",
        "We cannot wait, the report must be done by December 5.",
        "I can't come, but the report is due by December 5.",
        "I won't be there, the report must be in by December 5.",
        "The deadline can't move: it is due on December 5.",
        "It can't wait past December 5, it has to be done by December 5.",
        "It's not optional: the form is due by December 5.",
        "This isn't negotiable, the form is due December 5.",
        "The deadline won't be extended: December 5.",
        "The API keys won't work anymore, they expire on December 5.",
        "The old keys wont work any more, they expire on December 5.",
        "The old certificate does not renew itself; it expires on December 5.",
        "Tests arent green; the release is on December 5.",
        "Python 3.9 isnt supported any more: upgrade is due by December 5.",
        "Die Abgabe kann nicht später als am 5. Dezember sein.",
        "Wir können das nicht verschieben: Abgabe am 5. Dezember.",
        "Das geht nicht später als 5. Dezember.",
        "I can not stress enough: due December 5.",
        "Applications cannot be submitted later than December 5.",
        "The ticket won't be refunded later than December 5.",
        "the budget is due december 5, cant be later",
        "The invoice is due December 5, we can't be late on December 12 either.",
        "The want ad is due on December 5.",
        "Please send it by December 5, not on December 12.",
        "It wasnt clear: report due by December 5.",
        "Doesnt matter, the demo is on December 5.",
        "I can’t find it; the exam is on December 5.",
        "This can't be later than 5 Dec.",
        "It can’t be later than December 5, it must be done.",
        "It must be done by December 5, it can’t be later.",
        "We can’t forget: the report is due December 5.",
        "I can’t make the call, but the invoice must be paid by December 5.",
        "The invoice must be paid by December 5, I can’t make it on December 12.",
        "it wasnt paid yet, must be paid by December 5",
        "the tests dont pass, the fix has to be in by December 5",
        "i cant find the form, it has to be in by december 5",
        "Ich kann die Datei nicht finden, sie muss bis 5. Dezember da sein.",
        "I cannot find the form, it has to be in by December 5.",
        "we cannot ship without it, due by December 5",
    ],
)
def test_what_is_denied_in_another_clause_is_another_thing(said: str) -> None:
    """And what can't be later has to be by then."""
    assert deadline(said, TUESDAY) == datetime(2026, 12, 6, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("We can't miss December 5: the audit is on December 9.", 9),
        ("We can't do December 5, but the contract ends December 31.", 31),
        ("We can't deploy on December 5, the freeze starts on December 12.", 12),
        ("we can't ship before December 5, must ship by December 12.", 12),
        ("I can't do it before December 5, I must finish the audit by December 12.", 12),
        ("Payment cannot arrive after December 5, so it's due on December 4.", 4),
        ("No puede ser el 5 de diciembre, será el 12 de diciembre.", 12),
        ("On ne peut pas le 5 décembre, ce sera le 12 décembre.", 12),
    ],
)
def test_beside_a_day_that_cannot_be_another_is_due(said: str, day: int) -> None:
    found = deadline(said, TUESDAY)
    assert found is not None and (found - timedelta(hours=1)).day == day


@pytest.mark.parametrize(
    "said",
    [
        "She can't do Monday, the meeting was on December 5.",
        "I can't on December 5, I was there on December 3.",
        "We can't ship on December 5, as the tests were red on December 12.",
        "The baker can't on December 5, the freezer was fixed on December 12, 2026.",
        "We can't meet on December 5, we meet the baker's mother since December 12.",
        "we can't merge on december 5, the branch was cut on december 1",
        "She can't on December 5, she told me on November 20.",
        "It won't be delivered on December 5, we ordered it on November 3.",
        "The server can't be reached on December 5, maintenance until December 7.",
        "kann am 5. Dezember nicht, weil die Messe am 12. Dezember war",
        "Wir können nicht am 5. Dezember liefern, die Bestellung kam am 20. November.",
        "Geht das nicht bis zum 5. Dezember?",
        "It can't be before December 5.",
        "Nothing can be done after December 5; can't be later.",
        "Wir können am 5.12. nicht, der Ofen wird am 12.12. geliefert.",
        "She can't on December 5; it was sunny on December 12, too.",
        "We can't move off v2 before December 5, EU law changed in January 2026.",
        "I can't make the 5th of December, the last time we met was December 1.",
    ],
)
def test_beside_a_day_that_cannot_be_others_are_none(said: str) -> None:
    """The next one that is named may be one that was."""
    assert deadline(said, TUESDAY) is None


@pytest.mark.parametrize(
    ("told", "day"),
    [
        ("Até 18/11/2027 preciso enviar o relatório ao cliente.", "2027-11-19"),
        ("Preciso entregar a migração até o dia 9/12.", "2026-12-10"),
        ("12月9日までに請求書を送る必要があります。", "2026-12-10"),
        ("2027年1月15日までに移行を終えてください。", "2027-01-16"),
        ("12월 9일까지 배포 문서를 정리해야 해.", "2026-12-10"),
        ("12월 9일까지는 계약서를 보내야 합니다.", "2026-12-10"),
        ("必须在12月9日之前提交报告。", "2026-12-10"),
        # Two denials say that it has to be done, and who says not to forget denies nothing.
        ("12月9日までに報告書を提出しなければなりません。", "2026-12-10"),
        ("12月9日までにサーバーを移さないといけないんです。", "2026-12-10"),
        ("12월 9일까지 갱신하지 않으면 안 됩니다.", "2026-12-10"),
        ("12월 9일까지 제출하지 않을 수 없습니다.", "2026-12-10"),
        ("12월 9일까지 제출하는 것 잊지 마세요.", "2026-12-10"),
        ("12월 9일까지 마이그레이션을 끝내야 합니다.", "2026-12-10"),
        ("不要忘记12月9日之前提交报告。", "2026-12-10"),
        ("Não esqueça de enviar o contrato até 9/12.", "2026-12-10"),
        ("Preciso entregar até 9/12/27.", "2027-12-10"),
        ("O relatório está atrasado, entrego até 9/12 de manhã.", "2026-12-10"),
        ("請求書の期限は12月9日までです。", "2026-12-10"),
        ("12月9日前提交报告。", "2026-12-10"),
    ],
)
def test_a_last_day_in_other_languages(told: str, day: str) -> None:
    said_at = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
    end = deadline(told, said_at)
    assert end is not None
    assert end.date().isoformat() == day
    assert has_deadline(told)


@pytest.mark.parametrize(
    "told",
    [
        "Não preciso entregar nada até 9/12/2026.",
        "Já enviei o relatório, era até 9/12/2026.",
        "Até 9/12/2026 estive de férias.",
        "12月9日までに終える必要はない。",
        "12月9日までに提出しました。",
        "12月9日までに終わりますか？",
        "12월 9일까지 할 필요는 없어.",
        "12월 9일까지 다 끝냈어.",
        "12月9日之前不用提交。",
        "12月9日前已经提交了。",
        "12月9日までに提出しなければなりませんでした。",
        "12月9日までに提出しなければならないのですか？",
        "12月9日までに公開してはいけません。",
        "12월 9일까지 제출하지 않으면 안 됐다.",
        "12월 9일까지는 배포하면 안 됩니다.",
        "12월 9일까지 제출하지 않아도 됩니다.",
        "12월 9일까지 배포하지 마세요.",
        "别忘了12月9日之前不能发布。",
        "12月9日之前千万不要",
        "Já mandei o contrato até 9/12.",
        "Preciso entregar até 9/12/25.",
        "Até 9/12 estou de férias.",
        "O limite é até 1/2 da memória.",
        "A cobertura vai até 3/4 dos testes.",
        "12月9日まで冬休みです。",
        "12月9日まで凍結。",
        "12月9日まで有効なトークンです。",
        "12月9日之前的日志已删除",
        "12月9日前的提交都要检查。",
        "Não esperamos nada até 9/12/2026.",
    ],
)
def test_what_is_denied_or_over_in_other_languages_is_no_deadline(told: str) -> None:
    assert deadline(told, datetime(2026, 11, 20, 12, tzinfo=timezone.utc)) is None


@pytest.mark.parametrize(
    "told",
    [
        "Code freeze until 30 November.",
        "There is a freeze of main until the 30th of November!",
        "Never deploy on Fridays until 30 November",
        "Until 30 November, never push to main.",
        "Bis 30. November nur Korrekturen.",
        "No deploys until 2026-11-30.",
        "No deploys (until Monday, 30 November)",
        "- Until **30 November 2026** never push to main.",
        "Until Monday, 30 November 2026, never push to main.",
        "Never push to main until (and including) `2026-11-30`.",
        "Bis zum 30.11.2026 nie auf main pushen.",
        "Bis einschließlich 30. November nie auf main pushen.",
        "Nie auf main pushen bis Montag, den 30. November!",
        "Nunca despliegues hasta el lunes, 30 de noviembre.",
        "Ne jamais pousser sur main jusqu’au 30 novembre.",
        "11月30日までは main に push しないでください。",
        "11月30日之前，不要发布。",
        "11월 30일까지는 배포하지 마세요.",
        "Não fazer deploy até 30/11.",
        "Até o dia 30/11/2026 nunca faça deploy.",
        "Between 25 and 30 November never deploy.",
        "- Between the 25th and the 30th of November never deploy.",
        "From November 25 to November 30 no deploys",
        "From Wednesday 25 November 18:00 until Monday 30 November 08:00 no deployments.",
        "Between 2026-11-25 and 2026-11-30, never push to main.",
        "Vom 25. bis 30. November keine Deploys.",
        "Vom 25.11. bis zum 30.11. keine Deploys.",
        "Zwischen 25. und 30. November nie deployen.",
        "Zwischen dem 25. und dem 30. November nie deployen.",
        "Du 25 au 30 novembre ne jamais déployer.",
        "Del 25 al 30 de noviembre nunca despliegues.",
    ],
)
def test_until_when_a_text_says_that_something_holds(told: str) -> None:
    end = last_day(told, datetime(2026, 11, 20, 12, tzinfo=timezone.utc))
    assert end == datetime(2026, 12, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "told",
    [
        "No deploys until tests pass.",
        "It was so until last Friday.",
        "Merge it by 30 November.",
        "Never deploy on Fridays, always wait until Monday.",
        "Don't merge the updates until Monday.",
        "Never send the invoices until the 15th.",
        "Keep the v1 API until 30 November; after that always use only v2.",
        "Until 30 November use v1 and then always v2.",
        "The release branch is frozen until 30 November, and never push to it without a review.",
        "Never merge without Ines, Tom is on leave until 30 November 2026.",
        "never merge without ines tom is on leave until 30 november 2026",
        "Never merge without Ines because Tom is on leave until 30 November 2026.",
        "Never merge without Ines (Tom is on leave until 30 November 2026).",
        "Never merge without Ines – Tom's leave lasts until 30 November 2026.",
        "We support Python 3.8 until 30 November 2026, but never merge without Ines.",
        "Never merge without Ines, not only until 30 November 2026 but always.",
        "This holds not only until 30 November 2026.",
        "Never use v1: it is supported until 30 November 2026.",
        "Never merge into it until Ines is back on 30 November.",
        "Never deploy until told otherwise, 30 November 2026.",
        'The line "until 30 November" is never to be changed.',
        "Always lint. Until 30 November use the old runner.",
        "Always lint\nNo deploys until 30 November",
        "Always archive the tickets opened until 30 November.",
        "Always check whether the contract ran until 30 November 2026.",
        "No deploys until 30 November or later",
        "Nie ohne Ines mergen, denn Tom fehlt bis 30. November.",
        "11月30日までに、v1 を削除してください。",
        "11月30日まで有効なトークンは使わないでください。",
        "11月30日までは v1、その後は必ず v2 を使ってください。",
        "11月30日之前创建的分支不要删除。",
        "Nunca faça merge sem a Ines, o Tom está de férias até 30/11.",
        "Never delete the orders between 25 and 30 November.",
        "Between 25 and 30 November never deploy, and always ask Ines.",
        "From 25 to 30 November every year never deploy.",
        "Between 25 and 30 November of each year never deploy.",
        "No deploys until 30 November each year",
        "From 25 November to 30 November never deploy, annually.",
        "Zwischen dem 25. und dem 30. November jedes Jahr nie deployen.",
        "Vom 25. bis 30. November jährlich keine Deploys.",
        "Vom 25. bis 30. November grundsätzlich keine Deploys.",
        "Du 25 au 30 novembre chaque année ne jamais déployer.",
        "Del 25 al 30 de noviembre cada año nunca despliegues.",
        "Between 22:00 and 06:00 never deploy.",
        "Between Monday and Wednesday never deploy.",
        "Between 10 and 20 workers are enough.",
        "From 25 November on always sign commits.",
        "From 10 to 20 replicas are fine by 30 November.",
    ],
)
def test_what_may_hold_on_has_no_last_day(told: str) -> None:
    """A rule that falls silent is not missed: of two clauses one may hold on, and a weekday comes again."""
    assert last_day(told, datetime(2026, 11, 20, 12, tzinfo=timezone.utc)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Migration 9 must never be edited again, it already ran in production on the 20th.",
        "We have to support IE mode; the bank signed on December 12.",
        "The API must stay compatible since v2 went live on the 1st.",
        "Backups must be encrypted, as was decided at the meeting on December 5.",
    ],
)
def test_the_day_of_a_rules_reason_is_no_deadline(text: str) -> None:
    """It was then that something happened; the rule holds on."""
    assert deadline(text, datetime(2026, 11, 24, 10, tzinfo=timezone.utc)) is None


@pytest.mark.parametrize(
    "text",
    [
        "We have to renew the certificate and deploy it on 20 December.",
        "I have to call her, she leaves on December 20.",
        "I had to move it; the deadline is now December 20.",
        "The papers must be sent, latest on the 20th.",
        "The form has to be signed and returned on December 20.",
        "The release has to be built, tested and deployed on December 20.",
        "We have to migrate, the old API is turned off on December 20.",
        "We must be ready: the red team comes on December 20.",
    ],
)
def test_a_duty_may_have_its_day_in_another_clause(text: str) -> None:
    end = deadline(text, datetime(2026, 11, 24, 10, tzinfo=timezone.utc))
    assert end is not None and (end.month, end.day) == (12, 21)


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("said", "day", "text"),
    [
        ("2026-12-05T10:00", "2027-03-29", "Hand in the form by March 29."),
        ("2026-03-01T10:00", "2026-03-30", "Hand in the form by 30 March."),
        ("2026-07-01T10:00", "2026-11-03", "Hand in the form by 3 November."),
        ("2026-10-23T10:00", "2026-10-26", "Hand in the form by Monday."),
    ],
)
def test_a_deadline_ends_with_its_day_behind_a_change_of_clocks(
    said: str, day: str, text: str
) -> None:
    end = datetime.fromisoformat(day).astimezone() + timedelta(days=1)
    wall = end.replace(tzinfo=None, hour=0).astimezone()
    assert deadline(text, datetime.fromisoformat(said).astimezone()) == wall
