"""A command line inside the test's own process."""

import pytest

from paritylab.cli import main


def run(capsys, *arguments):
    """Exit code, standard output and standard error of `paritylab` with these arguments."""
    with pytest.raises(SystemExit) as stopped:
        main([str(each) for each in arguments])
    return stopped.value.code, *capsys.readouterr()
