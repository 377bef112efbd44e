"""A day to come by which something is to be done is found, and no other day."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.text.deadlines import deadline

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
        ("the baker cant on the 5th, she comes 12 dec", "2026-12-12"),
        ("The baker can’t on December 5; it's December 12 now.", "2026-12-12"),
        ("she wont do it on december 5, but on december 12", "2026-12-12"),
        ("Die Bäckerin kann am 5. Dezember nicht, sie kommt am 12. Dezember.", "2026-12-12"),
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
