import pytest

from tests.browser import require_browser


def test_a_missing_browser_fails_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.delenv("TANGENTLAB_NO_BROWSER", raising=False)
    message = "not installed: chromium. Install them, .*`apt install chromium"
    with pytest.raises(pytest.fail.Exception, match=message):
        require_browser(["chromium"])


def test_the_browser_can_be_declined(monkeypatch):
    monkeypatch.setenv("TANGENTLAB_NO_BROWSER", "1")
    message = "not installed: chromium, and TANGENTLAB_NO_BROWSER is set"
    with pytest.raises(pytest.skip.Exception, match=message):
        require_browser(["chromium"])


def test_nothing_is_said_where_all_is_installed():
    require_browser([])
