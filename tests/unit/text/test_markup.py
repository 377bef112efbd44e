"""Marks of Markdown go, and code stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text.markup import without_markup


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**Bold**, *it*, ***both***, ~~gone~~", "Bold, it, both, gone"),
        ("**Note:** the **`x`** (**here**)", "Note: the `x` (here)"),
        ("**bold and *it***", "bold and it"),
        ('**"quoted"** and "*quoted*"', '"quoted" and "quoted"'),
        ("__Important__: **use `a*b` now**", "Important: use `a*b` now"),
        ("\u8fd9\u662f**\u91cd\u8981**\u7684", "\u8fd9\u662f\u91cd\u8981\u7684"),
        ("[the **pool**](https://x/y_z), **[foo](http://x)**", "the pool, foo"),
        ("![a picture](x.png) of it", "a picture of it"),
        ("**Serve it from public/** today", "Serve it from public/ today"),
        ("**Yes**/**No** flags, **on**/off", "Yes/No flags, on/off"),
        ("**never**/**always** and *Never*/*always*", "never/always and Never/always"),
        ("***both***/***all***, __Yes__/__No__", "both/all, Yes/No"),
        ("**a****b** and **c**", "ab and c"),
        ("Never commit **.env** files.", "Never commit .env files."),
        ("Edit **/etc/hosts** only as root.", "Edit /etc/hosts only as root."),
        ("**/src** is off limits", "/src is off limits"),
        ("**Warning:**never do **this**", "Warning:never do this"),
    ],
)
def test_emphasis_and_links_go(text: str, wanted: str) -> None:
    """Their words stay."""
    assert without_markup(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Never run `rm -rf build/*`, use `make *`.",
        "We lint only `src/**/*.ts`, never `*.gen.ts`.",
        "It takes `*args` and `**kwargs`; ``a ` *b*`` and `[a](b)` are code.",
        "`__init__.py` and `__init__.py`",
        "src/**/*.ts, lib/**/*.ts, rm *.o *.a, **/dist/** and **/node_modules/**",
        "__pycache__, __init__.py, __FILE__, __dirname and V46__notes.sql",
        "int *p and char** q; 2**8, 4**3, a*b*c, 5 * 3 * 2",
        'count(*) and sum(*), "*" and "*", */5 * * * *',
        "def f(*, a, **kw): # *args",
        'grep ".*error.*" x* and *test*.py',
        "*not closed and **not closed either",
        "src/**/a.ts, src/**/*.test.ts, **/*.py, **/*.{ts,tsx} and **/.env, **/.git/**, .github/**",
        "*test*/*.py, *a*/*b, src/*/*.ts and */*.ts, **foo/**/bar, __tests__/__mocks__",
        "f(**a, **b), {**a, **b}, dict(**a,**b), a ** b, a**b**c, 2****3, **kwargs",
        "fill in ____ and ____ ****",
    ],
)
def test_code_stays(text: str) -> None:
    """Between back quotes, and without them where a mark stands at no word."""
    assert without_markup(text) == text


@given(st.text("ab *_~`[]()!./\n", max_size=80))
def test_nothing_but_marks_goes(text: str) -> None:
    """Words stay in their order."""
    left = iter(text)
    assert all(sign in left for sign in without_markup(text))
