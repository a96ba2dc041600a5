r"""A table for papers and notebooks: LaTeX and pandas.

>>> from tangentlab.report.tables import Column, Row, Table
>>> columns = (Column("task", align="left"), Column("hits", ".0%"))
>>> table = Table(columns, (Row(("a_b", 0.5)),))
>>> print(to_latex(table))
\begin{tabular}{lr}
\toprule
task & hits \\
\midrule
a\_b & 50\% \\
\bottomrule
\end{tabular}
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .tables import Table, legend, shown_cells

if TYPE_CHECKING:
    import pandas

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\textbar{}",
}
_SIGNS = {
    "−": "-",
    "–": "--",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "√": r"\surd",
    "∞": r"\infty",
    "∇": r"\nabla",
    "≤": r"\leq",
    "≥": r"\geq",
    "∈": r"\in",
    "∝": r"\propto",
    "→": r"\to",
    "≈": r"\approx",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "‖": r"\Vert",
    "ᵀ": r"{}^{\top}",
    "′": r"{}'",
    "✓": r"\checkmark",
    "✗": r"\times",
    "†": r"\dagger",
    "‡": r"\ddagger",
    "½": r"\tfrac{1}{2}",
    "⁻": "{}^{-}",
    "⁺": "{}^{+}",
    "ᵐ": "{}^{m}",
    "₋": "{}_{-}",
    "₊": "{}_{+}",
    "≠": r"\neq",
    "∼": r"\sim",
    "ℓ": r"\ell",
    "…": r"\ldots",
    "•": r"\bullet",
    "§": r"\S",
    "¶": r"\P",
}
_PACKAGES = "array, amsmath, amssymb, booktabs and longtable"
_GREEK = dict(
    zip(
        "αβγδεηθκλμνξπρστφχψωΔΘΛΦΨΩΣ",
        "alpha beta gamma delta varepsilon eta theta kappa lambda mu nu xi pi rho "
        "sigma tau varphi chi psi omega Delta Theta Lambda Phi Psi Omega Sigma".split(),
        strict=True,
    )
)


def to_latex(table: Table) -> str:
    r"""A table for a paper, with `booktabs` rules.

    Args:
        table: The table.

    Returns:
        A `tabular`; cells as on a page, special characters escaped, mathematical signs
        as commands. Marks of flags are explained in comments below it.
    """
    sides = "".join(column.align[0] for column in table.columns)
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        _latex_row([column.title for column in table.columns]),
        r"\midrule",
        *_latex_rows(table),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, *_comments(table)])


def to_longtable(table: Table, widths: Sequence[float]) -> str:
    r"""A table of sentences for a paper, on as many pages as it takes.

    Args:
        table: The table.
        widths: Of each column, as a share of the width of a line.

    Returns:
        A `longtable` in small print; cells as those of `to_latex`, broken into lines.
        A comment above it names the packages that it needs.
    """
    columns = [
        rf">{{\ragged{'right' if column.align == 'left' else 'left'}\arraybackslash}}"
        rf"p{{\dimexpr{width}\linewidth-2\tabcolsep\relax}}%"
        for column, width in zip(table.columns, widths, strict=True)
    ]
    lines = [
        f"% Needs the packages {_PACKAGES}.",
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\begin{longtable}{%",
        *columns,
        "}",
        r"\toprule",
        _latex_row([column.title for column in table.columns]),
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        "\n\\addlinespace\n".join(_latex_rows(table)),
        r"\end{longtable}",
        r"\endgroup",
    ]
    return "\n".join([*lines, *_comments(table)])


def latex_text(text: str) -> str:
    r"""Text for LaTeX.

    Args:
        text: Any text.

    Returns:
        The text with special characters escaped and mathematical signs as commands,
        such as `\ensuremath{\rho}`.
    """
    return "".join(map(_latex_character, text))


def to_pandas(table: Table) -> "pandas.DataFrame":
    """The values, unrounded, as a data frame.

    Args:
        table: The table.

    Returns:
        A column for each of the table's, and one of flags where some row has one.

    Raises:
        ImportError: If pandas is not installed; says how to get it.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "A data frame needs pandas, which is not installed: "
            "pip install 'tangentlab[pandas]'. `to_csv` needs nothing."
        ) from error
    titles = [column.title for column in table.columns]
    frame = pandas.DataFrame([row.cells for row in table.rows], columns=titles)
    if legend(table):
        frame["flag"] = [row.flag for row in table.rows]
    return frame


def _latex_rows(table: Table) -> list[str]:
    marks, rows = legend(table), []
    for row in table.rows:
        cells = shown_cells(table, row)
        cells[0] += f" {marks[row.flag]}" if row.flag else ""
        rows.append(_latex_row(cells))
    return rows


def _comments(table: Table) -> list[str]:
    """The caption, and what marks of flags mean."""
    marks = legend(table)
    notes = [table.caption, *(f"{mark} {flag}" for flag, mark in marks.items())]
    return [f"% {' '.join(note.split())}" for note in notes if note]


def _latex_row(cells: list[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def _latex_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    sign = _SIGNS.get(character)
    if character in _GREEK:
        sign = f"\\{_GREEK[character]}"
    elif sign is None and character in "⁰¹²³⁴⁵⁶⁷⁸⁹":
        sign = f"{{}}^{{{'⁰¹²³⁴⁵⁶⁷⁸⁹'.index(character)}}}"
    elif sign is None and character in "₀₁₂₃₄₅₆₇₈₉":
        sign = f"{{}}_{{{'₀₁₂₃₄₅₆₇₈₉'.index(character)}}}"
    if sign is None:
        return character
    return sign if sign == "--" else rf"\ensuremath{{{sign}}}"
