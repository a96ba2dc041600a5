from dataclasses import replace

import pytest

from tangentlab.experiments.base import draw, perform
from tests.toy_experiment import EXPERIMENTS, Walk


def test_a_report_can_be_rebuilt_from_the_folder_alone(tmp_path):
    outcome = perform(EXPERIMENTS, "walk", Walk(), tmp_path)
    page, (figure,), table, latex = outcome.files
    assert table.read_text().startswith("steps,end\n4,")
    assert "steps & end \\\\\n\\midrule\n4 & " in latex.read_text()
    before = page.read_bytes(), figure.read_bytes()
    assert figure.name == "walks.png"
    page.unlink()
    figure.write_text("damaged")
    moved = outcome.run.path.rename(tmp_path / "moved")
    again = draw(EXPERIMENTS, moved).files
    assert (again.page.read_bytes(), again.figures[0].read_bytes()) == before
    assert not [path for path in moved.rglob("*") if path.name.endswith(".partial")]


def test_a_failed_drawing_says_that_the_run_is_finished(tmp_path):
    def fail(run):
        raise ValueError("no ink")

    broken = {"walk": EXPERIMENTS["walk"]._replace(report=fail)}
    with pytest.raises(ValueError, match="no ink") as caught:
        perform(broken, "walk", Walk(), tmp_path)
    (path,) = tmp_path.iterdir()
    assert caught.value.__notes__ == [
        f"The run itself is finished, in {path}; draw its report with "
        f"`tangentlab report {path}`"
    ]
    assert draw(EXPERIMENTS, path).files.page.is_file()


@pytest.mark.parametrize("kind", [KeyError, IndexError])
def test_numbers_missing_from_a_damaged_run_name_its_folder(tmp_path, kind):
    def fail(run):
        raise kind("loss")

    broken = {"walk": EXPERIMENTS["walk"]._replace(report=fail)}
    path = perform(EXPERIMENTS, "walk", Walk(), tmp_path).run.path
    message = rf"report of {path} cannot be drawn.*{kind.__name__}.'loss'"
    with pytest.raises(ValueError, match=message):
        draw(broken, path)
    with pytest.raises(kind):  # just computed, so it is no damage
        perform(broken, "walk", Walk(), tmp_path)


def test_figures_need_different_names(tmp_path):
    def twice(run):
        report = EXPERIMENTS["walk"].report(run)
        return replace(report, sections=report.sections * 2)

    broken = {"walk": EXPERIMENTS["walk"]._replace(report=twice)}
    with pytest.raises(ValueError, match=r"several named \['walks'\]"):
        perform(broken, "walk", Walk(), tmp_path)
