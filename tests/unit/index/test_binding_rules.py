"""What of a user's words binds later sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.index import rules
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.model import PREFERENCE

BINDING = [
    "the oven stays below 220 degrees, the old one cracked",
    "loaves are weighed in grams, not ounces",
    "No deliveries on sundays.",
    "we keep the sourdough, no instant yeast in the recipes",
    "the bakery keeps its own ledger, sales never write into it",
    "All prices go through price_of(), nobody rounds by hand",
    "Paula owns the recipes, ask her before changing one",
    "max 12 trays per run, the lift takes no more",
    "only wholemeal for the school, they are strict about it",
    "every new recipe needs an allergen line",
    "Never bake on a public holiday.",
    "From now on the counter opens at seven.",
    "Bestellungen werden nie gel\u00f6scht, nur storniert.",
    "Kundennamen d\u00fcrfen in keinem Log auftauchen",
]
OF_THE_MOMENT = [
    "can you bake two more of these?",
    "ok thanks, looks good",
    "why is the crust so dark today?",
    "please rename the tray and run it again",
    "I tried it twice and it burned both times",
    "let's commit that and open a pr",
    "how do I ship the bread again, I always do the crates too early",
    "it failed with the same error as yesterday",
    "show me the last ten orders",
    "hm, what would you do?",
    "the test is red since this morning",
    "Kannst du mir die letzten Bestellungen zeigen?",
]


def test_most_of_what_binds_is_known_and_little_else() -> None:
    """However it is worded; the trade of these sentences is none that the weights were fitted on."""
    bound = [text for text in BINDING if rules.binds(text)]
    wrongly = [text for text in OF_THE_MOMENT if rules.binds(text)]
    assert len(bound) >= 0.7 * len(BINDING), sorted(set(BINDING) - set(bound))
    assert len(wrongly) <= 0.1 * len(OF_THE_MOMENT), wrongly


BINDING_IN_GERMAN = [
    "aber keine hefe aus der tüte, das brot muss ohne auskommen",
    "und schreib die preise in cent, überall",
    "Teig bleibt im Keller, oben ist es zu warm",
    "die laibe werden in gramm gewogen",
    "bleib beim sauerteig, wir steigen nicht auf hefe um",
    "mehl gehört ins silo, nicht in den keller",
    "vollkorn nur für die schule",
    "jedes rezept braucht eine zeile für allergene",
    "neue rezepte nur mit dinkel",
    "wir nehmen die alte waage, nicht die neue",
    "lieber kleine bleche, der ofen schafft sonst nichts",
    "preise nie von hand runden",
]
OF_THE_MOMENT_IN_GERMAN = [
    "könnten wir den ofen nicht einfach ausmachen",
    "was war das für ein teig",
    "der ofen ist aus, schau nach",
    "mach die krume weicher",
    "wo liegt das rezept für die schule",
    "die brote sind zu dunkel, dreh die hitze runter",
    "am ofen steht was von 230 grad",
    "die bleche sind vertauscht, das war gestern noch nicht",
]


def test_german_little_words_weigh_what_those_of_english_do() -> None:
    """An article is no English verb, and "nie" is a "never"."""
    bound = [text for text in BINDING_IN_GERMAN if rules.binds(text)]
    assert len(bound) >= 0.85 * len(BINDING_IN_GERMAN), sorted({*BINDING_IN_GERMAN} - {*bound})
    assert not [text for text in OF_THE_MOMENT_IN_GERMAN if rules.binds(text)]
    assert "word die" not in rules.features("die laibe werden in gramm gewogen")
    assert "word du" in rules.features("du pain sans sel pour les écoles, des noix pour nous")


@pytest.mark.parametrize(
    "text",
    ["könnten wir den ofen nicht auch ohne strom nutzen", "sollte man da nicht immer dinkel nehmen", "Dürfen wir das überhaupt in neuen Rezepten nehmen",
     "wollen wir nicht lieber die kleinen bleche nehmen", "Was nehmen wir, dinkel oder roggen", "müssten wir die laibe nicht immer wiegen", "brauche neue bleche. Was nehmen wir, stahl oder alu", "wo wollen wir die neuen bleche immer lagern", "1 we don't need, 2025 onwards is enough.", "2 and 4 we only need without nuts",
     "3 nehmen wir nur ohne nüsse", "1 und 3 brauchen wir nie"],
)  # fmt: skip
def test_what_asks_or_answers_by_its_word_order_is_no_rule(text: str) -> None:
    """Whoever reads it weeks later sees neither the talk nor the list."""
    assert not rules.binds(text)


@pytest.mark.parametrize(
    "text",
    ["ohne waage dürfen wir nichts nach neuen rezepten backen", "müssen wir nachts backen, dann nur mit ines und nie ohne waage",
     "was wir in den keller stellen, bleibt ohne strom", "solltest du ein rezept löschen wollen, frag immer vorher", "2 spaces everywhere, never tabs in the recipes", "4 eyes on every new recipe, we never bake without"],
)  # fmt: skip
def test_a_rule_is_one_in_any_word_order(text: str) -> None:
    """A condition begins as a question does, and a number may be one of what there is."""
    assert rules.binds(text)


@pytest.mark.parametrize("text", ["Never bake on a holiday.", "from now on rye only, wheat is out"])
def test_what_begins_as_a_rule_is_one(text: str) -> None:
    """Whatever else it weighs."""
    assert rules.binds(text)


@pytest.mark.parametrize(
    "text",
    ["Bitte Preise niemals als Gleitkommazahl speichern.", "Ab sofort bitte nur Roggen.", "Ne jamais supprimer les recettes.",
     "No borrar nunca las recetas.", "N'effacez jamais une recette.", "De agora em diante, uma receita por forno.", "Non cancellare mai le ricette.",
     "Впредь один рецепт на печь.", "Nigdy nie usuwaj przepisów.", "Tarifleri asla silme.", "永远不要删除食谱。",
     "レシピは絶対に消さないでください。", "이제부터 오븐마다 레시피를 나눠 주세요."],
)  # fmt: skip
def test_an_order_for_good_is_a_rule_in_other_languages(text: str) -> None:
    """The weights know few of their words."""
    assert plain_kind(text, is_users=True) == PREFERENCE
    assert rules.binds(text)


@pytest.mark.parametrize(
    "text",
    ["Der Teig ist noch nie aufgegangen.", "Immer noch derselbe Fehler.", "Nous n'avons jamais eu le temps.",
     "Toujours la même erreur.", "Nunca lo he visto así.", "Nunca tinhas visto isto.", "Non ha mai funzionato.",
     "Никогда такого не было.", "Zawsze ten sam błąd.", "Bundan sonra testleri çalıştır.", "以后再说吧。",
     "これからビルドを直します。", "앞으로 이동하는 버튼이 안 눌려요.", "Der Teig geht immer auf beim Backen.",
     "Warum klappt der Ofen nie mit den neuen Blechen", "Kann nie fertig werden.", "Ne passe jamais les tests.",
     "Toujours devoir tout relancer", "Nunca antes había fallado.", "Nunca las encuentra.", "Od teraz testy padają.", "A partir de ahora no compila nada.", "从现在开始一直报错", "Nunca saber qué falla.", "Mai avere pace.", "Siempre tener que esperar.",
     "Sempre aspettare il forno.", "Altijd problemen met de oven.", "Всегда старый хлеб.", "С этого момента хлеб подгорает.",
     "Zawsze tutaj się przypala.", "Od tej pory piec się psuje.", "Bundan sonra her test patlıyor.", "今後はどうなりますか",
     "必ず焦げるので直してください。", "항상 실패하는데 고쳐 주세요.", "今后怎么办", "以后都要重启吗？"],
)  # fmt: skip
def test_what_never_was_is_no_rule(text: str) -> None:
    """The same words tell what was, and what always goes wrong."""
    assert plain_kind(text, is_users=True) != PREFERENCE


@pytest.mark.parametrize(
    "text",
    ["the oven never reached 230 after the swap, it stops at 215 or so", "it never baked through on that old stone",
     "i always mix up both ovens, which one is left only", "the timer always fails on the second run, first one is fine"],
)  # fmt: skip
def test_never_and_always_describe_as_well(text: str) -> None:
    """With a verb that tells what something does or did, or of what I do, they report."""
    assert not rules.binds(text)


def test_the_title_of_an_idea_counts_for_nothing() -> None:
    """It is not the user's sentence."""
    said = "loaves are weighed in grams, not ounces"
    assert rules.likelihood(f"[Never, ever, always] {said}") == rules.likelihood(said)


def test_weights_are_of_what_is_told() -> None:
    """Each that is no word names a feature that some sentence has."""
    weights = json.loads(Path(rules.WEIGHTS_FILE).read_text(encoding="utf-8"))["weights"]
    words = ("word ", "first ", "last ")
    some = "From now on: don't always `x.y_z` 3 things?! I'd ask before each new table; we never, only maybe, keep it everywhere until today."
    told = rules.features(some)
    assert {name.split()[0] for name in weights if name and not name.startswith(words)} >= {
        name.split()[0] for name in told if name and not name.startswith(words)
    } - {"letters"}
    assert weights[rules.BIAS] < 0


def test_nothing_said_is_no_rule() -> None:
    """Nor is a lone sign."""
    assert not rules.binds("") and not rules.binds("?")
