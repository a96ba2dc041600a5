r"""Labels with mathematics as plain characters, for pages and tables.

>>> plain_text(r"$\mu_j \propto j^{-\alpha}$, first")
'μ_j ∝ j^−α, first'
>>> plain_text("sign of φ$_{12}$")
'sign of φ₁₂'
"""

import re

_GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon eta theta kappa lambda mu nu xi pi rho sigma "
        "tau phi chi psi omega Delta Theta Lambda Phi Psi Omega Sigma".split(),
        "αβγδεηθκλμνξπρστφχψωΔΘΛΦΨΩΣ",
        strict=True,
    )
)
_COMMANDS = {
    **_GREEK,
    **{"propto": "∝", "times": "×", "cdot": "·", "pm": "±", "approx": "≈"},
    **{"leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "infty": "∞", "to": "→"},
    **{"Vert": "‖", "|": "‖", "sqrt": "√", "ell": "ℓ", "nabla": "∇", "sum": "Σ"},
    **{"top": "ᵀ", "langle": "⟨", "rangle": "⟩", "neq": "≠", "sim": "∼", "log": "log"},
    **{",": " ", " ": " ", ";": " ", "!": "", "%": "%", "_": "_", "$": "$"},
}
_SMALL = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_HIGH = str.maketrans("0123456789+-−=()ᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵀ")
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|(.))")


def plain_text(text: str) -> str:
    """Turn matplotlib's mathematics into characters.

    Args:
        text: With or without parts between dollar signs.

    Returns:
        The text without dollar signs, braces and commands.
    """
    parts = re.split(r"(?<!\\)\$", text)
    if len(parts) < 3:
        return text.replace(r"\$", "$")
    return "".join(
        _mathematics(part) if at % 2 else part for at, part in enumerate(parts)
    )


def _mathematics(text: str) -> str:
    text = text.replace("-", "−")
    text = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], ""), text)
    text = _SCRIPT.sub(_script, text).replace("{", "").replace("}", "")
    return re.sub(" +", " ", text)


def _script(found: re.Match[str]) -> str:
    inside = found[2] if found[2] is not None else found[3]
    table = _SMALL if found[1] == "_" else _HIGH
    if all(ord(character) in table for character in inside):
        return inside.translate(table)
    return f"{found[1]}{inside}"
