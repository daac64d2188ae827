"""What several tests need."""

import pytest


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
