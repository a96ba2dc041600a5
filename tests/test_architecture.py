"""Data flows one way: a layer may import only itself and earlier layers."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "tangentlab"
STAGES = (
    "data models cluster kernels infinite spectra tasks training predict analysis "
    "theory report"
).split()
LAYERS = [*STAGES, "store", "experiments", "claims", "cli"]
ABOVE = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
FILES = sorted(set(PACKAGE.rglob("*.py")) - ABOVE)


def imported_layers(source: str, folders: tuple[str, ...]) -> set[str]:
    """Layers of the package that a module in `folders` (below the package) imports."""
    package = [PACKAGE.name, *folders]
    targets = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            targets += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            stem = ".".join([*base, *filter(None, [node.module])])
            targets += [f"{stem}.{alias.name}" for alias in node.names]
    parts = [target.split(".") for target in targets]
    return {p[1] for p in parts if p[0] == PACKAGE.name and p[1:]} & set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_layer_imports_only_earlier_layers(path):
    inside = path.relative_to(PACKAGE).parts
    layer = inside[0].removesuffix(".py")
    # Private modules such as `_checks.py` belong below every layer.
    allowed = LAYERS[: LAYERS.index(layer) + 1] if layer in LAYERS else []
    assert imported_layers(path.read_text(), inside[:-1]) <= set(allowed)


@pytest.mark.parametrize(
    "line",
    [
        "from ..training import loop",
        "from .. import training",
        "import tangentlab.training.loop",
        "from tangentlab.training.loop import train",
    ],
)
def test_every_form_of_a_backward_import_is_seen(line):
    assert imported_layers(line, ("kernels",)) == {"training"}


def test_every_room_is_a_known_layer_or_private():
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
    strangers = {r for r in rooms if not r.startswith("_")} - set(LAYERS)
    assert not strangers


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name
)
def test_no_public_name_hides_a_module(folder):
    """A function `gram` beside `gram.py` would make `kernels.gram` ambiguous."""
    init = folder / "__init__.py"
    tree = ast.parse(init.read_text()) if init.exists() else ast.Module([], [])
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {
        alias.asname or alias.name
        for node in imported
        if node.module  # `from . import data` means the module itself
        for alias in node.names
    }
    modules = {path.stem for path in folder.iterdir() if path.suffix in (".py", "")}
    assert not names & modules
