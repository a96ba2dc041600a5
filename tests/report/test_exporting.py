import builtins

import numpy as np
import pytest

from tangentlab.report.exporting import (
    latex_text,
    to_latex,
    to_longtable,
    to_pandas,
)
from tangentlab.report.tables import Column, Row, Table

TABLE = Table(
    (Column("task_1", align="left"), Column("accuracy", ".1%"), Column("n", "d")),
    (Row(("φ₁ & more", 0.5, 3), flag="100 % one class"), Row(("b", None, 4))),
    "What was learned.",
)


def test_latex_has_rules_sides_and_escaped_cells():
    assert to_latex(TABLE).split("\n") == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"task\_1 & accuracy & n \\",
        r"\midrule",
        r"\ensuremath{\varphi}\ensuremath{{}_{1}} \& more * & 50.0\% & 3 \\",
        r"b & -- & 4 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% What was learned.",
        "% * 100 % one class",
    ]


def test_a_long_table_breaks_cells_into_lines_and_repeats_its_head():
    column = r"arraybackslash}p{\dimexpr%s\linewidth-2\tabcolsep\relax}%%"
    assert to_longtable(TABLE, (0.5, 0.3, 0.2)).split("\n") == [
        "% Needs the packages array, amsmath, amssymb, booktabs and longtable.",
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\begin{longtable}{%",
        r">{\raggedright\%s" % (column % 0.5),
        r">{\raggedleft\%s" % (column % 0.3),
        r">{\raggedleft\%s" % (column % 0.2),
        "}",
        r"\toprule",
        r"task\_1 & accuracy & n \\",
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        r"\ensuremath{\varphi}\ensuremath{{}_{1}} \& more * & 50.0\% & 3 \\",
        r"\addlinespace",
        r"b & -- & 4 \\",
        r"\end{longtable}",
        r"\endgroup",
        "% What was learned.",
        "% * 100 % one class",
    ]
    with pytest.raises(ValueError, match="zip"):
        to_longtable(TABLE, (0.5, 0.5))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b^c {d}", r"a\_b\textasciicircum{}c \{d\}"),
        ("50 % & $5 #1", r"50 \% \& \$5 \#1"),
        ("\\x~y", r"\textbackslash{}x\textasciitilde{}y"),
        ("a < b", r"a \ensuremath{<} b"),
        ("ρ ≤ −0.8", r"\ensuremath{\rho} \ensuremath{\leq} \ensuremath{-}0.8"),
        ("n²", r"n\ensuremath{{}^{2}}"),
        (
            "2ᵐ ≠ ℓ₋ …",
            r"2\ensuremath{{}^{m}} \ensuremath{\neq} \ensuremath{\ell}"
            r"\ensuremath{{}_{-}} \ensuremath{\ldots}",
        ),
    ],
)
def test_special_characters_are_escaped(text, latex):
    assert latex_text(text) == latex


def test_every_sign_of_the_catalog_is_known_to_latex():
    from tangentlab.claims import CATALOG

    for entry in CATALOG.values():
        for text in (entry.statement, entry.source, entry.published, entry.criterion):
            assert latex_text(text).isascii(), text


def test_a_data_frame_holds_unrounded_values_and_flags():
    pytest.importorskip("pandas")
    frame = to_pandas(TABLE)
    assert list(frame.columns) == ["task_1", "accuracy", "n", "flag"]
    np.testing.assert_equal(frame["accuracy"].to_numpy(), [0.5, np.nan])
    assert list(frame["flag"]) == ["100 % one class", ""]


def test_without_pandas_it_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        ImportError, match=r"needs pandas.*pip install 'tangentlab\[pan"
    ):
        to_pandas(TABLE)
