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


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gpu", "Options are written OPTION=VALUE, got 'gpu'"),
        ("size=gpu", "Unknown option 'size'. Known: claim, output, scale"),
        ("scale=huge", "Unknown scale 'huge'. Known: gpu, laptop, smoke"),
    ],
)
def test_words_that_mean_nothing_are_refused(plan, no_type_checks, word, message):
    with pytest.raises(ValueError, match=message):
        main([word])
