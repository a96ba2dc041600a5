import pytest

from tangentlab.claims.__main__ import main
from tests.claims.toy import toss


def test_it_verifies_and_prints_the_verdicts(plan, tmp_path, capsys):
    plan(toss("D1"), toss("D2", trouble="run"))
    folder = tmp_path / "here"
    assert main(["claim=D1", f"output={folder}"]) == 0
    output = capsys.readouterr().out
    assert "[1/1] toss, MLP on coins: D1 confirmed" in output
    assert "✓ confirmed" in output and str(folder / "report.html") in output
    assert main([f"output={folder}"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_it_computes_first_and_judges_later(plan, tmp_path, capsys):
    plan(toss("D1"), toss("D1", model="lenet"))
    output = f"output={tmp_path / 'here'}"
    assert main([output, "draw=false", "only=mlp", "minutes=5"]) == 0
    assert "[1/1] toss, MLP on coins: computed (" in capsys.readouterr().out
    assert not (tmp_path / "here" / "report.html").exists()
    assert main([output, "minutes=0", f"numbers={tmp_path / 'numbers'}"]) == 1
    shown = capsys.readouterr().out
    assert "LeNet on coins: not begun, the time given was over" in shown
    assert str(tmp_path / "numbers" / "toss-mlp-on-coins.jsonl") in shown


def test_a_claim_that_this_scale_does_not_measure_is_shown_and_ends_with_1(
    plan, tmp_path, capsys
):
    plan(toss("D1"))
    assert main(["claim=D7", f"output={tmp_path / 'here'}"]) == 1
    output = capsys.readouterr().out
    assert "D7 " in output and "not measured at this scale, but at laptop" in output
    assert "D1 " not in output


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gpu", "Options are written OPTION=VALUE, got 'gpu'"),
        (
            "size=gpu",
            "Unknown option 'size'. Known: claim, cluster, draw, kept, minu",
        ),
        ("draw=no", "Unknown draw 'no'. Known: false, true"),
        ("scale=huge", "Unknown scale 'huge'. Known: gpu, laptop, smoke"),
    ],
)
def test_words_that_mean_nothing_are_refused(plan, no_type_checks, word, message):
    with pytest.raises(ValueError, match=message):
        main([word])
