"""What several tests need."""

import pytest


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pytest_configure(config):
    """Numbers that the classifier cuts are announced; a test of its own checks that."""
    config.addinivalue_line("filterwarnings", "ignore:.*cut at the median:UserWarning")
